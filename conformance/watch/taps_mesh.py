"""Taps in torch's DeviceMesh: decides which ranks get the same data because they work on one replica of a model."""

import functools
from typing import Any

import numpy as np

from conformance.watch.watching import tapped, watching

# Ranks that differ along these get equal batches, and must. Others (dp, fsdp, ep, whatever) are left to what came.
_ONE_REPLICA = {"tp", "pp", "cp", "sp", "mp", "tensor", "pipeline", "context", "sequence", "model"}


def tap(module: Any) -> None:
    """Tap `torch.distributed.device_mesh`."""
    plain = module.DeviceMesh.__init__

    @functools.wraps(plain)
    def __init__(self: Any, *given: Any, **more: Any) -> None:
        plain(self, *given, **more)
        _made(self)

    module.DeviceMesh.__init__ = __init__


@tapped
def _made(mesh: Any) -> None:
    watching().same_data(same_data(list(mesh.mesh_dim_names or []), mesh.mesh.tolist()))


def same_data(names: list[str], ranks: Any) -> list[list[int]]:
    """The groups of ranks that get the same data, of a mesh with these names of its dimensions."""
    mesh = np.array(ranks)
    along = [at for at, name in enumerate(names) if name.lower() in _ONE_REPLICA]
    if not along or mesh.ndim != len(names):
        return []
    last = np.moveaxis(mesh, along, range(-len(along), 0))
    groups = last.reshape(-1, int(np.prod([mesh.shape[at] for at in along])))
    return sorted(sorted(group) for group in groups.tolist() if len(group) > 1)
