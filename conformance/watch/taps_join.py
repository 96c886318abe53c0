"""Taps in torch's Join: decides whether an epoch is read where ranks may have different numbers of steps.

Under Join a rank that is at its end answers the collectives of the others until all are.
"""

import functools
from typing import Any

from conformance.watch.watching import tapped

_DONE = "_loaderspec_tapped"
_entered: list[int] = []


def tap(module: Any) -> None:
    """Tap `torch.distributed.algorithms.join`."""
    join = module.Join
    if _DONE in join.__dict__:
        return
    setattr(join, _DONE, True)
    enter, leave = join.__enter__, join.__exit__

    @functools.wraps(enter)
    def __enter__(self: Any) -> Any:
        _note(self, entered=True)
        return enter(self)

    @functools.wraps(leave)
    def __exit__(self: Any, *why: Any) -> Any:
        _note(self, entered=False)
        return leave(self, *why)

    join.__enter__, join.__exit__ = __enter__, __exit__


def is_joined() -> bool:
    """Whether this process is within a Join that is enabled."""
    return bool(_entered)


@tapped
def _note(join: Any, entered: bool) -> None:
    if entered and getattr(join, "_enable", True):
        _entered.append(id(join))
    elif not entered and id(join) in _entered:
        _entered.remove(id(join))
