"""Decides what is aimed at: each target is a ratio of figures from the same run, with a bound and a verdict."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

Medians = Mapping[str, float]  # the name of a figure to the median of its rounds; one that is left out has none

STARTS, NEXT = "time to the first item, ms", ", next loader"
INTERPRETER = "limit: an interpreter that imports torch"  # the floor of whatever spawns
FIRST, PAUSED = "first item, ms", "first item after a pause, ms"
WAITING, RESTING = "waiting for a slow item, cores", "nobody asks, cores"
MEMORY, GROWTH = "memory above the dataset's, MB", "what later epochs add, MB"
NO_CORE = 0.05  # the part of a core that counts as burning none
# A forked process copies what it writes to for the first time: here 1 % of the ring until epoch 75, then no more.
NO_GROWTH = 0.02


@dataclass(frozen=True)
class Target:
    """A figure that should be at least, or at most, the bound; None where something that it needs was not measured."""

    name: str
    found: float | None
    at_least: bool
    bound: float

    @property
    def verdict(self) -> str:
        """Met, missed, or not measured."""
        if self.found is None:
            return "not measured"
        met = self.found >= self.bound if self.at_least else self.found <= self.bound
        return "met" if met else "MISSED"

    def cells(self) -> tuple[str, str, str, str]:
        """Name, what was found, what is aimed at, and the verdict."""
        found = "-" if self.found is None else f"{self.found:.3f}"
        return self.name, found, f"{'>=' if self.at_least else '<='} {self.bound:g}", self.verdict


def rate_targets(replicas: int, rates: Medians) -> Iterator[Target]:
    """The targets of the tutorial's load."""
    ours = best(rates, lambda name: name.startswith("ours, Async,"))
    where = "1 replica" if replicas == 1 else f"{replicas} replicas"
    yield Target(f"{where}: ours Async / torch's best", ratio(ours, best(rates, is_torch)), True, 5.0)
    copied = best(rates, lambda name: name.startswith("limit: plain copy"))
    yield Target(f"{where}: ours Async / plain copy", ratio(ours, copied), True, 0.6)


def decoding_targets(rates: Medians) -> Iterator[Target]:
    """The targets of a dataset that works for each sample."""
    for workers in ("1 worker", "2 workers"):
        same = {name: rate for name, rate in rates.items() if workers in name}
        found = ratio(same.get(f"ours, Async, {workers}"), best(same, is_torch))
        yield Target(f"decoding, {workers}: ours Async / torch's best", found, True, 1.0)


def cost_targets(ours: Medians, torch: Medians, ring_bytes: int) -> Iterator[Target]:
    """The targets for waiting and memory."""
    yield Target("first item: ours Async / torch", ratio(ours.get(FIRST), torch.get(FIRST)), False, 1.0)
    yield Target("first item: preloaded, after a pause / cold", ratio(ours.get(PAUSED), ours.get(FIRST)), False, 0.01)
    yield Target("cores used by the consumer while it waits", ours.get(WAITING), False, NO_CORE)
    yield Target("cores used by all while nobody asks", ours.get(RESTING), False, NO_CORE)
    yield Target("memory above the dataset's own / ring", ratio(ours.get(MEMORY), ring_bytes / 1e6), False, 1.1)
    yield Target("what later epochs add / ring", ratio(ours.get(GROWTH), ring_bytes / 1e6), False, NO_GROWTH)


def start_targets(workers: int, found: Medians) -> Iterator[Target]:
    """The targets for the first item of a process's first loader, where workers are forked and where they are not."""
    named = f"{workers} worker{'s' if workers > 1 else ''}"
    for what, methods, strategies, most in (
        ("forked", ("fork",), ("Fork",), 1.0),
        ("not forked", ("spawn", "forkserver"), ("ForkServer", "SharedMemory"), 0.5),
    ):
        names = [[f"ours, {each}, {named}" for each in strategies], [f"torch, {each}, {named}" for each in methods]]
        ours, torch = (min((found[name] for name in some if name in found), default=None) for some in names)
        yield Target(f"first item, {named}, {what}: ours / torch's best", ratio(ours, torch), False, most)


def is_torch(name: str) -> bool:
    """Whether a row is one of those that torch's best is taken from: the loader asked for batches, in any way."""
    return name.startswith("torch, ") and "at once" not in name


def best(rates: Medians, is_meant: Callable[[str], bool]) -> float | None:
    """The highest of the rates that are meant."""
    return max((rate for name, rate in rates.items() if is_meant(name)), default=None)


def ratio(above: float | None, below: float | None) -> float | None:
    """One by the other, where both are known."""
    return None if above is None or not below else above / below
