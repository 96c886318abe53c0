"""An object is found from another one, however it is held."""

import functools
from collections.abc import Callable

import pytest

from conformance.loader.reach import reaches


class Wanted:
    """What is looked for."""

    def method(self) -> None:
        """Something to be bound."""


class Holder:
    """What holds it."""

    def __init__(self, held: object) -> None:
        self.held = held


def closed_over(wanted: object) -> Callable[[], object]:
    """A function that closes over it."""
    return lambda: wanted


WANTED = Wanted()


@pytest.mark.parametrize(
    "holder",
    [
        WANTED,
        [1, (WANTED,)],
        Holder({"data": Holder(WANTED)}),
        WANTED.method,
        functools.partial(print, WANTED),
        closed_over(Holder(WANTED)),
    ],
)
def test_what_is_held_is_found(holder: object) -> None:
    """By items, attributes, methods, partials and closures."""
    assert reaches(holder, WANTED)


@pytest.mark.parametrize("holder", [[0, 1], Holder(Wanted()), print, Wanted, None])
def test_what_is_not_held_is_not_found(holder: object) -> None:
    """Neither another one of its kind, nor a list of numbers."""
    assert not reaches(holder, WANTED)
