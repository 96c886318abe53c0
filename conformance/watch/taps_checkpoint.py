"""A tap in `torch.load`: decides whether a start of the job goes on with what an earlier start of it stored.

A file in which an optimizer's state lies is a checkpoint. When it was written says which start wrote it. What is loaded
in another way is not known.
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


def tap(module: Any) -> None:
    """Tap `torch.serialization`, from which `torch` takes its `load`."""
    plain = module.load
    if hasattr(plain, _DONE):
        return

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
    """When the checkpoints were written that this process has loaded, in seconds since 1970; None if it has none."""
    return list(_written) or None


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
