"""Decides how figures are taken together: each once a round, always in the same order; a failure is said once."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from tests.benchmarks.children import Failed, Unavailable, in_child


@dataclass(frozen=True)
class Figure:
    """Numbers that are taken together: in which table they stand, what they are called, and how to take them."""

    section: str
    names: tuple[str, ...]
    take: Callable[[], tuple[float, ...]]
    once: bool = False  # in the first round only

    @property
    def title(self) -> str:
        """By what it is chosen, and shown while it is taken."""
        return f"{self.section}: {' and '.join(self.names)}"


@dataclass
class Result:
    """What the rounds gave for a name; `missing` or `failed` is a sentence where they gave nothing."""

    section: str
    name: str
    values: list[float]
    missing: str = ""
    failed: str = ""

    @property
    def median(self) -> float | None:
        """The middle one of the rounds."""
        return median(self.values) if self.values else None


def take_all(figures: Sequence[Figure], rounds: int, patience: float) -> list[Result]:
    """Take the figures round by round, each in a process of its own that may take `patience` seconds."""
    results = [[Result(figure.section, name, []) for name in figure.names] for figure in figures]
    for number in range(rounds):
        for figure, found in zip(figures, results, strict=True):
            if found[0].missing or found[0].failed or (figure.once and number):
                continue
            _take(figure, found, patience)
            _progress(f"round {number + 1} of {rounds}: {figure.title}")
    _progress("")
    return [result for found in results for result in found]


def medians(results: Sequence[Result], section: str) -> dict[str, float]:
    """The medians of a section, by name, of what was measured."""
    return {each.name: each.median for each in results if each.section == section and each.median is not None}


def _take(figure: Figure, results: Sequence[Result], patience: float) -> None:
    try:
        for result, value in zip(results, in_child(figure.take, patience), strict=True):
            result.values.append(value)
    except Unavailable as error:
        for result in results:
            result.missing = str(error)
    except Failed as error:
        for result in results:
            # Half of the rounds would be a figure of other conditions than the neighbours'.
            result.values, result.failed = [], str(error)


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{text[:100]}", end="", file=sys.stderr, flush=True)
