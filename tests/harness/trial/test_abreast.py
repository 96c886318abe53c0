"""Scenarios run two abreast: what came of each, in which order, and what ends it."""

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.trial.abreast import Abreast

LANES: Any = [SimpleNamespace(number=number) for number in range(6)]
MANY = range(40)


def observed(lane: Any, scenario: int) -> Any:
    """What a scenario delivers: its number and its lane."""
    return SimpleNamespace(told=(scenario, lane.number), hung=False)


def test_each_scenario_gets_its_own() -> None:
    """Even ones run in one lane and odd ones in another, and lane 0 stays for what a verdict asks for."""
    with Abreast(observed, LANES, MANY) as abreast:
        told = [abreast.of(scenario).told for scenario in MANY]  # type: ignore[union-attr]
    assert [(scenario, 1 + scenario % 2) for scenario in MANY] == told


def test_few_are_not_worth_it() -> None:
    """For a handful of scenarios no more processes are started."""
    with Abreast(observed, LANES, range(10)) as abreast:
        assert [None] * 10 == [abreast.of(scenario) for scenario in range(10)]


def test_what_is_not_asked_for_is_forgotten() -> None:
    """A scenario that is left out doesn't delay those behind it."""
    with Abreast(observed, LANES, MANY) as abreast:
        told = [abreast.of(scenario).told for scenario in MANY if scenario % 7 == 0]  # type: ignore[union-attr]
    assert [scenario for scenario in MANY if scenario % 7 == 0] == [scenario for scenario, _ in told]


def test_nothing_is_run_ahead_behind_a_hang() -> None:
    """Only the few that were begun with it are known; the others are left to be counted one by one."""
    hangs = SimpleNamespace(told="", hung=True)
    with Abreast(lambda lane, scenario: hangs, LANES, MANY) as abreast:  # type: ignore[arg-type,return-value]
        came = [abreast.of(scenario) for scenario in MANY]
    assert hangs is came[0]
    assert [None] * 30 == came[10:]


def test_an_error_comes_at_its_scenario() -> None:
    """What ends the run ends it where it would without a second lane."""

    def fails(lane: Any, scenario: int) -> Any:
        if scenario == 5:
            raise LookupError("the sixth")
        return observed(lane, scenario)

    with Abreast(fails, LANES, MANY) as abreast:
        came = [abreast.of(scenario) for scenario in range(5)]
        with pytest.raises(LookupError, match="the sixth"):
            abreast.of(5)
    assert None not in came


def test_no_thread_is_left() -> None:
    """A run that ends early leaves nothing behind."""
    before = threading.active_count()
    with Abreast(observed, LANES, MANY) as abreast:
        abreast.of(0)
    assert before == threading.active_count()
