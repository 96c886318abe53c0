"""Decides which of a model's results is its loss: the one that `identity_loss` has marked, else the last one."""

from typing import Any

import torch

from ..rules.checks import show
from .tensors import found_in

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


def loss_of(result: Any) -> torch.Tensor:
    """Return the loss in what a model returned. Raises ValueError if there is none that gradients can begin with."""
    tensors = list(found_in(result))
    if not tensors:
        raise ValueError(
            f"The model returns {show(result)}, but in training it must return its loss: return it last, or alone."
        )
    loss = ([each for each in tensors if getattr(each, "_is_loss", False)] or tensors)[-1]
    if loss.numel() != 1:
        raise ValueError(
            f"The model's last result has the shape {tuple(loss.shape)}, but in training it must be the loss, one "
            f"number: return it last, or alone, reduced by poptorch.identity_loss(x, 'mean') for example; and call "
            f"model.train() if it returns a loss in training only."
        )
    if not loss.requires_grad:
        raise ValueError(
            "The model's last result has no gradient, but in training it must be the loss: return it last, or alone, "
            "not detached; and call model.train() if it returns a loss in training only."
        )
    return loss
