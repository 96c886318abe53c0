"""The museum: loaders with one fault each, and the correct one that they differ from.

`MUSEUM` is made when it is first asked for: an instance that a launcher of the museum starts imports this package too,
and needs no torch.
"""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from tests.known_bad.correct import KnownBad

if TYPE_CHECKING:
    MUSEUM: list[type[KnownBad]]


@cache
def _exhibits() -> list[type[KnownBad]]:
    names = [module.name for module in iter_modules(__path__)]
    modules = [import_module(f"{__name__}.{name}") for name in names]
    return [
        found
        for module in modules
        for found in vars(module).values()
        if isinstance(found, type)
        and issubclass(found, KnownBad)
        and found.clause
        and found.__module__ == module.__name__
    ]


def __getattr__(name: str) -> Any:
    if name != "MUSEUM":
        raise AttributeError(f"module {__name__} has no attribute {name!r}")
    return _exhibits()
