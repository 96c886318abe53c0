"""How fast loaders deliver: torch's, torchdata's, ours in every mode, and what the machine's memory allows at most.

    python -m tests.benchmarks.throughput

takes some minutes, prints tables and writes them into README.md, section "Speed". Every figure is taken in a process of
its own (`children.py`); a round takes each figure once, so that a machine that is busy for a while is busy for all of
them, and medians of the rounds are compared (`targets.py`). Nothing is downloaded.
"""

import argparse
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch

from reference import DataLoaderMode
from tests.benchmarks.figures import Figure, Result, medians, take_all
from tests.benchmarks.images import Encoded, Load, Slow, in_memory
from tests.benchmarks.measures import (
    first_item,
    first_items,
    idle_consumer,
    idle_family,
    memory_use,
    new_interpreters,
    rate,
)
from tests.benchmarks.results import as_json, as_text
from tests.benchmarks.table import machine, rewrite
from tests.benchmarks.targets import (
    FIRST,
    GROWTH,
    INTERPRETER,
    MEMORY,
    NEXT,
    PAUSED,
    RESTING,
    STARTS,
    WAITING,
    Target,
    cost_targets,
    decoding_targets,
    rate_targets,
    start_targets,
)
from tests.benchmarks.ways import BUFFER_SIZE, Way, limits, our_way, our_ways, start_ways, torch_ways

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Sizes:
    """How much is read; `seconds` is for how long a rate is taken, `epochs` how often the memory is filled anew."""

    samples: int
    batch_size: int
    device_iterations: int
    encoded: int
    encoded_iterations: int
    seconds: float
    pause: float
    epochs: int
    patience: float
    spawns: bool


FULL = Sizes(10_000, 16, 50, 1600, 5, 1.0, 2.0, 50, patience=300.0, spawns=True)
QUICK = Sizes(80, 2, 5, 24, 2, 0.0, 0.1, 4, patience=60.0, spawns=False)
REPLICAS = (1, 4)
STARTED = (1, 2, 8)  # workers whose start is measured


@dataclass(frozen=True)
class Loads:
    """What is read: the tutorial's load for each number of replicas, images to decode, and samples that are slow."""

    tutorial: tuple[Load, ...]
    decoding: Load
    slow: Load


def make_loads(sizes: Sizes) -> Loads:
    """Make each dataset once."""
    dataset = in_memory(sizes.samples)
    tutorial = tuple(
        Load(f"tutorial, {r} replica{'s' if r > 1 else ''}", dataset, sizes.batch_size, sizes.device_iterations, r)
        for r in REPLICAS
    )
    encoded = Load("decoding", Encoded(sizes.encoded), sizes.batch_size, sizes.encoded_iterations, shuffle=True)
    return Loads(tutorial, encoded, Load("slow", Slow(4, sizes.pause), 1, 1))


def plan(sizes: Sizes, loads: Loads, threads: int) -> Iterator[Figure]:
    """Everything that is measured, in the order of the tables."""
    for load in loads.tutorial:
        # One worker of torch's is slower than two; with it, this table would be long and say no more.
        kept = [way for way in torch_ways() if way.workers != 1]
        for way in [*kept, *our_ways(), *limits()]:
            yield Figure(load.name, (way.name,), partial(rate, way, load, sizes.seconds, threads))
    for way in [*torch_ways(), *our_ways()]:
        take = partial(rate, way, loads.decoding, sizes.seconds, threads)
        yield Figure(loads.decoding.name, (way.name,), take)
    for who, way, epochs in (
        ("ours", our_way(DataLoaderMode.Async, 2), sizes.epochs),
        ("torch", next(way for way in torch_ways() if way.workers == 2), 3),
    ):
        yield from _costs(f"costs, {who}", way, sizes, loads, threads, epochs)
    if sizes.spawns:
        yield Figure(STARTS, (INTERPRETER, INTERPRETER + NEXT), new_interpreters)
    for workers in STARTED:
        for way in start_ways(workers, sizes.spawns):
            yield Figure(STARTS, (way.name, way.name + NEXT), partial(first_items, way, loads.tutorial[0], threads))


def _costs(section: str, way: Way, sizes: Sizes, loads: Loads, threads: int, epochs: int) -> Iterator[Figure]:
    load = loads.tutorial[0]
    yield Figure(section, (FIRST,), partial(first_item, way, load, 0.0, threads))
    yield Figure(section, (PAUSED,), partial(first_item, way, load, sizes.pause, threads))
    yield Figure(section, (WAITING,), partial(idle_consumer, way, loads.slow))
    yield Figure(section, (RESTING,), partial(idle_family, way, load, sizes.pause))
    yield Figure(section, (MEMORY, GROWTH), partial(memory_use, way, load, epochs), once=True)


def all_targets(loads: Loads, results: Sequence[Result]) -> list[Target]:
    """Every target, with what this run found."""
    first = loads.tutorial[0]
    ring = BUFFER_SIZE * first.step * first.sample_bytes
    rates = [each for load in loads.tutorial for each in rate_targets(load.replicas, medians(results, load.name))]
    decoding = decoding_targets(medians(results, loads.decoding.name))
    costs = cost_targets(medians(results, "costs, ours"), medians(results, "costs, torch"), ring)
    starts = [each for workers in STARTED for each in start_targets(workers, medians(results, STARTS))]
    return [*rates, *decoding, *costs, *starts]


def where(sizes: Sizes, rounds: int, load_before: float) -> str:
    """The machine, how busy it was before and is now (the benchmark itself adds 1 to 2), and what was read."""
    return (
        f"{machine('torch', 'torchdata', 'pillow')}\n"
        f"load average {load_before:.1f} before, {os.getloadavg()[0]:.1f} after\n"
        f"tutorial: {sizes.samples:,} x 1 x 128 x 128 float32, micro-batch {sizes.batch_size}, "
        f"{sizes.device_iterations} device iterations; decoding: {sizes.encoded:,} PNG files, shuffled, "
        f"{sizes.encoded_iterations} device iterations; medians of {rounds} round{'s' if rounds > 1 else ''}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and show. Exit code 1 if a figure could not be taken since something failed; targets decide nothing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="how often each figure is taken (default 5)")
    parser.add_argument("--json", action="store_true", help="print JSON, with the figures of every round")
    parser.add_argument("--quick", action="store_true", help="read very little: shows that it works, not how fast")
    parser.add_argument("--only", default="", help="take the figures that match this pattern: 'tutorial, 1.*Async'")
    parser.add_argument("--no-readme", action="store_true", help="leave README.md as it is, as --quick and --only do")
    asked = parser.parse_args(arguments)
    if asked.rounds < 1:
        parser.error(f"--rounds is {asked.rounds}, but a figure must be taken at least once: give 1 or more.")
    sizes = QUICK if asked.quick else FULL
    threads = torch.get_num_threads()
    # Before the first use of several threads: a process that has used them can't be forked and use them again.
    torch.set_num_threads(1)
    load_before = os.getloadavg()[0]
    loads = make_loads(sizes)
    figures = [each for each in plan(sizes, loads, threads) if re.search(asked.only, each.title)]
    results = take_all(figures, asked.rounds, sizes.patience)
    targets = all_targets(loads, results)
    head = where(sizes, asked.rounds, load_before)
    text = as_text(head, results, {load.name: load.sample_bytes for load in (*loads.tutorial, loads.decoding)}, targets)
    print(json.dumps(as_json(head, asked.rounds, results, targets), indent=1) if asked.json else text)
    if not (asked.quick or asked.only or asked.no_readme):
        rewrite(ROOT / "README.md", "speed", f"<!-- not run: figures differ from run to run -->\n```text\n{text}\n```")
    return 1 if any(each.failed for each in results) else 0


if __name__ == "__main__":
    sys.exit(main())
