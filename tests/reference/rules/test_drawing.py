"""Samples that are drawn with replacement: how often each comes, and what the ranks draw together."""

import numpy as np
import pytest

from reference.rules.drawing import DrawnShard, draws


def test_a_sample_comes_as_often_as_its_weight_says() -> None:
    """Of 40,000 draws by weights 1, 0, 2, 1, a quarter, none, half and a quarter, to one in a hundred."""
    drawn = np.concatenate([draws(4, 7, epoch, [1, 0, 2, 1]) for epoch in range(10_000)])
    counts = np.bincount(drawn, minlength=4) / 40_000
    assert 0 == counts[1]
    assert np.allclose(counts, [0.25, 0, 0.5, 0.25], atol=0.01)


def test_without_weights_all_are_alike() -> None:
    """Weights of one each draw the same samples as none."""
    assert draws(9, 1, 2).tolist() == draws(9, 1, 2, [3.0] * 9).tolist()


def test_ranks_share_out_one_list() -> None:
    """What two ranks draw is, one behind the other, what one rank draws; and another list in each epoch."""
    one, *two = (DrawnShard(7, 1, ranks, rank, False, 5) for ranks, rank in ((1, 0), (2, 0), (2, 1)))
    epochs = [[list(one), [*two[0], *two[1]]] for _ in range(2)]
    assert epochs[0][0] == epochs[0][1] != epochs[1][0] == epochs[1][1]


@pytest.mark.parametrize("weights", [[1.0], [1, -1, 1], [0, 0, 0], [1, float("nan"), 1]])
def test_weights_that_can_not_be_are_refused(weights: list[float]) -> None:
    """The sentence says what they must be."""
    with pytest.raises(ValueError, match="weights must be 3 numbers from 0 on"):
        draws(3, 0, 0, weights)


def test_nothing_is_drawn_of_nothing() -> None:
    """An empty dataset gives an empty epoch."""
    assert [] == draws(0, 0, 0).tolist()
