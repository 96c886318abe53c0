"""A consumer whose orders fill the line to a producer: its timeout fires, and two that send don't wait for each other.

Each runs in a child, so that a hang is a failed test and not a hang of the tests.
"""

from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from tests.reference.ahead.async_probes import in_child, told, until_error
from tests.reference.ahead.test_accessor_ends import loader
from tests.reference.loading.test_faults import Faulty, hang, throw

TEXT = "x" * 1_000_000


def fails(line: Connection, act: Any, batch_size: int, slots: int) -> None:
    """Read until there is an error, and tell its type, and how many steps came before."""
    dataset = Faulty(100 * batch_size, batch_size, act)
    made = loader(dataset, batch_size, async_options={"buffer_size": slots}, timeout=2)
    steps, error = until_error(iter(made))
    made.terminate()
    line.send((len(steps), type(error).__name__))


def test_the_timeout_fires_although_orders_fill_the_line() -> None:
    """A producer that hangs reads none of them (ERROR-7)."""
    with in_child(fails, hang, 100_000, 3) as (_, line):
        assert told(line) == (1, "RuntimeError")


def test_a_large_order_and_a_large_failure_may_meet() -> None:
    """One waits for the other at most (ASYNC-7)."""
    with in_child(fails, partial(throw, KeyError, TEXT), 100_000, 4) as (_, line):
        assert told(line) == (1, "KeyError")
