"""torchdata's StatefulDataLoader: a job that goes on from its state is right, in one record or in two."""

from pathlib import Path

import pytest

from conformance.audit.text import shown
from tests.harness.watch.jobs import Jobs, found, judged

pytest.importorskip("torchdata.stateful_dataloader", reason="torchdata is not installed")
RESUMES = Path(__file__).parent / "resumes.py"


def notes(folder: Path) -> set[str]:
    """The kinds of what is told, of a record that has no finding."""
    verdict = judged(folder)
    assert [] == found(verdict), shown(verdict)
    return {note.key for group in verdict.groups for note in group.notes}


@pytest.mark.deep
@pytest.mark.parametrize(("steps", "workers"), [(2, 0), (2, 2), (6, 0)], ids=["within", "with-workers", "at-the-end"])
def test_a_job_that_goes_on_from_its_loaders_state_is_not_accused(
    steps: int, workers: int, started: Jobs, tmp_path: Path
) -> None:
    """In a folder of its own too little is seen; in the folder of the first start nothing was skipped."""
    words = [str(tmp_path / "state"), str(steps), str(workers)]
    for folder in ("first", "second"):
        assert [0] == started.run(RESUMES, tmp_path / "both" / folder, words=words)
    assert "resumed" in notes(tmp_path / "both" / "second")
    assert "resumed" not in notes(tmp_path / "both")
