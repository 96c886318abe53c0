"""Can the orders without a list be told from a uniform shuffle? Many of them are counted, in many ways.

    python -m tests.benchmarks.order_quality                            some minutes
    python -m tests.benchmarks.order_quality --method feistel --rounds 8   what too few rounds look like
    python -m tests.benchmarks.order_quality --method sort              the control: random keys, sorted

For each n it prints how many orders were counted, or how long a stretch of one order, how many statistics were taken,
and the worst of them, in standard deviations. Exit code 1 if one passes the limit, which `order_statistics.py` derives.
"""

import argparse
import sys
from collections.abc import Iterator
from functools import partial

import numpy as np

from reference.rules import feistel, feistel_blocks
from tests.benchmarks.many_orders import Shuffle, batches, by_network, by_sorting
from tests.benchmarks.order_statistics import LIMIT, Statistic, Sums, of_window

# n, and of how many orders: some millions of cells each, and enough for all permutations up to 8 samples.
WHOLE = (
    *((n, 1_000_000) for n in (2, 3, 4, 5, 6, 7, 8)),
    *((n, 300_000) for n in (9, 12, 16, 17)),
    *((n, 100_000) for n in (25, 36, 64, 100)),
    (1_000, 3_000),
    (1_024, 3_000),
    (10_007, 300),
)
LARGE = (10**8 + 7, 10**9, 2**32 + 1, 10**12 + 39, 2**53 - 1, 3 * 2**52, 2**57 + 1, 5 * 2**60 + 3, 2**63 - 1)
WINDOW = 2**21


def whole(shuffle: Shuffle, n: int, count: int, first_seed: int) -> list[Statistic]:
    """The statistics of so many whole orders."""
    sums = Sums(n)
    for orders in batches(shuffle, n, count, first_seed=first_seed):
        sums.add(orders)
    return list(sums.statistics())


def window(n: int, count: int, seed: int, rounds: int | None) -> list[Statistic]:
    """The statistics of a stretch in the midst of an order, and of the same one in the next epoch."""
    first = n // 3
    made = [
        feistel_blocks.samples_at(_cut(feistel_blocks.network(n, seed, epoch), rounds), range(first, first + count))
        for epoch in (0, 1)
    ]
    return list(of_window(n, first, *made))


def _cut(order: feistel.Network, rounds: int | None) -> feistel.Network:
    return feistel.Network(order.samples, order.columns, order.rows, order.hash_bits, order.keys[:rounds])


def lines(method: str, rounds: int | None, part: float, seed: int) -> Iterator[tuple[str, list[Statistic]]]:
    """What is counted, and its statistics; `part` of all orders."""
    shuffle = by_sorting if method == "sort" else partial(by_network, rounds=rounds)
    for n, count in WHOLE:
        orders = max(100, int(count * part))
        yield f"n {n:,}, {orders:,} orders", whole(shuffle, n, orders, seed)
    # A sorted order of so many can't be had.
    for n in LARGE if method == "feistel" else ():
        size = max(4096, int(WINDOW * part))
        yield f"n {n:,}, {size:,} positions", window(n, size, seed, rounds)


def main(words: list[str]) -> int:
    """Count, and print a line for each n. The exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--method", choices=("feistel", "sort"), default="feistel")
    parser.add_argument("--rounds", type=int, help="an even number of rounds instead of the rule's")
    parser.add_argument("--part", type=float, default=1.0, help="count this part of all orders (default 1)")
    parser.add_argument("--seed", type=int, default=0, help="first seed; others have other orders (default 0)")
    given = parser.parse_args(words)
    passed, number = [], 0
    for what, statistics in lines(given.method, given.rounds, given.part, given.seed):
        name, worst = max(statistics, key=lambda each: abs(each[1]))
        number += len(statistics)
        mark = "  PASSES THE LIMIT" if abs(worst) > LIMIT else ""
        passed += [what] if mark else []
        print(f"{what:<48} {len(statistics):>3} statistics, worst {worst:>8.1f}  {name}{mark}", flush=True)
    print(f"{number} statistics, limit {LIMIT:g}: {len(passed)} of the sizes pass it")
    return 1 if passed else 0


if __name__ == "__main__":
    np.seterr(all="raise", over="ignore")
    sys.exit(main(sys.argv[1:]))
