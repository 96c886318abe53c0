"""How long the order of an epoch takes, and what it holds: by a network, by sorting, by torch, numpy and grain.

    python -m tests.benchmarks.orders

takes some minutes, prints three tables and writes them into README.md. Each figure is taken in a process of its own,
and a round takes each once. `index` methods answer for a stretch of positions in the midst of the epoch; `whole`
methods make the list first, which is also what their first thousand samples wait for. A list that needs more than half
of the memory that is free, or has more than `--longest` samples, is not made.
"""

import argparse
import os
import re
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch

from reference.rules import feistel_blocks
from reference.rules.shuffle import permutation
from tests.benchmarks.figures import Figure, Result, take_all
from tests.benchmarks.table import aligned, machine, rewrite

ROOT = Path(__file__).resolve().parents[2]
RATE, FIRST, MEMORY = "million indices/s", "first 1,000 indices, ms", "memory it adds, MiB"
SIZES = (10**4, 10**6, 10**8, 10**9, 10**12)
QUICK = (10**3, 10**12)
_FIRST = 1_000
_SECONDS = 0.5  # for as long a rate is taken, at the least


@dataclass(frozen=True)
class Way:
    """A way to shuffle: `index` is given n, a first position and how many; `whole` makes the list of n samples."""

    name: str
    index: Callable[[int, int, int], object] | None = None
    whole: Callable[[int], object] | None = None
    bytes_a_sample: int = 0
    stretch: int = 2**20
    """Positions that are asked for at once."""


def by_network(n: int, first: int, count: int) -> object:
    """The reference's order without a list, its keys included."""
    return feistel_blocks.samples_at(feistel_blocks.network(n, 1, 0), range(first, first + count))


def by_grain(n: int, first: int, count: int) -> object:
    """grain's index shuffle, an index a call. Unavailable without grain."""
    from grain._src.python.experimental.index_shuffle.python import index_shuffle_module

    shuffle = index_shuffle_module.index_shuffle
    return [shuffle(at, max_index=n - 1, seed=1, rounds=4) for at in range(first, first + count)]


WAYS = (
    Way("network, without a list", index=by_network),
    Way("sort of keys", whole=lambda n: permutation(n, 1, 0), bytes_a_sample=32),
    Way("torch.randperm", whole=torch.randperm, bytes_a_sample=8),
    Way("numpy permutation", whole=lambda n: np.random.default_rng(1).permutation(n), bytes_a_sample=8),
    Way("grain index_shuffle", index=by_grain, stretch=2_000),
)


def take(way: Way, n: int, longest: int) -> tuple[float, float, float]:
    """Rate, wait and memory of a way for n samples. Raises NotImplementedError for a list that is too long."""
    if way.index is not None:
        return _of_index(way.index, n, min(n, way.stretch))
    assert way.whole is not None
    if n > longest or n * way.bytes_a_sample > _free() / 2:
        raise NotImplementedError(f"A list of {n:,} is not made.")
    return _of_list(way.whole, n)


def _of_index(index: Callable[[int, int, int], object], n: int, stretch: int) -> tuple[float, float, float]:
    index(100, 0, 10)  # what is imported and compiled once is no part of an epoch
    first = (n - stretch) // 3
    waited = min(_timed(partial(index, n, first, min(n, _FIRST))) for _ in range(5))
    before = _peak()
    times = [_timed(partial(index, n, first, stretch))]
    while sum(times) < _SECONDS:
        times.append(_timed(partial(index, n, first, stretch)))
    return stretch / min(times) / 1e6, waited * 1e3, (_peak() - before) / 2**20


def _of_list(whole: Callable[[int], object], n: int) -> tuple[float, float, float]:
    whole(100)
    before = _peak()
    times = [_timed(partial(whole, n))]
    while sum(times) < _SECONDS:
        times.append(_timed(partial(whole, n)))
    return n / min(times) / 1e6, min(times) * 1e3, (_peak() - before) / 2**20


def _timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _peak() -> int:
    """The most bytes that this process has held; it was forked a moment ago, so its start is what it holds then."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _free() -> int:
    found = re.search(r"MemAvailable: +(\d+) kB", Path("/proc/meminfo").read_text())
    return int(found[1]) * 1024 if found else 0


def as_text(head: str, sizes: Sequence[int], results: Sequence[Result]) -> str:
    """A table for each of the three figures; a dash stands where none was taken."""
    found = {(each.section, each.name): each for each in results}
    parts = [head]
    for name in (RATE, FIRST, MEMORY):
        rows = [(name, *map(_power, sizes))]
        for way in WAYS:
            cells = [found[f"{way.name}, {n}", name].median for n in sizes]
            rows.append((way.name, *("-" if cell is None else _cell(cell) for cell in cells)))
        parts.append("\n".join(aligned(rows)))
    return "\n\n".join([*parts, *_failures(results)])


def _power(n: int) -> str:
    return f"10^{len(str(n)) - 1}"


def _cell(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _failures(results: Sequence[Result]) -> Iterator[str]:
    yield from dict.fromkeys(f"{each.section}: {each.failed}" for each in results if each.failed)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and show. Exit code 1 if something failed; how fast anything is, decides nothing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="how often each figure is taken (default 3)")
    parser.add_argument("--longest", type=int, default=10**8, help="the longest list that is made (default 10^8)")
    parser.add_argument("--quick", action="store_true", help="small sizes, once: shows that it works, not how fast")
    parser.add_argument("--no-readme", action="store_true", help="leave README.md as it is, as --quick does")
    asked = parser.parse_args(arguments)
    sizes, rounds = (QUICK, 1) if asked.quick else (SIZES, asked.rounds)
    torch.set_num_threads(1)
    load = os.getloadavg()[0]
    figures = [
        Figure(f"{way.name}, {n}", (RATE, FIRST, MEMORY), partial(take, way, n, asked.longest), once=n > 10**7)
        for way in WAYS
        for n in sizes
    ]
    results = take_all(figures, rounds, 600.0)
    loads = f"load average {load:.1f} before, {os.getloadavg()[0]:.1f} after"
    head = f"{machine('torch', 'numpy', 'grain')}\none thread; {loads}"
    text = as_text(head, sizes, results)
    print(text)
    if not (asked.quick or asked.no_readme):
        rewrite(ROOT / "README.md", "orders", f"<!-- not run: figures differ from run to run -->\n```text\n{text}\n```")
    return 1 if any(each.failed for each in results) else 0


if __name__ == "__main__":
    sys.exit(main())
