"""Decides what an asynchronous loader of the stress is like, and what becomes of it: drawn from a seed and a number."""

import random
from dataclasses import dataclass
from typing import Any

from reference import SharingStrategy

SAMPLES = 24
# What is drawn, and how often: of seconds that a start by spawning costs there are few.
KINDS = {"batches": 6, "gathered": 2, "stream": 2, "rebatched": 2, "accessor": 3}
FAULTS = {"none": 10, "slow": 4, "raises": 2, "dies": 1, "hangs": 1, "deaf": 1}
ENDS = {
    "read": 3,
    "left": 3,
    "dropped": 3,
    "begun anew": 2,
    "refused": 2,
    "interrupted": 5,
    "interrupted twice": 5,
    "killed producer": 2,
    "killed": 3,
    "exits": 1,
}
# For so many loaders in a row the start is the same, but for few that are spawned: a fork server takes seconds as well.
_A_ROW = 50
STARTS = {SharingStrategy.Fork: 7, SharingStrategy.ForkServer: 1}
SPAWNS = {None: 150, SharingStrategy.SharedMemory: 1, SharingStrategy.FileSystem: 1}
_QUICK, _LONG = 0.15, 3.0  # seconds within which a signal comes; those that start by spawning take as long
HANGS = ("hangs", "deaf")


@dataclass(frozen=True)
class Fate:
    """One loader: what it is made of, how it ends, and after how many seconds each signal comes, if any does."""

    number: int
    kind: str
    fault: str
    bad: int
    end: str
    start: SharingStrategy
    workers: int
    slots: int
    early_preload: bool
    delays: tuple[float, ...]

    @property
    def ends_process(self) -> bool:
        """Whether the process that has the loader ends with it."""
        return self.end in ("killed", "exits")

    @property
    def may_fail(self) -> bool:
        """Whether an error is right."""
        return self.fault not in ("none", "slow") or self.end in ("refused", "killed producer")


def draw(seed: int, number: int) -> Fate:
    """The fate of one loader. A signal comes while it is made, begun, read or ended: nobody knows when."""
    source = random.Random(f"{seed}/{number}")
    kind, fault, end, spawn = (_one_of(source, weights) for weights in (KINDS, FAULTS, ENDS, SPAWNS))
    is_spawned = spawn is not None
    start = spawn if is_spawned else _one_of(random.Random(f"{seed}/row {number // _A_ROW}"), STARTS)
    if kind == "accessor" and fault in HANGS:
        # It has no timeout.
        fault = "slow"
    signals = {"interrupted": 1, "interrupted twice": 2, "killed": 1}.get(end, 0)
    longest = _LONG if is_spawned else _QUICK
    return Fate(
        number,
        kind,
        fault,
        bad=source.randrange(SAMPLES),
        end=end,
        start=start,
        workers=1 if is_spawned else source.choice((0, 1, 2, 3)),
        slots=source.choice((1, 2, 3, 8)),
        early_preload=source.random() < 0.5,
        delays=tuple(longest * source.random() ** 2 for _ in range(signals)),
    )


def _one_of(source: random.Random, weights: dict[Any, int]) -> Any:
    return source.choices(list(weights), list(weights.values()))[0]
