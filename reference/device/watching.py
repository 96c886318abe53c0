"""Decides what counts as a loss of torch: what its loss functions, and so its loss modules, give while a model runs.

torch tells a mode of every function that is called. So each loss function is known, also one that is but a subtraction
and a mean. What a model makes of a loss afterwards is read from autograd's graph.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import torch
from torch.overrides import TorchFunctionMode

_OTHERS = (
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "kl_div",
    "linear_cross_entropy",
)

_FUNCTIONS: frozenset[Callable[..., Any]] = frozenset(
    function
    for place in (torch.nn.functional, torch)
    for name, function in vars(place).items()
    if callable(function) and not name.startswith("_") and (name.endswith("_loss") or name in _OTHERS)
)


class Sources(NamedTuple):
    """Where the gradient of a tensor goes: to which losses, and whether past them to a parameter."""

    losses: frozenset[Any]
    passes_by: bool


class Watch(TorchFunctionMode):
    """Remembers the losses that torch's functions give within it."""

    def __init__(self) -> None:
        super().__init__()
        # Kept, so that neither an object nor its number is another one's meanwhile.
        self._given: dict[int, torch.Tensor] = {}
        self._nodes: set[Any] = set()

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        found = func(*args, **(kwargs or {}))
        if func in _FUNCTIONS and isinstance(found, torch.Tensor) and found.grad_fn is not None:
            self._given[id(found)] = found
            self._nodes.add(found.grad_fn)
        return found

    def gave(self, tensor: torch.Tensor) -> bool:
        """Whether the tensor is a loss, as a loss function gave it."""
        return id(tensor) in self._given

    def sources(self, tensor: torch.Tensor) -> Sources:
        """Return of which losses the tensor is made, and whether of other things with a gradient."""
        return sources(tensor, self._nodes)


def sources(tensor: torch.Tensor, nodes: Iterable[Any]) -> Sources:
    """Return which of the nodes of autograd's graph the tensor's gradient meets first, and if it also meets none."""
    if tensor.grad_fn is None:
        return Sources(frozenset(), True)
    ends = set(nodes)
    losses, seen, passes_by = set(), {tensor.grad_fn}, False
    waiting: list[Any] = [tensor.grad_fn]
    while waiting:
        node = waiting.pop()
        if node in ends:
            losses.add(node)
            continue
        before = [each for each, _ in node.next_functions if each is not None]
        passes_by = passes_by or not before
        waiting += [each for each in before if each not in seen]
        seen.update(before)
    return Sources(frozenset(losses), passes_by)
