"""Decides what several instances (ranks) tell one another in training: weights once, gradients before every update.

They speak through the default process group of `torch.distributed`. A launcher makes it; if nobody has, it is made here
with gloo from MASTER_ADDR and MASTER_PORT, with the rank and world size of the options. Every wait is bounded, by the
time-out of the group.
"""

import atexit
import os
from collections.abc import Iterable
from datetime import timedelta

import torch
import torch.distributed as distributed

from ..options.options import Options

# How long a rank waits for the others when the group is made here.
_PATIENCE = timedelta(minutes=5)


def join(options: Options) -> None:
    """Be a member of the group of all instances. Raises RuntimeError if there is no way to meet, or not this many."""
    rank, world_size = options.Distributed.processId, options.Distributed.numProcesses
    if not distributed.is_initialized():
        missing = [name for name in ("MASTER_ADDR", "MASTER_PORT") if name not in os.environ]
        if missing:
            raise RuntimeError(
                f"The options speak of {world_size} instances, but there is no process group and {missing[0]} is not "
                f"set, so they can't average their gradients: start the program with poprun, call "
                f"torch.distributed.init_process_group first, or call options.Distributed.disable() to train alone."
            )
        distributed.init_process_group(
            "gloo", init_method="env://", rank=rank, world_size=world_size, timeout=_PATIENCE
        )
        atexit.register(_leave)
    there = (distributed.get_rank(), distributed.get_world_size())
    if there != (rank, world_size):
        raise RuntimeError(
            f"The options say instance {rank} of {world_size}, but the process group says {there[0]} of {there[1]}: "
            f"let both come from one launcher, or call options.Distributed.configureProcessId{there}."
        )


def _leave() -> None:
    if distributed.is_initialized():
        distributed.destroy_process_group()


def share_weights(module: torch.nn.Module) -> None:
    """Give all instances the parameters and buffers of instance 0."""
    # DEVICE-10
    with torch.no_grad():
        for tensor in (*module.parameters(), *module.buffers()):
            # gloo knows no booleans, and sends what is contiguous.
            sent = tensor.detach().to(torch.uint8 if tensor.dtype is torch.bool else tensor.dtype).contiguous()
            distributed.broadcast(sent, 0)
            tensor.copy_(sent)


def add_gradients(parameters: Iterable[torch.nn.Parameter]) -> None:
    """Replace each gradient by the sum of it over all instances; one that no instance has stays None."""
    # DEVICE-13
    found = list(parameters)
    present = torch.tensor([each.grad is not None for each in found], dtype=torch.int32)
    distributed.all_reduce(present)
    for parameter, count in zip(found, present.tolist(), strict=True):
        if count:
            gradient = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad.contiguous()
            distributed.all_reduce(gradient)
            parameter.grad = gradient
