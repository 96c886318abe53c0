"""Decides how a step is divided: which rows of which tensor a replica gets, and when.

The first axis of every tensor of a step is read as [device iteration, accumulation, replica, micro-batch], slowest
first. So micro-batches are consecutive rows, and number k is that of replica k mod r. Replicas of one input group share
a micro-batch, and the step then holds this many fewer.
"""

from dataclasses import dataclass
from typing import Any

import torch

from ..enums import CommGroupType
from ..loading.request import distinct_inputs
from ..options.options import Options
from .errors import ModelError
from .tensors import found_in, mapped

# Of synthetic data; one that a script will hardly use for data of its own.
_SEED = 0x10ADE5


@dataclass(frozen=True)
class Factors:
    """Into how many parts a step is divided; `inputs` is the number of replicas that get a micro-batch of their own."""

    iterations: int
    accumulation: int
    replicas: int
    inputs: int
    consecutive: bool

    @property
    def times(self) -> int:
        """How many micro-batches a replica works through in one call."""
        return self.iterations * self.accumulation

    @property
    def parts(self) -> int:
        """How many micro-batches a step holds."""
        return self.times * self.inputs

    def part(self, time: int, replica: int) -> int:
        """Return which micro-batch of the step a replica gets at a time."""
        # DEVICE-2
        group = replica // (self.replicas // self.inputs) if self.consecutive else replica % self.inputs
        return time * self.inputs + group

    def check(self, arguments: Any) -> None:
        """Raise ModelError, a ValueError, unless the first axis of every tensor can be divided."""
        for number, tensor in enumerate(found_in(arguments)):
            if tensor.dim() == 0 and self.parts > 1:
                raise ModelError(
                    f"Input {number} has no axis, but the first one is divided into {self.parts} micro-batches "
                    f"({self._product()}): give each micro-batch a row of its own, tensor.expand({self.parts})."
                )
            # DEVICE-7: nothing is cut off, and no micro-batch is smaller than another.
            if tensor.dim() and (len(tensor) == 0 or len(tensor) % self.parts):
                raise ModelError(
                    f"Input {number} has {len(tensor)} samples, which can't be divided into {self.parts} equal "
                    f"micro-batches ({self._product()}): give a multiple of {self.parts}, or change a factor; the "
                    f"DataLoader does so if it is built with the same options."
                )

    def _product(self) -> str:
        return (
            f"device iterations {self.iterations} x gradient accumulation {self.accumulation} x replicas with an "
            f"input of their own {self.inputs}"
        )


def factors_of(options: Options) -> Factors:
    """Return the factors that options ask for."""
    inputs = distinct_inputs(options)
    kind = options.input_group_type
    return Factors(
        iterations=options.device_iterations,
        accumulation=options.Training.gradient_accumulation,
        replicas=options.replication_factor,
        inputs=inputs,
        consecutive=kind is not CommGroupType.Orthogonal,
    )


def cut(arguments: Any, factors: Factors, number: int) -> Any:
    """Return micro-batch `number` of a step that divides."""

    def rows(tensor: torch.Tensor) -> torch.Tensor:
        count = len(tensor) // factors.parts if tensor.dim() else 0
        mine = tensor[number * count : (number + 1) * count] if tensor.dim() else tensor
        # DEVICE-12: the model works on a copy, and may change that.
        return mine.detach().clone()

    return mapped(arguments, rows)


def synthetic(arguments: Any, factors: Factors) -> Any:
    """Return one micro-batch with the shapes and dtypes of those of a step: noise, and zeros where whole numbers are.

    Zero is a label, and a row of a table, wherever there is one.
    """
    generator = torch.Generator().manual_seed(_SEED)

    def made(tensor: torch.Tensor) -> torch.Tensor:
        # DEVICE-9: of the tensor, shape and dtype alone are asked for.
        shape = (tensor.shape[0] // factors.parts, *tensor.shape[1:]) if tensor.dim() else ()
        if tensor.dtype.is_floating_point or tensor.dtype.is_complex:
            return torch.randn(shape, dtype=tensor.dtype, generator=generator)
        return torch.zeros(shape, dtype=tensor.dtype)

    return mapped(arguments, made)
