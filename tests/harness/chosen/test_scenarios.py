"""What the families of chapter 11 ask for: each case is told by its code, and holds what its words say."""

from typing import Any, ClassVar

import pytest

from conformance.chosen import judges_mixtures, judges_streams
from conformance.chosen.scenario import (
    ChosenScenario,
    from_code,
    groups_of,
    indices_of,
    indices_of_second,
    shards_of,
    sizes_of,
    sources_of,
    too_large,
    weights_of,
)
from conformance.clauses import CLAUSES, FAMILIES
from conformance.contract import Claims
from conformance.processes.fleet import Fleet
from conformance.processes.sources import source_of
from conformance.trace import Epoch, RankRun, Run, Trace, from_json, to_json
from conformance.trial.family import observe
from tests.harness.tried import listed
from tests.known_bad.subsets import OfSubsets

EVERYTHING = Claims(
    datasets=("map", "iterable"),
    shuffle="global",
    workers=True,
    iterable_workers="split",
    resume=True,
    epochs="set_epoch",
    hooks=("persistent_workers", "set_epoch"),
    batches=("grouped", "budget", "at_least"),
    stream_shuffle="buffered",
    subsets=True,
    mixtures=("first_exhausted", "all_exhausted"),
)
OWN = ("batches", "streams", "subsets", "mixtures")


@pytest.mark.parametrize("family", OWN)
def test_a_case_is_told_by_its_code_and_by_its_fields(family: str) -> None:
    """What is tried is read back from its code, and from a trace in JSON."""
    for scenario in listed(family, EVERYTHING):
        assert scenario == FAMILIES[family].read(scenario.code)
        trace = Trace(scenario, (Run("main", ()),))
        assert trace == from_json(to_json(trace))


@pytest.mark.parametrize(
    ("family", "code", "sentence"),
    [
        ("batches", "n9,w1,b1,keep,subset", "is about subset, and this clause about grouped or budget or at_least"),
        ("subsets", "n9,w1,b1,subset", "does not say drop_last"),
        ("subsets", "n9,w1,b1,keep", "does not say about"),
        ("subsets", "n9,w1,b1,keep,subset,with=sideways", "'sideways' in the case"),
        ("mixtures", "n2,w1,b1,keep,mixture,g3", "has sources without samples; say at least n3"),
    ],
)
def test_a_code_of_something_else_is_refused(family: str, code: str, sentence: str) -> None:
    """The sentence says what is wrong with it."""
    with pytest.raises(ValueError, match=r".") as error:
        FAMILIES[family].read(code)
    assert sentence in str(error.value)


def test_groups_take_turns_and_one_may_be_alone() -> None:
    """Group 2 of two groups is the last sample's own."""
    assert (0, 1, 0, 1, 2) == groups_of(from_code("n5,w1,b2,keep,grouped,g2,with=lone"))


def test_no_size_is_above_the_budget_but_those_that_are_meant() -> None:
    """The middle sample and the last one have no room."""
    scenario = from_code("n7,w1,b1,keep,budget,t3,with=large+larger")
    assert [3, 6] == too_large(scenario) == [at for at, size in enumerate(sizes_of(scenario)) if size > 3]


def test_shards_and_sources_hold_everything_once() -> None:
    """They lie behind each other."""
    assert (range(0, 2), range(2, 4), range(4, 7)) == shards_of(from_code("n7,w1,b1,keep,stream,g3"))


def test_two_loaders_have_complements_or_all() -> None:
    """The second one has what the first has not."""
    beside, whole = (from_code(f"n5,w1,b1,keep,subset,with={word}") for word in ("backwards+beside", "whole"))
    assert ([4, 2, 1], [0, 3]) == (indices_of(beside), indices_of_second(beside))
    assert [*range(5)] == indices_of(whole) == indices_of_second(whole)


def test_weights_add_up_to_one() -> None:
    """Equal ones, or those of the later sources larger."""
    assert (0.5, 0.5) == weights_of(from_code("n4,w1,b1,keep,mixture,g2"))
    assert (1 / 3, 2 / 3) == weights_of(from_code("n8,w1,b1,keep,mixture,g2,with=weighted"))
    assert (0.999, 0.001) == weights_of(from_code("n8,w1,b1,keep,mixture,g2,with=rare"))
    assert (1.0,) == weights_of(from_code("n8,w1,b1,keep,mixture,with=rare"))
    assert (range(498), range(498, 500)) == sources_of(from_code("n500,w1,b1,keep,mixture,g2,with=rare"))


@pytest.mark.parametrize("word", ["reused", "gone"])
def test_a_loader_comes_behind_another_one(word: str) -> None:
    """What is written down, and judged, are the epochs and the reads of the second one."""
    (rank,) = _read(OfSubsets, f"n5,w1,b3,keep,subset,with={word}").ranks
    assert (((1, 2, 4),), [1, 2, 4]) == (rank.epochs[0].steps, [read.index for read in rank.reads])


@pytest.mark.parametrize("word", ["reused", "gone"])
def test_a_list_comes_again(word: str) -> None:
    """A loader that knows a list by its address delivers what the one before it was asked for."""
    (rank,) = _read(KnowsAListByItsAddress, f"n5,w1,b3,keep,subset,with={word}").ranks
    assert ((2, 3, 0),) == rank.epochs[0].steps


class KnowsAListByItsAddress(OfSubsets):
    """What a list holds is kept with the class, by the address of the list."""

    kept: ClassVar[dict[int, list[int]]] = {}

    def indices(self) -> list[int]:
        return self.kept.setdefault(id(self.request.indices), super().indices())


def _read(loader: Any, code: str) -> Run:
    source, _ = source_of(loader)
    with Fleet(source) as fleet:
        return observe(fleet.lanes[0], FAMILIES["subsets"], from_code(code)).main


def test_a_stream_is_large_enough_for_chance_by_the_least_of_its_orders() -> None:
    """A buffer of two elements has 2^34 orders of 35, and 14! are those of 14 shards."""
    beyond = judges_streams._is_beyond_chance
    shards = Claims(datasets=("iterable",), stream_shuffle="shards")
    assert [False, True] == [beyond(from_code(f"n{n},w1,b1,keep,stream,shuffle"), EVERYTHING) for n in (34, 35)]
    assert [False, True] == [beyond(from_code(f"n90,w1,b1,keep,stream,shuffle,g{g}"), shards) for g in (13, 14)]
    assert not beyond(from_code("n64,w2,b1,keep,stream,shuffle"), EVERYTHING)


@pytest.mark.parametrize(("shares", "told"), [([67, 133, 200], ""), ([200, 200, 200], "200 samples of source 0")])
def test_shares_are_out_of_proportion_where_chance_is_no_excuse(shares: list[int], told: str) -> None:
    """Weights of 1, 2 and 3 sixths."""
    scenario = from_code("n600,w1,b1,keep,mixture,g3,with=weighted")
    assert judges_mixtures._out_of_proportion(scenario, shares).startswith(told)
    assert bool(told) == bool(judges_mixtures._out_of_proportion(scenario, shares))


@pytest.mark.parametrize(("steps", "is_judged"), [(((0,), (1,)), False), (((0,), (1,), (2,)), True)])
def test_a_state_of_the_last_step_may_mean_the_next_epoch(steps: tuple[tuple[int, ...], ...], is_judged: bool) -> None:
    """A mixture of two steps that gives them again after its state is not accused (MIX-8); one of three is."""
    scenario = from_code(f"n{len(steps)},w1,b1,keep,mixture,with=saved")
    runs = [Run(name, (RankRun(0, (Epoch(0, given),)),)) for name, given in (("main", steps * 2), ("unbroken", steps))]
    assert is_judged is bool(judges_mixtures.resumes(scenario, EVERYTHING, Trace(scenario, tuple(runs))))


@pytest.mark.parametrize(("length", "is_right"), [(1, True), ("TypeError", True), ("ValueError", False)])
@pytest.mark.parametrize("clause", ["GROUP-10", "MIX-9", "SUBSET-6"])
def test_a_length_that_is_not_known_raises_type_error(clause: str, length: int | str, is_right: bool) -> None:
    """What else is raised breaks `list(loader)`; a loader that says nothing of its length is judged all the same."""
    about = {"GROUP-10": "grouped", "MIX-9": "mixture", "SUBSET-6": "subset"}[clause]
    epoch = Epoch(0, ((0,),), length=length)
    trace = Trace(ChosenScenario(1, about), (Run("main", (RankRun(0, (epoch,)),)),))
    assert is_right == ([] == CLAUSES[clause].judge(trace.scenario, EVERYTHING, trace))


def test_no_epoch_is_left_where_the_next_one_would_not_be_known() -> None:
    """A loader of mixtures that counts its epochs by itself has nothing for LEFT-1 to compare."""
    claims = [Claims(mixtures=("first_exhausted",), epochs=epochs) for epochs in ("automatic", "set_epoch")]
    assert [False, True] == [CLAUSES["LEFT-1"].applies(each) for each in claims]
