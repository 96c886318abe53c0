"""What a person is told to do about what was found in a job."""

import re
from pathlib import Path

import pytest

from conformance.audit.text import shown
from conformance.cli import main
from conformance.report.ways_out import ways_out
from tests.harness.audit.jobs import audited, job, whole
from tests.harness.audit.test_samples import order

AUDIT = Path(__file__).resolve().parents[2] / "conformance" / "audit"


def test_whatever_the_audit_finds_has_a_way_out() -> None:
    """Each id that a judge gives, be it a clause or not."""
    source = "\n".join(path.read_text("utf-8") for path in AUDIT.glob("*.py"))
    given = set(re.findall(r'"([A-Z]+-\d+|SPLIT|REPLICA)"', source))
    assert len(given) > 10
    assert given == set(ways_out())


@pytest.mark.parametrize(
    ("clause", "named"),
    [
        ("WORK-3", "torch.utils.data.get_worker_info()"),
        ("ORDER-6", "sampler.set_epoch(epoch)"),
        ("PART-1", "DistributedSampler(dataset)"),
        ("split", "Split the indices once"),
    ],
)
def test_explain_names_what_helps(clause: str, named: str, capsys: pytest.CaptureFixture[str]) -> None:
    """By its name in torch."""
    assert 0 == main(["explain", clause])
    assert named in " ".join(capsys.readouterr().out.split())


def test_several_clauses_are_explained_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    """In the order in which they are asked for."""
    assert 0 == main(["explain", "WORK-3", "ORDER-6"])
    assert re.search(r"^WORK-3 .*^ORDER-6 ", capsys.readouterr().out, re.M | re.S)


def test_the_last_line_names_all_that_was_found(tmp_path: Path) -> None:
    """Worst first, each once, and ready to be typed."""
    epochs = [whole([order(20)]), whole([order(20)])]
    last = shown(audited(job(tmp_path, [epochs], length=30))).splitlines()[-1]
    assert last == "1 loader audited, 2 findings.   what to do: loaderspec explain PART-2 ORDER-6"
