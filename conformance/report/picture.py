"""The picture of a delivery: decides what stands in each cell of ranks x steps, and what is marked.

A mark says what is so, not who is to blame: a sample that came before in the same epoch, with the padding that is
claimed or without it; a number that is no sample; a step that differs from the main run's. Pictures are plain data,
bounded in size; what is left out is counted.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from conformance.contract import Claims
from conformance.loader.judging import dropped_limit, known_samples, listed, missing, padded_to_full_steps
from conformance.loader.scenario import Scenario
from conformance.trace import Epoch, RankRun, Run, Trace
from conformance.trial.words import count

Mark = Literal["", "first", "again", "padded", "foreign"]
MOST_RUNS, MOST_EPOCHS, MOST_RANKS, MOST_STEPS, MOST_SAMPLES = 4, 4, 16, 24, 16

# What a variant changed against the main run.
CHANGED = {
    "main": "the request as it stands",
    "again": "once more, in another process with another hash seed",
    "after": "once more, after other loaders were used in the same process",
    "jump": "the last epoch, set directly",
    "random-state": "once more, with the caller's global generators elsewhere",
    "seed+1": "with the next seed",
    "workers": "without worker processes",
    "synchronous": "without reading ahead",
    "unshuffled": "without shuffling",
    "singly": "with one device iteration a call",
    "mean": "with averaged gradients",
    "undisturbed": "with nothing that disturbs it",
    "first epoch": "its first epoch alone",
    "once more": "once more",
    "unbroken": "without a restart",
    "whole": "without an epoch that is left",
}
# The variants that must deliver what the main run delivers. Iterable datasets may come in another order.
_SAME = ("again", "after", "jump", "random-state", "workers", "synchronous")


@dataclass(frozen=True)
class Item:
    """A sample in a cell: its index, its mark, and for the how many-th time in the epoch it came."""

    index: int
    mark: Mark = ""
    time: int = 1


@dataclass(frozen=True)
class Cell:
    """A step of a rank. `hidden` samples are not shown; `differs`: from the same step of the main run."""

    items: tuple[Item, ...]
    hidden: int = 0
    differs: bool = False


@dataclass(frozen=True)
class Line:
    """A rank: its steps, and what there is to say of its end."""

    rank: int
    cells: tuple[Cell, ...]
    hidden: int
    remark: str


@dataclass(frozen=True)
class Grid:
    """One epoch over all ranks. `absent` says which samples came on no rank."""

    title: str
    lines: tuple[Line, ...]
    steps: int
    hidden_ranks: int
    absent: str


@dataclass(frozen=True)
class RunPicture:
    """All epochs of one run. `failures` are of ranks that ended before their first epoch."""

    name: str
    changed: str
    grids: tuple[Grid, ...]
    hidden_epochs: int
    failures: tuple[str, ...]


def pictures(trace: Trace, claims: Claims) -> tuple[RunPicture, ...]:
    """The pictures of the first runs of a trace, the main run first."""
    return tuple(_run(run, trace, claims) for run in trace.runs[:MOST_RUNS])


def marks_in(runs: tuple[RunPicture, ...]) -> dict[str, Item | None]:
    """The marks that a reader meets, each with the first item that bears it; "differs" is one of a step."""
    cells = [cell for run in runs for grid in run.grids for line in grid.lines for cell in line.cells]
    found: dict[str, Item | None] = {}
    for item in (item for cell in cells for item in cell.items if item.mark):
        found.setdefault(item.mark, item)
    return {**found, **({"differs": None} if any(cell.differs for cell in cells) else {})}


def _run(run: Run, trace: Trace, claims: Claims) -> RunPicture:
    longest = max((len(rank.epochs) for rank in run.ranks), default=0)
    shown = range(min(longest, MOST_EPOCHS))
    return RunPicture(
        run.name,
        CHANGED.get(run.name, f"with {run.name}"),
        tuple(_grid(run, position, trace, claims) for position in shown),
        longest - len(shown),
        tuple(f"rank {rank.rank} {rank.failure.sentence()}" for rank in run.ranks if rank.failure and not rank.epochs),
    )


def _grid(run: Run, position: int, trace: Trace, claims: Claims) -> Grid:
    scenario = trace.scenario
    ranks = [rank for rank in run.ranks if position < len(rank.epochs)]
    epochs = tuple(rank.epochs[position] for rank in ranks)
    marked = _marked(epochs, _expected_times(scenario, run.name, claims), scenario, claims)
    others = _others(run, position, trace)
    shown = list(zip(ranks, marked, strict=True))[:MOST_RANKS]
    lines = tuple(_line(rank, position, steps, others.get(rank.rank)) for rank, steps in shown)
    passes = [epoch.number for rank in ranks[:1] for epoch in rank.epochs[:position]]
    again = f", pass {passes.count(epochs[0].number) + 1}" if epochs[0].number in passes else ""
    return Grid(
        f"epoch {epochs[0].number}{again}",
        lines,
        max((len(line.cells) for line in lines), default=0),
        len(ranks) - len(shown),
        _absent(scenario, claims, epochs, whole=len(ranks) == len(run.ranks)),
    )


def _expected_times(scenario: Scenario, run: str, claims: Claims) -> int:
    """How often each element comes by right: once, or once from each worker of each rank."""
    if scenario.dataset == "map" or claims.iterable_workers != "replicated":
        return 1
    workers = 0 if run == "workers" else scenario.num_workers
    return max(1, workers) * scenario.world_size


def _marked(
    epochs: tuple[Epoch, ...], times: int, scenario: Scenario, claims: Claims
) -> list[tuple[tuple[Item, ...], ...]]:
    """The steps of each rank with marks; which of two ranks came first is told by their numbers."""
    known = known_samples(scenario, epochs)
    surplus = sum(max(0, number - times) for number in known.values())
    pads = scenario.dataset == "map" and _is_padding(surplus, known.total(), scenario, claims)
    seen: Counter[int] = Counter()

    def item(index: int) -> Item:
        if not 0 <= index < scenario.samples:
            return Item(index, "foreign")
        seen[index] += 1
        return Item(index, ("padded" if pads else "again") if seen[index] > times else "", seen[index])

    found = [tuple(tuple(map(item, step)) for step in epoch.steps) for epoch in epochs]
    return _with_first_ones(found, {index for index in seen if seen[index] > times and not pads})


def _with_first_ones(
    ranks: list[tuple[tuple[Item, ...], ...]], repeated: set[int]
) -> list[tuple[tuple[Item, ...], ...]]:
    """The first delivery of what comes again is marked as well: two cells are held against each other."""

    def item(found: Item) -> Item:
        return Item(found.index, "first") if found.index in repeated and found.time == 1 and not found.mark else found

    return [tuple(tuple(map(item, step)) for step in steps) for steps in ranks]


def _is_padding(surplus: int, delivered: int, scenario: Scenario, claims: Claims) -> bool:
    """Whether padding that is claimed explains this many repeats (PART-4)."""
    if claims.policy(scenario.drop_last) != "pad":
        return False
    full = padded_to_full_steps(scenario, claims)
    return surplus <= -scenario.samples % scenario.world_size or delivered == (full or 0) * scenario.world_size


def _others(run: Run, position: int, trace: Trace) -> dict[int, Epoch]:
    """The main run's epochs that this one is compared with, by rank; none for the main run itself."""
    if run.name not in _SAME or trace.scenario.dataset == "iterable":
        return {}
    # "jump" reads the last epoch alone.
    at = -1 if run.name == "jump" else position
    return {rank.rank: rank.epochs[at] for rank in trace.main.ranks if rank.epochs and at < len(rank.epochs)}


def _line(rank: RankRun, position: int, steps: tuple[tuple[Item, ...], ...], other: Epoch | None) -> Line:
    cells = tuple(
        Cell(items[:MOST_SAMPLES], max(0, len(items) - MOST_SAMPLES), other is not None and _differs(items, at, other))
        for at, items in enumerate(steps[:MOST_STEPS])
    )
    return Line(rank.rank, cells, max(0, len(steps) - MOST_STEPS), _remark(rank, position))


def _differs(items: tuple[Item, ...], at: int, other: Epoch) -> bool:
    return at >= len(other.steps) or tuple(item.index for item in items) != other.steps[at]


def _remark(rank: RankRun, position: int) -> str:
    epoch = rank.epochs[position]
    found = ["left early"] if epoch.left else []
    # What ended the rank ended its last epoch.
    failure = epoch.failure or (rank.failure if position == len(rank.epochs) - 1 else None)
    if failure:
        found.append(failure.sentence())
    elif type(epoch.length) is int and not epoch.left and epoch.length != len(epoch.steps):
        found.append(f"len() said {epoch.length}, {count(len(epoch.steps), 'step')} came")
    return "; ".join(found)


def _absent(scenario: Scenario, claims: Claims, epochs: tuple[Epoch, ...], whole: bool) -> str:
    """The samples that came on no rank, and whether the claims explain it where nothing else happened."""
    # A loader that is to refuse a request is not asked for samples.
    left_out = [] if scenario.refusal or not whole else missing(scenario, epochs)
    if not left_out:
        return ""
    told = f"on no rank: {listed(left_out)}"
    ended = any(epoch.left or epoch.failure for epoch in epochs)
    unusual = scenario.fault or scenario.conduct or scenario.rebatched or scenario.dataset == "iterable"
    if ended or unusual or claims.policy(scenario.drop_last) is None:
        return told
    fits = len(left_out) < dropped_limit(scenario, claims)
    return f"{told} ({'as few as the claims allow' if fits else 'more than the claims allow'})"
