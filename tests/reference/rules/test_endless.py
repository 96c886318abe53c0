"""Passes without end: what each rank gets of them."""

from itertools import islice

import pytest

from reference.rules.endless import EndlessShard
from reference.rules.shuffle import permutation


@pytest.mark.parametrize(("samples", "ranks"), [(5, 1), (5, 2), (2, 3), (6, 3), (1, 4)])
def test_ranks_share_one_stream(samples: int, ranks: int) -> None:
    """Dealt out in turn, the passes come out again, whatever divides."""
    mine = [list(islice(EndlessShard(samples, ranks, rank, 7), 3 * samples)) for rank in range(ranks)]
    stream = [index for indices in zip(*mine, strict=True) for index in indices]
    passes = [stream[at : at + samples] for at in range(0, len(stream), samples)]
    assert [permutation(samples, 7, number).tolist() for number in range(len(passes))] == passes


def test_without_a_seed_each_pass_is_in_order() -> None:
    """Nothing is shuffled."""
    assert [0, 1, 2, 0, 1, 2, 0] == list(islice(EndlessShard(3, 1, 0), 7))


def test_of_nothing_there_is_no_pass() -> None:
    """An empty dataset gives an empty epoch, and no wait."""
    assert [] == list(EndlessShard(0, 1, 0))
