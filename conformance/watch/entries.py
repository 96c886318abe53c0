"""The lists behind a dataset's indices: decides whether two ranks hold the same entries in another order.

A list of texts or paths that is as long as its dataset says which sample an index means. It has two prints: one that
changes with the order, and one that does not. Of anything else that is as long, some entries have one.
"""

import os
from hashlib import blake2b
from typing import Any

from conformance.watch.datasets import print_of

# A longer list would be felt when a loader is made; and so deep in a dataset others are looked for.
_LONGEST = 1 << 16
_DEPTH = 2
_MANY = 16  # datasets inside of a dataset

Prints = dict[str, list[str]]


def entries_of(dataset: Any) -> Prints:
    """Of all that is as long as the dataset, under its name, the print of its order, and that of its entries or ""."""
    found: Prints = {}
    try:
        _look("dataset", dataset, _DEPTH, found)
    except Exception:  # a dataset that can't be looked into
        return {}
    return found


def _look(path: str, holder: Any, depth: int, found: Prints) -> None:
    held = getattr(holder, "__dict__", None)
    if not isinstance(held, dict) or not hasattr(type(holder), "__len__") or len(found) > _MANY:
        return
    length = len(holder)
    for name, value in list(held.items())[:_MANY]:
        if length > 1 and hasattr(type(value), "__len__") and len(value) == length:
            prints = _prints(value)
            found.update({f"{path}.{name}": prints} if prints else {})
        elif depth:
            several = isinstance(value, list | tuple) and len(value) <= _MANY
            for at, each in enumerate(value if several else [value]):
                _look(f"{path}.{name}[{at}]" if several else f"{path}.{name}", each, depth - 1, found)


def _prints(value: Any) -> list[str] | None:
    """Both prints; None where all entries are one, so that they have no order."""
    if len(value) > _LONGEST or not isinstance(value, list | tuple) or not _has_text(value[0]):
        return [print_of(value), ""]
    words = value if set(map(type, value)) == {str} else list(map(repr, value))
    if words.count(words[0]) == len(words):
        return None
    return [_print(words), _print(sorted(words))]


def _has_text(entry: Any) -> bool:
    if isinstance(entry, tuple | list):
        return len(entry) <= 4 and any(map(_has_text, entry))
    return isinstance(entry, str | bytes | os.PathLike)


def _print(words: list[str] | tuple[str, ...]) -> str:
    return blake2b("\0".join(words).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
