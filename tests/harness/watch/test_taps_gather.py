"""What the ranks of an evaluation gather is noted, though the epoch is over."""

from pathlib import Path

from conformance.audit.verdict import audit_folder
from tests.harness.watch.jobs import Jobs

GATHERS = Path(__file__).parent / "gathers.py"


def test_padding_that_a_job_cuts_off_is_told(started: Jobs, tmp_path: Path) -> None:
    """torch's sampler gives one of five samples twice, and the job cuts it off."""
    assert [0, 0] == started.run(GATHERS, tmp_path / "record", 2)
    verdict = audit_folder(tmp_path / "record")
    (note,) = [note for group in verdict.groups for note in group.notes if note.key == "padding"]
    assert ((), True) == (verdict.findings, note.sentence.endswith("unless what was gathered is cut"))
