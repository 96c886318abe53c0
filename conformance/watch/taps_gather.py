"""Taps in torch.distributed: decides whether the ranks of an evaluation gather what it gave.

Then they can cut off what makes ranks equal. Nobody sees whether they do, but where accelerate's `gather_for_metrics`
does it.
"""

import functools
from collections.abc import Callable
from typing import Any

from conformance.watch.delivery import note_gathering

_DONE = "_loaderspec_tapped"
_GATHERS = ("all_gather", "all_gather_into_tensor", "all_gather_object", "gather", "gather_object")


def tap(module: Any) -> None:
    """Tap `torch.distributed`, or `accelerate.accelerator`."""
    if module.__dict__.get(_DONE):
        return
    module.__dict__[_DONE] = True
    for name in _GATHERS if hasattr(module, "all_gather") else ():
        setattr(module, name, _noting(getattr(module, name), "gathered"))
    kind = getattr(module, "Accelerator", None)
    if kind is not None:
        kind.gather_for_metrics = _noting(kind.gather_for_metrics, "cut")


def _noting(plain: Callable[..., Any], how: str) -> Callable[..., Any]:
    @functools.wraps(plain)
    def gather(*given: Any, **more: Any) -> Any:
        note_gathering(how)
        return plain(*given, **more)

    return gather
