"""Decides what `poptorch.optim` holds: torch's own optimizers, which take the arguments of PopTorch's as well.

What PopTorch's optimizers take beyond torch's is of two kinds. Some arguments say how the hardware computes (types of
accumulators, scalings that cancel out): they are recorded as attributes and have no effect. Others would make other
numbers: they are refused unless they ask for what torch does anyway. An argument that is None is as good as not given.
"""

from collections.abc import Iterable
from typing import Any, NoReturn

import torch

from .rules.checks import show

# What says how the hardware computes.
_RECORDED = (
    "loss_scaling",
    "velocity_scaling",
    "use_combined_accum",
    "accum_type",
    "velocity_accum_type",
    "first_order_momentum_accum_type",
    "second_order_momentum_accum_type",
)
# What would make other numbers, with the value that does not.
_REFUSED = {"bias_correction": True, "max_grad_norm": None, "use_tf_variant": False, "max_weight_norm": None}


class VariableAttributes:
    """Which attributes of an optimizer may change after the first call: here all may, so this only remembers."""

    def __init__(self) -> None:
        self._constant: set[str] = set()

    def markAsConstant(self, attr: str) -> None:
        """Remember that an attribute will not change."""
        self._constant.add(attr)

    def markAsVariable(self, attr: str) -> None:
        """Remember that an attribute may change."""
        self._constant.discard(attr)

    def isConstant(self, attr: str) -> bool:
        """Return what was said last."""
        return attr in self._constant


class _Parting:
    """Stands before an optimizer of torch, and hands it the arguments that it knows."""

    def __init__(self, params: Iterable[Any], *args: Any, **kwargs: Any) -> None:
        super().__init__(params, *_given(args), **_parted(self, kwargs))  # type: ignore[call-arg]  # torch's


class SGD(_Parting, torch.optim.SGD):
    """torch's SGD."""


class Adam(_Parting, torch.optim.Adam):
    """torch's Adam."""


class AdamW(_Parting, torch.optim.AdamW):
    """torch's AdamW."""


class RMSprop(_Parting, torch.optim.RMSprop):
    """torch's RMSprop."""


class LAMB:
    """Refused: torch has none."""

    def __init__(self, params: Iterable[Any], *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(
            "poptorch.optim.LAMB is not emulated, because torch has no LAMB to compare it with: use AdamW."
        )


def _given(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the positional arguments without None at the end; torch knows no None for a number."""
    while args and args[-1] is None:
        args = args[:-1]
    return args


def _parted(optimizer: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return torch's arguments; record the hardware's on the optimizer. Raises NotImplementedError for what counts."""
    for name, harmless in _REFUSED.items():
        value = kwargs.pop(name, None)
        if value is not None and value != harmless:
            raise NotImplementedError(
                f"{type(optimizer).__name__}, argument {name}, is {show(value)}, which would make other updates than "
                f"torch's: leave it out."
            )
    for name in _RECORDED:
        if name in kwargs:
            setattr(optimizer, name, kwargs.pop(name))
    optimizer.variable_attrs = VariableAttributes()
    return {name: value for name, value in kwargs.items() if value is not None}
