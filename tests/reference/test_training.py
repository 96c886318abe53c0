"""The reference's own training loop, stopped and resumed."""

from typing import Any

import pytest
import torch

from reference.training import train

BATCHES, EPOCHS, ACCUMULATION = 5, 2, 2


class Ordered(list[Any]):
    """A loader without an order of its own."""

    def set_epoch(self, epoch: int) -> None:
        """Nothing hangs on it."""


def _job(stop_after: int | None = None, state: Any = None) -> tuple[Any, list[float]]:
    """What a call returns, and the weights that it leaves."""
    module = torch.nn.Linear(1, 1)
    torch.nn.init.zeros_(module.weight)
    torch.nn.init.zeros_(module.bias)
    optimizer = torch.optim.SGD(module.parameters(), 0.1, momentum=0.5)
    batches = Ordered((torch.full((2, 1), float(at)), torch.ones(2, 1)) for at in range(BATCHES))
    rest = dict(accumulation=ACCUMULATION, epochs=EPOCHS, stop_after=stop_after, state=state)
    state = train(batches, module, optimizer, torch.nn.functional.mse_loss, **rest)
    return state, [each.item() for each in module.parameters()]


@pytest.mark.parametrize("stop_after", range(1, BATCHES * EPOCHS + 1))
def test_a_stop_changes_nothing(stop_after: int) -> None:
    """Wherever it comes, the weights at the end are those of a job that was not stopped."""
    _, whole = _job()
    state, _ = _job(stop_after)
    _, resumed = _job(state=state)
    assert whole == resumed
