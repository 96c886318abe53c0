"""Names: decides what a sample's field is, and what is said where there is none of that name."""

import dataclasses
from collections.abc import Mapping
from typing import Any

_SHOWN = 12


class NoIdentity(LookupError):
    """The field or the function that says who a sample is can't be used: the words say which, and why."""


def field_of(value: Any, name: Any, asked: str, whose: str = "an element") -> Any:
    """A field of a sample or of a batch: by key, position or attribute. NoIdentity if it has none of that name.

    `asked` is how the user asked for it: ``--id-field uid``.
    """
    try:
        array = type(value).__module__.partition(".")[0] in ("torch", "numpy")
        if (array or isinstance(value, list | tuple)) and str(name).isdigit():
            return value[int(name)]
        if array and name not in _columns(value):
            raise LookupError(name)  # torch would take a word for a sequence of indices, and warn
        if hasattr(value, "__getitem__") and not hasattr(value, "_fields"):
            return value[name]
        return getattr(value, name)
    except Exception as error:
        kind = type(value).__name__
        there = fields(value)
        has = f"it has {', '.join(there)}" if there else "it has no fields: name a function (--identify, or ids=)"
        raise NoIdentity(f"{asked}: {whose} of type {kind} has no such field; {has}") from error


def fields(value: Any) -> list[str]:
    """The names of a value's fields, as far as they are few."""
    if _columns(value):
        names = _columns(value)
    elif isinstance(value, Mapping):
        names = [str(key) for key in value]
    elif hasattr(value, "_fields"):
        names = list(value._fields)
    elif dataclasses.is_dataclass(value):
        names = [each.name for each in dataclasses.fields(value)]
    elif isinstance(value, list | tuple):
        names = [str(at) for at in range(len(value))]
    else:
        held = getattr(value, "__dict__", None)
        names = [name for name in held if not name.startswith("_")] if isinstance(held, dict) else []
    return names if len(names) <= _SHOWN else [*names[:_SHOWN], "..."]


def _columns(value: Any) -> list[str]:
    """The fields of a row of a structured array."""
    return list(getattr(getattr(value, "dtype", None), "names", None) or ())
