"""What the suite costs: scenarios per second of a bare loader, of Hypothesis around it, and of the whole harness.

    python -m tests.benchmarks.harness

Rows 1 to 3 read the very same scenarios (3 ranks, about 50 samples, no workers) with torch's loader, rows 4 and 5
others with two workers. Their repetitions are interleaved, so that a machine that is busy for a while is busy for all
of them, and medians are shown. As information, the whole map family as a run draws it, and whole runs of pytest with
their processor time.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as hypothesis_seed
from hypothesis import strategies as st

from conformance.clauses import FAMILIES
from conformance.contract import Request
from conformance.epochs.drawn import map_style
from conformance.loader.datasets import MapDataset
from conformance.loader.scenario import Scenario
from conformance.peers import torch_map
from conformance.processes.fleet import Fleet
from conformance.processes.sources import SpawnedSource
from conformance.trial.family import observe
from conformance.trial.replay import family_clauses, verdict_of
from tests.benchmarks.table import aligned, machine

ROOT = Path(__file__).resolve().parents[2]
RUNS = tuple((impl, tier) for tier in ("quick", "gate") for impl in ("torch", "reference"))


@dataclass(frozen=True)
class Row:
    """One way to go through scenarios: `run()` gives how many; `base` is the row it is compared with."""

    name: str
    run: Callable[[], int]
    base: str = "2"


@st.composite
def three_ranks(draw: st.DrawFn) -> Scenario:
    """The scenarios that are compared: 3 ranks, about 50 samples, one epoch, nothing read twice."""
    samples = draw(st.integers(40, 60))
    batch_size = draw(st.integers(1, 8))
    drop_last = draw(st.booleans())
    shuffle = draw(st.booleans())
    seed = draw(st.integers(0, 2**31 - 2)) if shuffle else 0
    return Scenario(samples, 3, batch_size, drop_last=drop_last, shuffle=shuffle, seed=seed)


@st.composite
def two_workers(draw: st.DrawFn) -> Scenario:
    """Scenarios with worker processes: one rank, one epoch, nothing read twice."""
    samples, batch_size = draw(st.integers(10, 20)), draw(st.integers(1, 3))
    return Scenario(samples, 1, batch_size, drop_last=draw(st.booleans()), num_workers=2)


def draw_each(strategy: st.SearchStrategy[Scenario], examples: int, take: Callable[[Scenario], object]) -> int:
    """Let Hypothesis draw so many scenarios, the same ones every time; returns how many it drew."""
    drawn = 0

    def each(scenario: Scenario) -> None:
        nonlocal drawn
        drawn += 1
        take(scenario)

    rules = settings(
        max_examples=examples,
        phases=(Phase.generate,),
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    hypothesis_seed(0)(rules(given(strategy)(each)))()
    return drawn


def read_bare(scenario: Scenario) -> None:
    """Read the epoch of every rank in this process, one after the other."""
    for rank in range(scenario.world_size):
        loader = torch_map.load(request_of(scenario, rank))
        loader.set_epoch(0)
        for _batch in loader:
            pass


def request_of(scenario: Scenario, rank: int) -> Request:
    """What a rank's loader is asked for."""
    return Request(
        dataset=MapDataset(scenario.samples),
        batch_size=scenario.batch_size,
        shuffle=scenario.shuffle,
        seed=scenario.seed,
        drop_last=scenario.drop_last,
        num_workers=scenario.num_workers,
        rank=rank,
        world_size=scenario.world_size,
        replication_factor=1,
        device_iterations=1,
        gradient_accumulation=1,
        asynchronous=False,
        workdir="",
    )


def judging(fleet: Fleet, family: str) -> Callable[[Scenario], None]:
    """What a campaign of the family does with a scenario."""
    clauses = family_clauses(family, fleet.claims)

    def judge(scenario: Scenario) -> None:
        trace = observe(fleet.lanes[0], FAMILIES[family], scenario)
        for clause in clauses:
            verdict, _ = verdict_of(fleet, fleet.claims, clause, trace)
            # torch's loader draws from the caller's generator, which ORDER-11, a SHOULD, says.
            assert not verdict or clause.level == "SHOULD", f"{clause.id} fires on {scenario.code}"

    return judge


def bare(strategy: st.SearchStrategy[Scenario], examples: int) -> Callable[[], int]:
    """The scenarios, drawn beforehand, and read in this process."""
    scenarios: list[Scenario] = []
    draw_each(strategy, examples, scenarios.append)

    def read() -> int:
        for scenario in scenarios:
            read_bare(scenario)
        return len(scenarios)

    return read


def rows(fleet: Fleet, examples: int) -> list[Row]:
    """The ways that are compared; those that draw and judge do so exactly as a campaign does."""
    few = max(1, examples // 20)
    judge, judge_workers = judging(fleet, "map"), judging(fleet, "workers")
    plain, working = three_ranks(), two_workers()
    return [
        Row("1 bare loader, in this process", bare(plain, examples)),
        Row("  Hypothesis drawing, nothing else", lambda: draw_each(plain, examples, lambda _: None)),
        Row("2 Hypothesis and the bare loader, in this process", lambda: draw_each(plain, examples, read_bare)),
        Row("3 the whole harness: Hypothesis, fleet and judges", lambda: draw_each(plain, examples, judge)),
        Row("  the map family as a run draws it", lambda: draw_each(map_style(fleet.claims), examples, judge)),
        Row("4 bare loader with two workers", bare(working, few), "4"),
        Row("5 the whole harness on it", lambda: draw_each(working, few, judge_workers), "4"),
    ]


def measure(ways: Sequence[Row], repetitions: int) -> list[float]:
    """The median rate of each way, in scenarios per second; every repetition goes through all ways in turn."""
    rates: list[list[float]] = [[] for _ in ways]
    for _ in range(repetitions):
        for way, found in zip(ways, rates, strict=True):
            start = time.perf_counter()
            number = way.run()
            found.append(number / (time.perf_counter() - start))
    return [median(found) for found in rates]


def whole_run(impl: str, tier: str) -> tuple[float, float]:
    """Seconds of the clock and of the processors that one run of pytest takes, its processes included."""
    command = [sys.executable, "-m", "pytest", "-q", str(ROOT / "conformance"), f"--impl={impl}", f"--tier={tier}"]
    with tempfile.TemporaryDirectory() as folder:
        before, start = _processor_seconds(), time.perf_counter()
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [*command, "-p", "no:cacheprovider"], cwd=folder, env=environment, capture_output=True, text=True
        )
        clock, processor = time.perf_counter() - start, _processor_seconds() - before
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} ended with exit code {done.returncode}:\n{done.stdout}{done.stderr}")
    return clock, processor


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def table(ways: Sequence[Row], rates: Sequence[float]) -> Iterator[str]:
    """The rates, and what each is of the rate of its base."""
    bases = {way.base: rate for way, rate in zip(ways, rates, strict=True) if way.name.startswith(way.base)}
    shown = [
        (way.name, f"{rate:,.0f}", f"{rate / bases[way.base]:.2f} of {way.base}")
        for way, rate in zip(ways, rates, strict=True)
    ]
    yield from aligned([("", "scenarios/s", "of row"), *shown])


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; never judges a time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=300, help="scenarios of one repetition (default 300)")
    parser.add_argument("--repetitions", type=int, default=7, help="repetitions of each row (default 7)")
    parser.add_argument("--no-runs", action="store_true", help="leave out the whole runs of pytest")
    given_ = parser.parse_args(arguments)
    print(machine("torch", "hypothesis", "pytest"), end="\n\n")
    with Fleet(SpawnedSource("torch"), patience=60.0) as fleet:
        ways = rows(fleet, given_.examples)
        measure(ways, 1)  # warm up: the members are forked, the caches filled
        rates = measure(ways, given_.repetitions)
    print("\n".join(table(ways, rates)), flush=True)
    if not given_.no_runs:
        print(f"\n{'whole runs, in seconds':<50}  clock  processors")
        for impl, tier in RUNS:
            clock, processor = whole_run(impl, tier)
            name = f"pytest conformance --impl={impl} --tier={tier}"
            print(f"{name:<50}  {clock:>5.1f}  {processor:>10.1f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
