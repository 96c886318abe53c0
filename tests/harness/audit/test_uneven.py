"""Ranks with other numbers of steps: those that stop together are told apart from those of which one goes on alone."""

from pathlib import Path

import pytest

from tests.harness.audit.jobs import audited, found, job, told, whole


@pytest.mark.parametrize(
    ("ends", "accused"),
    [
        pytest.param([(3, "whole"), (4, "left")], False, id="fetched-one-more"),
        pytest.param([(3, "whole"), (3, "left"), (4, "left")], False, id="three-ranks"),
        pytest.param([(3, "whole"), (5, "left")], True, id="went-further"),
        pytest.param([(3, "whole"), (4, "crash: RuntimeError: timed out")], True, id="waited"),
        pytest.param([(3, "whole"), (4, "left"), (4, "whole")], True, id="another-one-went-on"),
    ],
)
def test_ranks_that_stop_together_are_not_accused(tmp_path: Path, ends: list[tuple[int, str]], accused: bool) -> None:
    """A rank that was left with the first step that another one lacks had to fetch it in order to know."""
    ranks = [[whole([[rank * 10 + step] for step in range(steps)], how=how)] for rank, (steps, how) in enumerate(ends)]
    verdict = audited(job(tmp_path, ranks, kind="iterable"))
    assert [("COUNT-5", "other-steps")] * accused == found(verdict)
    assert accused == ("stopped-together" not in told(verdict))


@pytest.mark.parametrize("joined", [[True, True], [True, None]], ids=["all", "one"])
def test_ranks_under_join_are_not_accused(tmp_path: Path, joined: list[bool | None]) -> None:
    """Join lets a rank that is done answer the others, if all of them are in it."""
    ranks = [[whole([[rank * 10 + step] for step in range(3 + rank)], joined=joined[rank])] for rank in range(2)]
    verdict = audited(job(tmp_path, ranks, kind="iterable"))
    assert [("COUNT-5", "other-steps")] * (not all(joined)) == found(verdict)
    assert all(joined) == ("joined" in told(verdict))
