"""Parameters of a test of which only some run always, and the others with `--deep`."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def deep_where(is_deep: Callable[[Any], bool], values: Iterable[Any], name: Callable[[Any], str]) -> list[Any]:
    """One parameter a value, marked where it is deep."""
    return [pytest.param(each, id=name(each), marks=(pytest.mark.deep,) if is_deep(each) else ()) for each in values]


def deep_but_one_of_each(kind: Callable[[Any], Any], values: Iterable[Any], name: Callable[[Any], str]) -> list[Any]:
    """One parameter a value; those of a kind that an earlier one stands for are deep."""
    seen: set[Any] = set()

    def stood_for(value: Any) -> bool:
        found = kind(value) in seen
        seen.add(kind(value))
        return found

    return deep_where(stood_for, values, name)
