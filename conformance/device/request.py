"""The contract with a training loop: decides what an adapter's `model(request)` is asked for."""

from dataclasses import dataclass
from typing import Any, Literal

Mode = Literal["default", "all", "final", "every_n", "sum"]


@dataclass(frozen=True)
class ModelRequest:
    """What one rank's model is asked for: plain data and torch's own objects, the argument of an adapter's `model`.

    `model` returns a function of the tensors of one step. The first axis of each holds the samples of the step, in the
    order [device iteration, gradient accumulation, replica, micro-batch], slowest first (DEVICE-2).

    `module` is a `torch.nn.Module` in double precision. In training it takes (x, target) and returns (output, loss),
    the loss a mean over its samples, and `optimizer` is a torch optimizer over those of its parameters that are
    not frozen; the function updates them in place. In inference the module takes x and returns the output, and
    `optimizer` is None. The function returns what the module does, as `output_mode` says (DEVICE-6): "default" leaves
    that open. `output_period` belongs to "every_n". With `synthetic` it makes its own inputs. If `world_size` is
    above 1 the default process group of torch.distributed exists.
    """

    module: Any
    optimizer: Any
    batch_size: int
    replication_factor: int
    device_iterations: int
    gradient_accumulation: int
    reduction: Literal["mean", "sum"]
    output_mode: Mode
    output_period: int
    synthetic: bool
    rank: int
    world_size: int
