"""The contract with a training loop: decides what an adapter's `train(request)` is asked for."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class TrainRequest:
    """What a loop is asked for: torch's own objects, the argument of an adapter's `train`.

    `train` trains `module` for `epochs` passes over `loader`, and returns when they are done. `loader` has `len()` and
    `set_epoch(n)`; its batches are pairs (x, target), each one micro-batch, the last of which may be smaller. The loss
    of a micro-batch is `loss(module(x), target)`, a mean over its samples. One call of `optimizer.step()` follows each
    `accumulation` micro-batches, on the mean of their losses. With a `validation` loader, which has batches of the same
    kind, `module` is evaluated on it after each epoch; else it is None.

    Where `checkpoints` is claimed, `train` returns what it needs to resume, which can be pickled, once `stop_after`
    micro-batches of the job have been trained on, or at the end of their step; and goes on from `state`, which an
    earlier call has returned. Module, optimizer and loader are new ones then. Both are None otherwise.
    """

    loader: Any
    validation: Iterable[Any] | None
    module: Any
    optimizer: Any
    loss: Callable[[Any, Any], Any]
    accumulation: int
    epochs: int
    stop_after: int | None = None
    state: Any = None
