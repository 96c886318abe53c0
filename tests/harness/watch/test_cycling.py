"""Whether itertools.cycle reads a loader is told by the call that asks for its iterator."""

import itertools
import itertools as tools
import sys
from collections.abc import Iterator
from itertools import cycle as again
from typing import Any

from conformance.watch.cycling import is_cycled


class Asked:
    """Writes down of each iterator whether `cycle` asked for it."""

    def __init__(self) -> None:
        self.told: list[bool] = []

    def __iter__(self) -> Iterator[int]:
        self.told.append(is_cycled(sys._getframe(1)))
        return iter(range(2))


def test_cycle_is_known_by_any_name() -> None:
    """Of a module, of a module by another name, and by a name of its own; on several lines, and within another call."""
    asked = Asked()
    itertools.cycle(asked)
    tools.cycle(asked)
    again(
        asked,
    )
    next(zip("ab", again(asked), strict=False))
    assert [True] * 4 == asked.told


def test_other_calls_are_not_taken_for_it() -> None:
    """A loop, a function of the same name, and what stands in the same line."""

    def cycle(each: Any) -> list[int]:
        return list(each)

    asked = Asked()
    for _ in asked:
        pass
    cycle(asked)
    list(zip(again("ab"), asked, strict=False))
    assert [False] * 3 == asked.told


def test_without_its_source_nothing_is_said() -> None:
    """Code that was typed in has no lines to look at."""
    asked = Asked()
    exec("import itertools; itertools.cycle(asked)", {"asked": asked})
    assert [False] == asked.told
