"""What a script says of a stream whose ranks have equal steps: as the judges, it lets padding pass."""

from types import SimpleNamespace

import pytest

from conformance.report.script.checks.workers import order_within_a_worker, split_over_workers

# Of 5 elements; rank 1 is filled up with element 0.
ORDERS = {"padded": ([0, 2, 4], [1, 3, 0]), "lost": ([0, 2], [1, 3]), "backwards": ([0, 2, 4], [3, 1, 0])}


def said(order: str, policy: str) -> list[str]:
    """What the checks of WORK-3 and WORK-6 say."""
    case = SimpleNamespace(samples=5, world_size=2, num_workers=0, drop_last=False, evens=True, policy=policy)
    epochs = [SimpleNamespace(number=0, steps=[[each] for each in samples]) for samples in ORDERS[order]]
    runs = {"main": [SimpleNamespace(epochs=[each], failure=None, reads=[]) for each in epochs]}
    return [check(case, runs) for check in (split_over_workers, order_within_a_worker)]


@pytest.mark.parametrize(("order", "policy"), [("padded", "pad"), ("lost", "drop")])
def test_what_equal_steps_cost_is_no_fault_of_a_worker(order: str, policy: str) -> None:
    """What comes again, or does not come, makes ranks equal; EQUAL-2 bounds it."""
    assert ["", ""] == said(order, policy)


def test_what_is_out_of_order_is_a_fault_beside_padding() -> None:
    """Only what comes again is left out, and without padding nothing may come again."""
    assert "delivers what no 0 workers read" in said("backwards", "pad")[1]
    assert "element 0 comes 2 times" == said("padded", "drop")[0]
