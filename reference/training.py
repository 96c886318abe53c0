"""A training loop with gradient accumulation, around any loader: what each step is made of, and where an epoch ends."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import torch
from torch import Tensor


def train(
    loader: Any,
    module: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    loss: Callable[[Any, Any], Tensor],
    *,
    accumulation: int,
    epochs: int,
    validation: Iterable[Any] | None = None,
    stop_after: int | None = None,
    state: Any = None,
) -> dict[str, Any]:
    """Train for some epochs; `loader` gives micro-batches (x, target), and has `set_epoch`.

    Returns what resumes it as `state`, when all is done, or at the end of the step in which it was trained on
    `stop_after` micro-batches since the job began.
    """
    if state is not None:
        module.load_state_dict(state["module"])
        optimizer.load_state_dict(state["optimizer"])
    first, done, trained = state["at"] if state is not None else (0, 0, 0)
    for epoch in range(first, epochs):
        # LOOP-5: else each epoch comes in the order of the first.
        loader.set_epoch(epoch)
        for group in islice(_groups(loader, accumulation), done, None):
            # LOOP-4: whatever was not stepped belongs to no later step.
            optimizer.zero_grad()
            for x, target in group:
                # LOOP-2, LOOP-3: by what the group holds, which may be less than the accumulation.
                torch.autograd.backward(loss(module(x), target) / len(group))
            optimizer.step()
            done, trained = done + 1, trained + len(group)
            if stop_after is not None and trained >= stop_after:
                # LOOP-7: at the end of a step there is no gradient to save.
                return _state(module, optimizer, (epoch, done, trained))
        if validation is not None:
            _evaluate(module, validation)
        done = 0
    return _state(module, optimizer, (epochs, 0, trained))


def _state(module: torch.nn.Module, optimizer: torch.optim.Optimizer, at: tuple[int, int, int]) -> dict[str, Any]:
    """What resumes a loop; `at`: the epoch, the steps made in it, and the micro-batches of the job so far."""
    return {"at": at, "module": module.state_dict(), "optimizer": optimizer.state_dict()}


def _groups(loader: Any, size: int) -> Iterator[list[Any]]:
    """The micro-batches of each step; the last group of an epoch may be smaller (LOOP-1)."""
    batches = iter(loader)
    while group := list(islice(batches, size)):
        yield group


def _evaluate(module: torch.nn.Module, batches: Iterable[Any]) -> None:
    """Run the module on each batch, without a gradient, and leave it as it was (LOOP-6)."""
    was_training = module.training
    module.eval()
    try:
        with torch.no_grad():
            for x, _ in batches:
                module(x)
    finally:
        module.train(was_training)
