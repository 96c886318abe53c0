"""Names of epochs: after a restart they have the job's numbers, where these are known."""

from collections.abc import Sequence

import pytest

from conformance.audit.summary import Epoch, Group, RankSeen
from conformance.audit.words import epoch_name


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ([1, 2], ["epoch 1 after restart 1", "epoch 2 after restart 1"]),
        ([2], ["epoch 2 after restart 1"]),
        ([0, 2], ["epoch 0 after restart 1", "epoch 2 after restart 1"]),
        ([0, 0], ["epoch 0 after restart 1", "epoch 1 after restart 1"]),
        ([None, None], ["epoch 0 after restart 1", "epoch 1 after restart 1"]),
        ([3, None], ["epoch 0 after restart 1", "epoch 1 after restart 1"]),
    ],
)
def test_an_epoch_after_a_restart_has_the_jobs_number(numbers: Sequence[int | None], expected: list[str]) -> None:
    """Where the sampler says numbers that grow; else it is counted from the restart."""
    epochs = {(1, at): Epoch({0: RankSeen({"set_epoch": number})}) for at, number in enumerate(numbers)}
    group = Group(epochs={(0, 0): Epoch({0: RankSeen()}), **epochs})
    assert expected == [epoch_name(group, key) for key in epochs]
    assert "epoch 0" == epoch_name(group, (0, 0))
