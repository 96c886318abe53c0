"""How codes and words are made: counts, places, lists of words, and texts that fit a column."""

from collections.abc import Container, Iterable
from typing import Any


def clipped(text: str, width: int, end: bool = True) -> str:
    """The text in this many columns: dots stand for whole words in its middle, or for its end."""
    if len(text) <= width:
        return text
    tail = (width - len(" ... ")) // 3 if end else 0
    head = width - len(" ... ") - tail
    # Half of a number is another number. Only a word that is longer than its place is cut.
    first = text[:head] if text[head] == " " else text[:head].rpartition(" ")[0] or text[:head]
    if not tail:
        return f"{first.rstrip()} ..."
    last = text[-tail:] if text[-tail - 1] == " " else text[-tail:].partition(" ")[2] or text[-tail:]
    return f"{first.rstrip()} ... {last.lstrip()}"


def place_of(word: str) -> int:
    """The number after the @ of a fault or a conduct."""
    return int(word.partition("@")[2])


def count(number: int, noun: str) -> str:
    """``1 sample``, ``2 samples``."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun}es" if noun.endswith(("tch", "ss")) else f"{number} {noun}s"


def has(scenario: Any, word: str) -> bool:
    """Whether the scenario's details say so."""
    return word in scenario.details.split("+")


def words_of(details: str) -> list[str]:
    """The words of ``adam+sum``."""
    return details.split("+") if details else []


def joined(words: Container[str], table: Iterable[str]) -> str:
    """The words in the order of their table: ``adam+sum``. Those that the table lacks are left out."""
    return "+".join(word for word in table if word in words)


def about(name: str, sentence: str) -> str:
    """``my.py: it hangs``, and ``my.py can't be imported`` as it stands: the name once."""
    return sentence if sentence.startswith(f"{name} ") else f"{name}: {sentence}"


def printable(text: str, but: str = "") -> str:
    """The text for a terminal: what would steer it (ESC and the like) is written out, but for these characters."""
    kept = {"\n", *but}
    return "".join(each if each.isprintable() or each in kept else repr(each)[1:-1] for each in text)
