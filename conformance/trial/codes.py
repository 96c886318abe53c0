"""How a scenario is written as a code and read back: a table of parts, which both ways walk.

`n1,w2,b1,keep` has four parts. A part says one field; what is not said has its usual value.
"""

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.trial.words import joined, words_of

UNREAD = object()
# The most that a number of a code may be, unless it counts what is started or read for each of it.
MOST = 2**63 - 1
# The most processes, workers or ranks, and the most epochs, calls or seeds.
PROCESSES, PASSES = 256, 100_000
# The most samples of a dataset: a list of indices is made of them.
SAMPLES = 100_000_000


@dataclass(frozen=True)
class Part:
    """One part of a code: the field that it says, how a value is written, and what is read of a text.

    `write` gives "" for a value that is left out, `read` gives UNREAD for the text of another part. A number may have
    a `least` and a `most` value; `needed`: a code without it is none. A part that is the same in all codes has no
    field.
    """

    field: str
    write: Callable[[Any], str]
    read: Callable[[str], Any]
    least: int | None = None
    most: int | None = None
    needed: bool = False


def number(letter: str, field: str, usual: int | None = None, least: int = 1, most: int = MOST) -> Part:
    """A letter and a number: ``n5``. Without a usual value it must be said. `most`: what a machine can still run."""

    def read(text: str) -> Any:
        return int(text[1:]) if re.fullmatch(rf"{letter}[0-9]+", text) else UNREAD

    return Part(field, lambda value: "" if value == usual else f"{letter}{value}", read, least, most, usual is None)


def after(name: str, field: str) -> Part:
    """A number after a name and an @: ``stopped@3``; 0 is left out."""

    def read(text: str) -> Any:
        return int(text.removeprefix(f"{name}@")) if re.fullmatch(rf"{name}@[0-9]+", text) else UNREAD

    return Part(field, lambda value: f"{name}@{value}" if value else "", read, 1, MOST)


def word(text: str, field: str, value: Any = True) -> Part:
    """A word that stands for one value: ``shuffle``."""
    return Part(field, lambda given: text if given == value else "", lambda given: value if given == text else UNREAD)


def either(field: str, texts: Mapping[str, Any]) -> Part:
    """One of some words, each for a value: ``drop`` or ``keep``. It is always written."""
    words = {value: text for text, value in texts.items()}
    return Part(field, lambda value: words[value], lambda text: texts.get(text, UNREAD))


def choice(field: str, words: Sequence[str], usual: str) -> Part:
    """The value itself, one of some words: ``again``."""
    return Part(field, lambda value: "" if value == usual else value, lambda text: text if text in words else UNREAD)


def placed(field: str, names: Container[str], always: bool = False) -> Part:
    """A name with the place of what it means: ``raise@3``; or without one, unless there is `always` one."""

    def read(text: str) -> Any:
        name, at, _ = text.partition("@")
        fits = re.fullmatch(r"[a-z]+(@[0-9]+)?", text) and name in names and (at or not always)
        return text if fits else UNREAD

    return Part(field, lambda value: str(value), read)


def named(name: str, field: str, values: Container[str]) -> Part:
    """A value after a name: ``kind=dict``."""

    def read(text: str) -> Any:
        given, equals, value = text.partition("=")
        return value if given == name and equals and value in values else UNREAD

    return Part(field, lambda value: f"{name}={value}" if value else "", read)


def fixed(text: str) -> Part:
    """A part that every code of a kind has, and that says nothing more: ``device``."""
    return Part("", lambda value: text, lambda given: text if given == text else UNREAD)


def of_words(field: str, table: Mapping[str, str]) -> Part:
    """A set of words, in the order of their table: ``with=adam+sum``. `check_words` says whether it has them."""
    return Part(
        field,
        lambda words: f"with={joined(words, table)}" if words else "",
        lambda text: frozenset(words_of(text.removeprefix("with="))) if text.startswith("with=") else UNREAD,
    )


def details(field: str) -> Part:
    """The same, kept as the text that it is: ``with=again``."""
    return Part(
        field,
        lambda text: f"with={text}" if text else "",
        lambda text: text.removeprefix("with=") if text.startswith("with=") else UNREAD,
    )


def write(parts: Iterable[Part], scenario: Any) -> str:
    """The code of a scenario."""
    values = ((part, getattr(scenario, part.field) if part.field else None) for part in parts)
    return ",".join(text for part, value in values if (text := part.write(value)))


def read(parts: Sequence[Part], code: str, example: str) -> dict[str, Any]:
    """The fields that a code says. ValueError, with the part that can't be read, if it is no code of these parts."""
    fields: dict[str, Any] = {}
    for text in code.split(","):
        part, value = _part(parts, text, code, example)
        if not part.field:
            continue
        if part.field in fields:
            raise ValueError(f"{text!r} in the case {code!r} says {part.field} a second time; say it once")
        if part.least is not None and value < part.least:
            raise ValueError(
                f"{text!r} in the case {code!r} says {part.field} below {part.least}; the least is {part.least}"
            )
        if part.most is not None and value > part.most:
            raise ValueError(
                f"{text!r} in the case {code!r} says {part.field} above {part.most}, more than is run; say less"
            )
        fields[part.field] = value
    missing = [part.field for part in parts if part.needed and part.field not in fields]
    if missing:
        raise ValueError(f"the case {code!r} does not say {' and '.join(missing)}; a case looks like {example}")
    return fields


def _part(parts: Sequence[Part], text: str, code: str, example: str) -> tuple[Part, Any]:
    for part in parts:
        value = part.read(text)
        if value is not UNREAD:
            return part, value
    raise ValueError(f"{text!r} in the case {code!r} can't be read; a case looks like {example}")


def check_words(words: Iterable[str], table: Container[str], code: str) -> None:
    """ValueError unless the table has all these words of a code."""
    for each in words:
        if each not in table:
            known = ", ".join(table) if isinstance(table, Mapping) and table else "none"
            raise ValueError(f"{each!r} in the case {code!r} is no word of its subject; the words are {known}")
