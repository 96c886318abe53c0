"""Taps in `torch.load` and in torch's optimizers: decides whether a start of the job continues what an earlier one
stored.

A file in which an optimizer's state lies is a checkpoint, and when it was written says which start wrote it. It is
continued where an optimizer of the process takes over a state. What is loaded in another way is not known.
"""

import functools
import os
import sys
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from conformance.watch.watching import tapped

_DONE = "_loaderspec_tapped"
_DEPTH, _MANY, _MOST = 3, 10_000, 16
_written: list[float] = []
_restored: list[bool] = []


def tap(module: Any) -> None:
    """Tap `torch.serialization`, from which `torch` takes its `load`, or `torch.optim.optimizer`."""
    if hasattr(module, "Optimizer"):
        _tap_optimizer(module.Optimizer)
    elif not hasattr(module.load, _DONE):
        _tap_load(module)


def _tap_optimizer(kind: Any) -> None:
    plain = kind.load_state_dict
    if hasattr(plain, _DONE):
        return

    @functools.wraps(plain)
    def load_state_dict(self: Any, *given: Any, **more: Any) -> None:
        plain(self, *given, **more)
        _restored[:] = [True]

    setattr(load_state_dict, _DONE, True)
    kind.load_state_dict = load_state_dict


def _tap_load(module: Any) -> None:
    plain = module.load

    @functools.wraps(plain)
    def load(*given: Any, **more: Any) -> Any:
        read = plain(*given, **more)
        _loaded(given[0] if given else more.get("f"), read)
        return read

    setattr(load, _DONE, True)
    module.load = load
    torch: Any = sys.modules.get("torch")
    if getattr(torch, "load", None) is plain:
        torch.load = load


def checkpoints() -> list[float] | None:
    """When the checkpoints were written that this process loaded and continues, in seconds since 1970, or None."""
    return list(_written) if _written and _restored else None


@tapped
def _loaded(file: Any, read: Any) -> None:
    name = file if isinstance(file, str | os.PathLike) else getattr(file, "name", None)
    if not isinstance(name, str | os.PathLike) or len(_written) >= _MOST or not _has_optimizer(read, _DEPTH):
        return
    try:
        written = os.stat(name).st_mtime
    except OSError:  # it is gone, or lies in an archive
        return
    if written not in _written:
        _written.append(written)


def _has_optimizer(read: Any, depth: int) -> bool:
    """Whether an optimizer's state_dict is in what was read, not too deep."""
    if isinstance(read, Mapping) and "param_groups" in read and "state" in read:
        return True
    return depth > 0 and any(_has_optimizer(each, depth - 1) for each in _inside(read))


def _inside(read: Any) -> Iterator[Any]:
    if isinstance(read, Mapping):
        yield from islice(read.values(), _MANY)
    elif isinstance(read, list | tuple):
        yield from read[:_MOST]
