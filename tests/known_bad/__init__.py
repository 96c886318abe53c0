"""The museum: loaders with one fault each, and the correct one that they differ from."""

from tests.known_bad import arithmetic, order, partition
from tests.known_bad.correct import KnownBad


def _exhibits() -> list[type[KnownBad]]:
    modules = (arithmetic, partition, order)
    return [
        found
        for module in modules
        for found in vars(module).values()
        if isinstance(found, type) and issubclass(found, KnownBad) and found.__module__ == module.__name__
    ]


MUSEUM: list[type[KnownBad]] = _exhibits()
