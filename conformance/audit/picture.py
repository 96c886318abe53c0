"""The picture of a delivery as plain data: decides which epochs, ranks and steps are a cell, and how it is coloured.

A cell holds some steps of some ranks: however many samples there are, the picture has the same size. What came again is
known of all samples in a small job, and of those that the summary keeps the witnesses of in a large one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from conformance.audit.epochs import EpochView
from conformance.audit.resumed import begun
from conformance.audit.summary import Epoch, EpochKey, RankSeen
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
    """One epoch, or what came of it before and after a restart. `once`, `again` and `never` count samples; `never` is
    None where nobody knows how many there are. `restart` is the step at which the job went on.
    """

    name: str
    lines: tuple[Line, ...]
    steps: int
    once: int
    again: int
    never: int | None
    restart: int | None = None


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
    goes_on = {before: after for after, before in begun(view.group).items()}
    # Both parts are one strip, at the place of the first.
    shown = sorted({*shown, *(before for before, after in goes_on.items() if after in shown)} - {*goes_on.values()})
    strips = tuple(_joint(view, key, goes_on[key]) if key in goes_on else _alone(view, key) for key in shown)
    return Picture(strips, len(keys) - len(goes_on) - len(shown))


def _alone(view: View, key: EpochKey) -> Strip:
    return _strip(
        view, EpochView(view, key, view.group.epochs[key]), view.group.witnesses.of_epoch(key), view.epoch_name(key)
    )


def _joint(view: View, before: EpochKey, after: EpochKey) -> Strip:
    """What came of an epoch before a restart, and behind it what came after."""
    first, rest = view.group.epochs[before], view.group.epochs[after]
    restart = max((seen.steps for seen in first.ranks.values()), default=0)
    both = Epoch({rank: RankSeen(seen.facts, steps=restart + seen.steps) for rank, seen in rest.ranks.items()})
    for part in (first, rest):
        both.counts.merge(part.counts)
        both.digests.merge(part.digests)
    rows = view.group.witnesses.of_epoch(after).copy()
    rows[:, 5] += restart
    rows = np.concatenate([view.group.witnesses.of_epoch(before), rows])
    rows = rows[np.isin(rows[:, 3], list(both.ranks))]
    name = f"{view.epoch_name(before)}, before and after restart {after[0]}"
    return replace(_strip(view, EpochView(view, before, both), rows, name), restart=restart)


def _strip(view: View, found: EpochView, rows: Rows, name: str) -> Strip:
    never = found.histogram.get(0, 0) if view.expected is not None and not view.has_own_datasets else None
    steps = max((seen.steps for seen in found.epoch.ranks.values()), default=0)
    lines = _lines(view, found.epoch, rows, steps, _came_again(rows, found.copies))
    return Strip(name, lines, steps, found.histogram.get(1, 0), found.again, never)


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
