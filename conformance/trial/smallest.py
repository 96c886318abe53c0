"""What comes after Hypothesis has shrunk a case: one field after the other is made smaller, as far as it still fails.

Hypothesis shrinks what was drawn: not a scenario that was tried without drawing it, nor two draws that make up one
number together. Which fields there are, and what is simple, each family says (`Family.smaller`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

S = TypeVar("S")
_FEW = 64  # of a number's smallest values are tried one by one
Changes = Mapping[str, Any]


def first_that_violates(scenario: S, groups: Iterable[Sequence[Changes]], violates: Callable[[S], bool]) -> S:
    """The scenario after each group of changes in turn, of which the first is kept that still violates, if any does."""
    for group in groups:
        smaller = (replace(scenario, **changes) for changes in group)  # type: ignore[type-var]
        scenario = next((each for each in smaller if each != scenario and violates(each)), scenario)
    return scenario


def smallest_numbers(
    scenario: S,
    fields: Sequence[str],
    violates: Callable[[S], bool],
    least: Callable[[S, str], int] = lambda scenario, field: 1,
) -> S:
    """The scenario with each of these numbers in turn as small as it still violates; large ones by halving."""
    for field in fields:
        first, now = least(scenario, field), getattr(scenario, field)
        small = range(first, min(now, first + _FEW))
        smaller = (replace(scenario, **{field: value}) for value in small)  # type: ignore[type-var]
        found = next((each for each in smaller if violates(each)), None)
        scenario = found if found is not None else _halved(scenario, field, first + _FEW, violates)
    return scenario


def _halved(scenario: S, field: str, least: int, violates: Callable[[S], bool]) -> S:
    """The scenario with a large number less by half of it, by a quarter, and so on, as often as it still violates."""
    step = (getattr(scenario, field) - least) // 2
    while step > 0:
        value = getattr(scenario, field) - step
        smaller: S = replace(scenario, **{field: value})  # type: ignore[type-var]
        if value >= least and violates(smaller):
            scenario = smaller
        else:
            step //= 2
    return scenario


def in_fewer_words(
    scenario: S, words: Sequence[str], without: Callable[[S, str], S], violates: Callable[[S], bool]
) -> S:
    """The scenario without the words that it violates without, beginning with the last."""
    for word in reversed(words):
        fewer = without(scenario, word)
        scenario = fewer if violates(fewer) else scenario
    return scenario


def earlier(conduct: str, fault: str, samples: str) -> list[Sequence[Changes]]:
    """A conduct and a fault at each earlier place; `samples` names the field of how many samples there are."""
    before = _places_before(conduct)
    return [
        [dict(conduct=each) for each in before],
        # All steps of a smaller dataset, where it takes all of this one.
        [{samples: at, "batch_size": 1, "conduct": each} for at, each in enumerate(before) if at],
        [dict(fault=each) for each in _places_before(fault)],
    ]


def _places_before(word: str) -> list[str]:
    """``leave@0``, ``leave@1`` for ``leave@2``: the same thing, earlier."""
    name, at, place = word.partition("@")
    return [f"{name}@{before}" for before in range(int(place))] if at else []
