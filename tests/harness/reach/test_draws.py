"""Samples that are drawn: what chance explains, and what each judge makes of epochs that were written by hand."""

from random import Random
from typing import Any

import pytest
from hypothesis import given

from conformance.contract import parse_claims
from conformance.loader.asked import arguments_of
from conformance.loader.scenario import Scenario, from_code, simpler
from conformance.reach import draws
from conformance.reach.chances import can_not_be_alike, improbable, must_repeat, shares
from conformance.trace import Epoch, RankRun, Run, Trace
from tests.harness.tried import drawn

CLAIMS = parse_claims(dict(sampling="replacement", hooks="weights", when_keeping="drop", epochs="set_epoch"))
WEIGHTED = Scenario(4, shuffle=True, epochs=300, conduct="weighted")


def trace_of(scenario: Scenario, *ranks: list[list[int]]) -> Trace:
    """What the ranks delivered, epoch by epoch, in steps of one sample."""
    runs = (
        RankRun(rank, tuple(Epoch(at, tuple((index,) for index in epoch)) for at, epoch in enumerate(epochs)))
        for rank, epochs in enumerate(ranks)
    )
    return Trace(scenario, (Run("main", tuple(runs)),))


def kinds(judge: Any, trace: Trace) -> list[str]:
    """The kinds of finding that a judge makes of a trace."""
    return [finding.kind for finding in judge(trace.scenario, CLAIMS, trace)]


def by_weight(weights: list[float], seed: int = 0) -> list[list[int]]:
    """300 epochs of 4 samples, drawn by these weights."""
    generator = Random(seed)
    return [generator.choices(range(4), weights, k=4) for _ in range(300)]


def test_weights_are_asked_for_by_the_conduct_alone() -> None:
    """They come again after four samples; without the conduct the request says nothing of them."""
    assert (1.0, 0.0, 2.0, 4.0, 1.0) == arguments_of(simpler(WEIGHTED, samples=5), 0)["weights"]
    assert "weights" not in arguments_of(simpler(WEIGHTED, conduct=""), 0)
    assert [0.25, 0, 0.5, 0.25] == shares(4, (1, 0, 2, 1))


@pytest.mark.parametrize("seed", range(5))
def test_draws_by_weight_are_right(seed: int) -> None:
    """No judge finds anything in draws that are what they should be."""
    trace = trace_of(WEIGHTED, by_weight([1, 0, 2, 4], seed))
    assert [[], [], [], []] == [
        kinds(judge, trace)
        for judge in (draws.number_drawn, draws.nothing_of_no_weight, draws.drawn_by_weight, draws.drawn_anew)
    ]


def test_other_weights_are_seen() -> None:
    """Equal chances are not 1, 2 and 4; a chance of one in a hundred is not none."""
    assert ["frequencies"] == kinds(draws.drawn_by_weight, trace_of(WEIGHTED, by_weight([1, 0, 1, 1])))
    assert ["no-weight"] == kinds(draws.nothing_of_no_weight, trace_of(WEIGHTED, by_weight([1, 0.07, 2, 4])))


def test_more_balanced_draws_are_right() -> None:
    """A sample that comes exactly as often as it is due strays less than by chance, which is no fault."""
    plain = simpler(WEIGHTED, samples=2, conduct="")
    assert [] == kinds(draws.drawn_by_weight, trace_of(plain, [[0, 0], [1, 1]] * 150))


def test_what_never_comes_again_was_not_drawn() -> None:
    """Shuffles are told from draws where so many of those can't all be without a repeat."""
    plain = simpler(WEIGHTED, conduct="")
    shuffles = [Random(at).sample(range(4), 4) for at in range(300)]
    assert ["frequencies"] == kinds(draws.drawn_by_weight, trace_of(plain, shuffles))
    assert (True, False) == (must_repeat([4] * 30, 4), must_repeat([4] * 10, 4))


def test_ranks_that_draw_alike_are_seen() -> None:
    """In the same order or in another, and where they agree too often; small streams may be alike by chance."""
    scenario = Scenario(64, 2, shuffle=True)
    one = Random(1).choices(range(64), k=20)
    other = Random(2).choices(range(64), k=20)
    for second, expected in ((one, ["ranks-alike"]), (one[::-1], ["ranks-alike"]), (other, [])):
        assert expected == kinds(draws.drawn_anew, trace_of(scenario, [one], [second]))
    most = [*one[:15], *other[:5]]
    assert ["ranks-alike"] == kinds(draws.drawn_anew, trace_of(scenario, [one], [most]))
    assert (False, True) == (can_not_be_alike(4, 1 / 64), can_not_be_alike(20, 1 / 64))


def test_a_threshold_lies_where_it_is_said_to() -> None:
    """Chernoff's bound: some draws with a chance of 0.4 and no hit are possible, one more is not."""
    at = next(trials for trials in range(1, 200) if improbable(0, trials, 0.4))
    assert 0.6**at < 1e-14 <= 0.6 ** (at - 1)


@given(drawn("draws", CLAIMS))
def test_a_code_reads_back(scenario: Scenario) -> None:
    """Whatever is drawn is replayed by its code alone, and asks for a shuffle."""
    assert scenario == from_code(scenario.code)
    assert scenario.shuffle
