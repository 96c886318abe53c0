"""accelerate's dispatcher: rank 0 reads, and each rank has what was cut for it."""

from pathlib import Path

import pytest

from conformance.audit.gather import gather
from conformance.audit.text import shown
from conformance.audit.verdict import judged
from tests.harness.watch.jobs import Jobs

pytest.importorskip("accelerate", reason="accelerate is not installed")
DISPATCHES = Path(__file__).parent / "dispatches.py"


def test_what_the_dispatcher_cuts_out_is_what_a_rank_gets(started: Jobs, tmp_path: Path) -> None:
    """Each of 16 samples once over both ranks, in batches of 2; and no finding, though the second epoch is left.

    The length of what rank 0 reads is none of the ranks'.
    """
    assert [0, 0] == started.run(DISPATCHES, tmp_path / "record", 2)
    summary = gather(tmp_path / "record")
    group, other = summary.groups.values()
    first, second = (group.epochs[0, number] for number in (0, 1))
    assert {0: (4, 8), 1: (4, 8)} == {rank: (seen.steps, seen.rows) for rank, seen in first.ranks.items()}
    assert {1: 16} == first.histogram()
    assert [2, 2] == [seen.steps for seen in second.ranks.values()]
    assert {0: 4, 1: 4} == {rank: seen.steps for rank, seen in other.epochs[0, 0].ranks.items()}
    assert () == judged(summary).findings, shown(judged(summary))
