"""The picture of a delivery as plain data: decides which epochs, ranks and steps are a cell, and how it is coloured.

A cell holds some steps of some ranks: however many samples there are, the picture has the same size. What came again is
known of all samples in a small job, and of those that the summary keeps the witnesses of in a large one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from conformance.audit.summary import Epoch, EpochKey
from conformance.audit.view import View

_COLUMNS, _LINES, _EPOCHS = 48, 24, 8

Rows = npt.NDArray[np.int64]  # id, attempt, epoch, rank, worker, step


@dataclass(frozen=True)
class Cell:
    """Some steps of some ranks. `again` is the share of their samples that came more than once in the epoch.

    None: there is no step; -1: there are steps, and of none of their samples is it known.
    """

    first: int
    last: int
    again: float | None


@dataclass(frozen=True)
class Line:
    """Some ranks, by their names, and their cells."""

    name: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Strip:
    """One epoch. `once`, `again` and `never` count samples; `never` is None where nobody knows how many there are."""

    key: EpochKey
    lines: tuple[Line, ...]
    steps: int
    once: int
    again: int
    never: int | None


@dataclass(frozen=True)
class Picture:
    """One loader: its epochs, or some of them if they are many, and how many are not shown."""

    strips: tuple[Strip, ...]
    hidden: int


def picture(view: View, wanted: Sequence[EpochKey] = ()) -> Picture:
    """The picture of a loader; epochs that are `wanted` (as they have findings) are shown before others."""
    keys = sorted(view.group.epochs)
    rest = [key for key in keys if key not in wanted]
    shown = sorted([*dict.fromkeys(wanted), *rest][:_EPOCHS])
    epochs = {epoch.key: epoch for epoch in view.epochs()}
    strips = []
    for key in shown:
        found = epochs[key]
        mine = view.group.witnesses.of_epoch(key)
        histogram = found.histogram
        never = histogram.get(0, 0) if view.expected is not None and not view.has_own_datasets else None
        once = histogram.get(1, 0)
        steps = max((seen.steps for seen in found.epoch.ranks.values()), default=0)
        lines = _lines(view, found.epoch, mine, steps, _came_again(mine, found.copies))
        strips.append(Strip(key, lines, steps, once, found.again, never))
    return Picture(tuple(strips), len(keys) - len(shown))


def _came_again(rows: Rows, copies: int) -> npt.NDArray[np.bool_]:
    """Of each witness, whether its sample came more than once."""
    _, place, times = np.unique(rows[:, 0], return_inverse=True, return_counts=True)
    # All deliveries of a sample are witnesses, or none is.
    again: npt.NDArray[np.bool_] = times[place.reshape(-1)] > copies
    return again


def _lines(view: View, epoch: Epoch, rows: Rows, steps: int, again: npt.NDArray[np.bool_]) -> tuple[Line, ...]:
    ranks = [rank for rank in view.ranks if rank in epoch.ranks]
    if not ranks or not steps:
        return ()
    columns, lines = min(_COLUMNS, steps), min(_LINES, len(ranks))
    which = {rank: at * lines // len(ranks) for at, rank in enumerate(ranks)}
    line = np.array([which[rank] for rank in rows[:, 3].tolist()], np.int64) if len(rows) else np.zeros(0, np.int64)
    cell = line * columns + rows[:, 5] * columns // steps
    known = np.bincount(cell, minlength=lines * columns)
    twice = np.bincount(cell[again], minlength=lines * columns)
    made = []
    for number in range(lines):
        some = [rank for rank in ranks if which[rank] == number]
        last = max(epoch.ranks[rank].steps for rank in some)
        cells = tuple(_cell(at, columns, steps, last, number, known, twice) for at in range(columns))
        made.append(Line(_named(view, some), cells))
    return tuple(made)


def _cell(
    at: int,
    columns: int,
    steps: int,
    ended: int,
    line: int,
    known: npt.NDArray[np.int64],
    twice: npt.NDArray[np.int64],
) -> Cell:
    first, last = -(-at * steps // columns), -(-(at + 1) * steps // columns) - 1
    if first >= ended:
        return Cell(first, last, None)
    number = line * columns + at
    return Cell(first, last, float(twice[number] / known[number]) if known[number] else -1.0)


def _named(view: View, ranks: list[int]) -> str:
    if len(ranks) == 1:
        return view.who(ranks[0])
    return f"{view.who(ranks[0])} to {view.who(ranks[-1]).split()[-1]}"
