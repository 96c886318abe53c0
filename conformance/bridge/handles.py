"""What stays on this side: samples and exceptions, each under a number, for as long as somebody may name it."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from copy import copy
from typing import Any

Owner = tuple[str, int]  # ("loader", 1) or ("it", 3)


class Handles:
    """Things by their numbers. What an owner was given is released with it.

    A number is never used twice in a process: a loader that keeps one too long names nothing, and not another sample.
    """

    def __init__(self) -> None:
        self._things: dict[int, Any] = {}
        self._owned: dict[Owner, list[int]] = {}
        self._last = 0

    def give(self, things: Iterable[Any], owner: Owner) -> list[int]:
        """New numbers for these things."""
        numbers = []
        for thing in things:
            self._last += 1
            self._things[self._last] = thing
            numbers.append(self._last)
        self._owned.setdefault(owner, []).extend(numbers)
        return numbers

    def named(self, number: object) -> Any:
        """The thing of a number. KeyError if it has none, or none any more."""
        if type(number) is not int:
            raise KeyError(number)
        return self._things[number]

    def let_go(self, owner: Owner) -> None:
        """Forget what an owner was given."""
        for number in self._owned.pop(owner, ()):
            self._things.pop(number, None)


class Stream:
    """One pass over an iterable dataset, as a thing with a number."""

    def __init__(self, samples: Iterator[Any]) -> None:
        self.samples = samples


class Raised:
    """An exception of the dataset's, as a thing with a number."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def given(self) -> BaseException:
        """The exception itself; from the second time on a copy, unless it can't be copied.

        Once it is raised it holds the frames of whoever is told, and with them the loader: it is better not kept here.
        """
        error = self.error
        with suppress(Exception):
            self.error = copy(error)
        return error
