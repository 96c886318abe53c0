"""Texts of ids that are digests: decides which of them a person can read, and of how many a record keeps that.

A digest tells samples apart and names none. So a record keeps what short ids were made of: a number, a text, a path.
Of a large job it keeps those of the lowest digests, which are the samples whose deliveries an audit keeps as well.
"""

import os
import re
from collections.abc import Iterable
from typing import Any

# So many letters of a text are kept, and so many texts: by one start of a process, and of a whole record.
_LETTERS = 60
_OF_A_PROCESS, _OF_A_RECORD = 2048, 1 << 17
_WORD = 8  # bytes of a digest by which a text is found again
_NARROW = ("float32", "float16")
_SEVERAL = re.compile(r"[\s,|]")


class Texts:
    """The texts of the lowest digests, as many as there is room for."""

    def __init__(self, most: int = _OF_A_PROCESS) -> None:
        self.known: dict[str, str] = {}
        self._most = most
        self._below = 1 << 8 * _WORD

    def wants(self, word: str) -> bool:
        """Whether a text would be kept, and is not known."""
        return word not in self.known and _number(word) < self._below

    def add(self, word: str, text: str) -> bool:
        """Keep a text under the first bytes of its digest, in hexadecimal; whether it is kept, and was not known."""
        if not self.wants(word):
            return False
        self.known[word] = text
        while len(self.known) > self._most:
            self._below //= 2
            self.known = {each: text for each, text in self.known.items() if _number(each) < self._below}
        return word in self.known


def thinned(tables: Iterable[dict[str, str]]) -> dict[str, str]:
    """One table of several, in whatever order they come: as many of its texts as an audit keeps."""
    kept = Texts(_OF_A_RECORD)
    for table in tables:
        for word, text in table.items():
            if not kept.add(word, text) and word in kept.known:
                kept.known[word] = min(text, kept.known[word])
    return dict(sorted(kept.known.items()))


def word_of(digest: bytes) -> str:
    """What stands for a digest in a table of texts."""
    return digest[:_WORD].hex()


def plain(value: Any) -> Any:
    """A number of a tensor or an array that holds one, and else the value itself."""
    shape = getattr(value, "shape", None)
    if hasattr(value, "item") and isinstance(shape, tuple) and all(size == 1 for size in shape):
        return value.item()
    return value


def text_of(value: Any) -> str | None:
    """How an id is shown to a person; None where it is nothing that is short and readable."""
    shown = plain(value)
    if isinstance(shown, float):
        return f"{shown:.9g}" if str(getattr(value, "dtype", "")).endswith(_NARROW) else repr(shown)
    if isinstance(shown, os.PathLike):
        shown = os.fspath(shown)
    if isinstance(shown, str):
        return _short(str(shown))
    if isinstance(shown, int | bytes):
        return _short(repr(shown))
    if isinstance(shown, tuple | list) and 0 < len(shown) <= 4 and all(isinstance(part, str | int) for part in shown):
        return _short("/".join(map(str, shown)))
    return None


def _short(text: str) -> str:
    """The text, or its beginning; in quotes where it would not be seen to be one word."""
    text = text if len(text) <= _LETTERS else f"{text[:_LETTERS]}..."
    return text if text and not _SEVERAL.search(text) else repr(text)


def _number(word: str) -> int:
    return int.from_bytes(bytes.fromhex(word), "little")
