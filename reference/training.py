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
) -> None:
    """Train for some epochs; `loader` gives micro-batches (x, target), and has `set_epoch`."""
    for epoch in range(epochs):
        # LOOP-5: else each epoch comes in the order of the first.
        loader.set_epoch(epoch)
        for group in _groups(loader, accumulation):
            # LOOP-4: whatever was not stepped belongs to no later step.
            optimizer.zero_grad()
            for x, target in group:
                # LOOP-2, LOOP-3: by what the group holds, which may be less than the accumulation.
                torch.autograd.backward(loss(module(x), target) / len(group))
            optimizer.step()
        if validation is not None:
            _evaluate(module, validation)


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
