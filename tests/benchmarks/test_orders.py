"""The benchmark of orders prints its tables, and the statistics of orders tell good ones from bad ones."""

from functools import partial

import numpy as np
import pytest

from reference.rules import feistel
from tests.benchmarks import order_quality, orders
from tests.benchmarks.many_orders import Shuffle, batches, by_network, by_sorting
from tests.benchmarks.order_statistics import LIMIT


@pytest.mark.deep
def test_every_way_has_a_row_in_every_table(capsys: pytest.CaptureFixture[str]) -> None:
    """Rates, waits and memory stand for each way, with a dash where no list is made."""
    assert 0 == orders.main(["--quick"])
    machine, rate, first, memory = capsys.readouterr().out.rstrip().split("\n\n")
    assert machine.startswith("machine: ")
    for name, table in ((orders.RATE, rate), (orders.FIRST, first), (orders.MEMORY, memory)):
        head, *rows = table.splitlines()
        assert head.split() == [*name.split(), "10^3", "10^12"]
        assert [way.name for way in orders.WAYS] == [
            row[: len(way.name)] for way, row in zip(orders.WAYS, rows, strict=True)
        ]
        assert ["-"] * 3 == [row.split()[-1] for row in rows[1:4]]


@pytest.mark.parametrize("n", [1, 2, 5, 9, 40])
def test_many_orders_at_once_are_those_of_the_reference(n: int) -> None:
    """What is counted is what the loader shuffles by."""
    seeds, epochs = np.array([3, 2**64 - 1], np.uint64), np.array([0, 7], np.uint64)
    for order, seed, epoch in zip(by_network(n, seeds, epochs).tolist(), (3, -1), (0, 7), strict=True):
        network = feistel.network(n, seed, epoch)
        assert [feistel.sample_at(network, place) for place in range(n)] == order


@pytest.mark.parametrize(
    ("n", "count", "shuffle", "passes"),
    [
        (8, 3_000, by_sorting, True),
        (8, 3_000, by_network, True),
        (8, 3_000, partial(by_network, rounds=8), False),
        (100, 500, by_sorting, True),
        (100, 500, by_network, True),
        (100, 2_000, partial(by_network, rounds=4), False),
    ],
)
def test_whole_orders_are_told_from_biased_ones(n: int, count: int, shuffle: Shuffle, passes: bool) -> None:
    """A sort of random keys and the rule's rounds stay within the limit, and too few rounds do not."""
    worst = max(abs(value) for _, value in order_quality.whole(shuffle, n, count, 0))
    assert passes == (worst < LIMIT)


@pytest.mark.parametrize(("n", "rounds", "passes"), [(10**9, None, True), (2**63 - 1, None, True), (10**9, 2, False)])
def test_stretches_are_told_from_biased_ones(n: int, rounds: int | None, passes: bool) -> None:
    """So it is with positions of an order of which nobody makes a list."""
    worst = max(abs(value) for _, value in order_quality.window(n, 2**15, 1, rounds))
    assert passes == (worst < LIMIT)


def test_scaling_32_bits_of_a_hash_shows_at_the_upper_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 2**63 - 1 samples the columns get one or two values of a hash each: that is why 64 bits are scaled there."""
    cut = order_quality._cut
    monkeypatch.setattr(
        order_quality,
        "_cut",
        lambda order, rounds: feistel.Network(order.samples, order.columns, order.rows, 32, cut(order, rounds).keys),
    )
    worst, name = max((abs(value), name) for name, value in order_quality.window(2**63 - 1, 2**20, 1, None))
    assert (True, "columns turned, wave 1") == (worst > LIMIT, name)


def test_the_command_says_what_passes_the_limit(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line for each size, and the exit code."""
    monkeypatch.setattr(order_quality, "WHOLE", ((8, 20_000),))
    monkeypatch.setattr(order_quality, "LARGE", (10**9,))
    assert [0, 1] == [order_quality.main(["--part=0.1", *more]) for more in ([], ["--rounds=8"])]
    assert capsys.readouterr().out.splitlines()[-1].endswith(" statistics, limit 7: 1 of the sizes pass it")


def test_batches_go_through_seeds_and_epochs() -> None:
    """Every pair comes once."""
    seen: list[tuple[int, int]] = []

    def noted(n: int, seeds: np.ndarray, epochs: np.ndarray) -> np.ndarray:
        seen.extend(zip(seeds.tolist(), epochs.tolist(), strict=True))
        return np.zeros((len(seeds), n), np.int64)

    list(batches(noted, 2**15, 2_500))
    assert [(at // 1_000, at % 1_000) for at in range(2_500)] == seen
