"""The museum: loaders with one fault each, and the correct one that they differ from."""

from importlib import import_module
from pkgutil import iter_modules

from tests.known_bad.correct import KnownBad


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


MUSEUM: list[type[KnownBad]] = _exhibits()
