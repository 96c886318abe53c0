"""Taps in torch's DeviceMesh: decides what is told of which ranks work on one replica of a model."""

import functools
from typing import Any

from conformance.watch.watching import tapped, watching


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
    names = list(mesh.mesh_dim_names or [])
    told = {"names": names, "ranks": mesh.mesh.tolist()}
    # Slices of a mesh (`mesh["tp"]`) are meshes too.
    if names and told not in watching().meshes:
        watching().meshes.append(told)
