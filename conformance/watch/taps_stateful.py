"""Taps in torchdata's StatefulDataLoader, whose iterators are torch's written again: the same methods are wrapped.

An iterator that is made from a state reads its way back to it inside its `__init__`: what comes then is not delivered.
"""

import functools
from typing import Any

from conformance.watch.taps import RETURNING, making, tap_iterators


def tap(module: Any) -> None:
    """Tap `torchdata.stateful_dataloader.stateful_dataloader`. An epoch begins in torch's `__init__`, as torch's do."""
    module.StatefulDataLoader.__init__ = making(module.StatefulDataLoader.__init__)
    single, many = module._StatefulSingleProcessDataLoaderIter, module._StatefulMultiProcessingDataLoaderIter
    tap_iterators(single, many)
    for kind in (single, many):
        _returning(kind)


def _returning(kind: Any) -> None:
    plain = kind.__init__

    @functools.wraps(plain)
    def __init__(self: Any, *given: Any, **more: Any) -> None:
        self.__dict__[RETURNING] = True
        try:
            plain(self, *given, **more)
        finally:
            self.__dict__.pop(RETURNING, None)

    kind.__init__ = __init__
