"""Decides which of a model's results is its loss, wherever it stands among them.

1. What `identity_loss` has marked; of several, the one that the others are part of.
2. Else what a loss function of torch gave. A figure that is made of it alone (its exponential, say) is no other loss.
3. Else what is made of losses of torch: their sum, or one with a penalty.
4. Else the only number with a gradient.

Where that leaves more than one, or none, it is an error that names the results: whatever was chosen, a model would be
trained on something else in silence.
"""

from dataclasses import dataclass
from typing import Any, NoReturn

import torch

from ..rules.checks import show
from .errors import ModelError
from .tensors import places_in
from .watching import Watch, sources

# PopTorch also takes numbers for the names.
_REDUCTIONS = {"sum": 0, "mean": 1, "none": 2}


def identity_loss(x: torch.Tensor, reduction: str | int) -> torch.Tensor:
    """Return the tensor reduced by "sum", "mean" or "none", marked as the loss. Raises ValueError for another word."""
    number = _REDUCTIONS.get(reduction, -1) if isinstance(reduction, str) else reduction
    if isinstance(number, bool) or number not in _REDUCTIONS.values():
        raise ValueError(f"identity_loss, argument reduction, is {show(reduction)}: give 'sum', 'mean' or 'none'.")
    # Even "none" gives a tensor of its own, so that no other result is marked along with it.
    loss = (x.sum(), x.mean(), x.view_as(x))[number]
    loss._is_loss = True  # type: ignore[attr-defined]
    return loss


@dataclass(frozen=True, eq=False)
class _Result:
    """A tensor among the results, and where it stands."""

    place: str
    tensor: torch.Tensor

    def __str__(self) -> str:
        return f"{self.place} (shape {tuple(self.tensor.shape)}{'' if self.has_gradient else ', no gradient'})"

    @property
    def has_gradient(self) -> bool:
        return self.tensor.requires_grad

    @property
    def is_marked(self) -> bool:
        return bool(getattr(self.tensor, "_is_loss", False))


def loss_of(returned: Any, watch: Watch) -> torch.Tensor:
    """Return the loss in what a model returned while it was watched. ModelError if there is none, or more than one."""
    # What stands in two places is one result.
    results = list({id(tensor): _Result(place, tensor) for place, tensor in places_in(returned)}.values())
    if not results:
        raise ModelError(
            f"The model returns {show(returned)}, but in training it must return its loss, alone or among its results."
        )
    marked = [each for each in results if each.is_marked]
    found = _outermost(marked) if marked else _found(results, watch)
    if len(found) > 1:
        raise ModelError(
            f"The model returns more than one result that may be its loss: {' and '.join(map(str, found))}. Mark the "
            f"one to train with poptorch.identity_loss(x, 'none'), their sum for example, or detach() the others."
        )
    return _checked(found[0]) if found else _refuse(results)


def _outermost(marked: list[_Result]) -> list[_Result]:
    """Return those that are no part of another one."""
    trained = [each for each in marked if each.tensor.grad_fn is not None]
    if len(trained) < 2:
        return trained or marked
    nodes = {each.tensor.grad_fn for each in trained}
    parts = {node for each in trained for node in sources(each.tensor, nodes - {each.tensor.grad_fn}).losses}
    return [each for each in trained if each.tensor.grad_fn not in parts]


def _found(results: list[_Result], watch: Watch) -> list[_Result]:
    """Return the results that may be the loss where none is marked."""
    numbers = _numbers(results)
    given = [each for each in results if watch.gave(each.tensor)]
    if len(numbers) == 1 and not given:
        return numbers
    losses = [each for each in numbers if each in given]
    others = {each: watch.sources(each.tensor) for each in numbers if each not in given}
    if losses:
        mine = {node for each in losses for node in watch.sources(each.tensor).losses}
        return losses + [each for each, (of, passes_by) in others.items() if of and (passes_by or not of <= mine)]
    # Without any, a loss that was not reduced is named, and not a number that has nothing to do with it.
    return [each for each, (of, _) in others.items() if of] or given or numbers


def _numbers(results: list[_Result]) -> list[_Result]:
    """Return the results that gradients can begin with."""
    numbers = [each for each in results if each.has_gradient and each.tensor.numel() == 1]
    # With one sample to a micro-batch, outputs may have one element as well; a loss has no axis.
    numbers = [each for each in numbers if each.tensor.dim() == 0] or numbers
    # A weight that is returned was not computed, and is no loss.
    return [each for each in numbers if each.tensor.grad_fn is not None] or numbers


def _checked(loss: _Result) -> torch.Tensor:
    return loss.tensor if loss.has_gradient and loss.tensor.numel() == 1 else _refuse([loss])


def _refuse(results: list[_Result]) -> NoReturn:
    raise ModelError(
        f"The model returns {' and '.join(map(str, results))}, but in training it must return its loss: one number "
        f"with a gradient. Reduce it, by poptorch.identity_loss(x, 'mean') for example, don't detach it, and call "
        f"model.train() if it returns a loss in training only."
    )
