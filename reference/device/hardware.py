"""Decides what becomes of names that models use to speak to the hardware: they are accepted, and have no effect.

Blocks say on which chip a layer runs, others how tensors are moved or kept. A tensor that goes through one of these
comes out as it is.
"""

from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

import torch

from ..enums import OverlapMode

Anything = TypeVar("Anything")


class Block:
    """Layers that run on one chip, as a context: `with poptorch.Block(ipu_id=0): ...`."""

    def __init__(self, user_id: str | None = None, ipu_id: int | None = None) -> None:
        """Accept a name and the number of a chip."""

    def __enter__(self) -> "Block":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    @staticmethod
    def useAutoId() -> None:
        """Accept that blocks are numbered by themselves."""

    @staticmethod
    def start(user_id: str | None = None, ipu_id: int | None = None) -> None:
        """Accept that a block begins here."""


def BeginBlock(layer_to_call: Anything, user_id: str | None = None, ipu_id: int | None = None) -> Anything:
    """Return the layer with which a block begins."""
    return layer_to_call


def BlockFunction(
    user_id: str | None = None, ipu_id: int | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator for a function that is a block."""
    return lambda function: function


def ipu_print_tensor(tensor: torch.Tensor, title: str = "", *args: Any, **kwargs: Any) -> torch.Tensor:
    """Return the tensor that the device would print. Nothing is printed."""
    return tensor


def nop(tensor: torch.Tensor) -> torch.Tensor:
    """Return the tensor."""
    return tensor


def recomputationCheckpoint(*tensors: torch.Tensor) -> Any:
    """Return the tensors that the device would keep for the backward pass; a single one alone."""
    return tensors[0] if len(tensors) == 1 else tensors


def set_available_memory(tensor: torch.Tensor, available_memory_proportion: float) -> torch.Tensor:
    """Return the tensor whose operation would get so much memory."""
    return tensor


def set_overlap_for_input(input_tensors: Anything, mode: OverlapMode) -> Anything:
    """Return the inputs whose copies would overlap the computation."""
    return input_tensors


def set_overlap_for_output(output_tensors: Anything, mode: OverlapMode) -> Anything:
    """Return the outputs whose copies would overlap the computation."""
    return output_tensors


def ipuHardwareIsAvailable(num_ipus: int = 1) -> bool:
    """Return False: this is an emulation."""
    return False


def isRunningOnIpu() -> bool:
    """Return False, within a model too: of two ways that it has, it takes the one for a CPU."""
    return False


def setLogLevel(level: str | int) -> None:
    """Accept how much the device would log."""
