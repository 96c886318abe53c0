"""How a loader is stopped and gone on with: what is tried, which runs are made, and what the judges say of them."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from conformance.clauses import CLAUSES, FAMILIES
from conformance.contract import Claims, parse_claims
from conformance.loader.scenario import Scenario, from_code
from conformance.processes.fleet import Fleet
from conformance.processes.sources import ForkedSource, SpawnedSource, source_of
from conformance.restarts.scenario import resumed
from conformance.trace import Epoch, Failure, RankRun, Run, Trace
from conformance.trial.clause import Verdict
from conformance.trial.family import observe
from conformance.trial.session import Options, Session
from tests.harness.tried import drawn, listed
from tests.known_bad.resuming import Resuming, Stopping
from tests.known_bad.resuming_under_way import KeepsItsPlaceForOneCall

ALL = parse_claims(
    dict(
        datasets=("map", "iterable"),
        when_dropping="drop",
        when_keeping="pad",
        shuffle="global",
        epochs="set_epoch",
        workers=True,
        iterable_workers="split",
        hooks=("persistent_workers",),
        asynchronous=True,
        device_options=True,
        resume=True,
        elastic=True,
    )
)
UNSHUFFLED = parse_claims(dict(shuffle="buffered", resume="unshuffled"))
NONE = Claims()


@pytest.mark.parametrize("claims", [ALL, UNSHUFFLED, NONE], ids=["all", "unshuffled", "none"])
def test_what_is_always_tried_reads_back(claims: Claims) -> None:
    """No two scenarios that are always tried have one code."""
    scenarios = listed("resume", claims)
    assert scenarios == [from_code(scenario.code) for scenario in scenarios]
    assert len(scenarios) == len({scenario.code for scenario in scenarios})


@given(drawn("resume", ALL))
def test_a_code_reads_back_as_its_scenario(scenario: Scenario) -> None:
    """Whatever is drawn takes a state, has an epoch behind it, and is replayed by its code alone."""
    assert (True, True, scenario) == (scenario.saves, scenario.epochs > 1, from_code(scenario.code))


@given(drawn("resume", UNSHUFFLED))
def test_a_lost_buffer_is_not_asked_for(scenario: Scenario) -> None:
    """Who goes on with unshuffled epochs only is asked for nothing else, and for no other request."""
    assert (False, False) == (scenario.shuffle, scenario.details in ("wider", "reseeded", "grown"))


@given(drawn("resume", NONE))
def test_who_promises_nothing_is_asked_one_question(scenario: Scenario) -> None:
    """A state after the first of three steps is all that RESUME-12 needs."""
    assert from_code("n3,w1,b1,keep,e2,save@1") == scenario


def test_a_scenario_says_where_the_state_is_taken() -> None:
    """Place, epoch and what is done with the state have their words."""
    told = from_code("n4,w1,b1,keep,e3,save@2,with=inside+again").describe()
    words = "a state taken after step 2 of epoch 1, loaded after set_epoch(), taken again a step later"
    assert f"4 samples, 1 rank, micro-batch 1, drop_last=False, 3 epochs, {words}" == told


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("n4,w1,b1,keep,save@1", "saves within 1 epoch, and none follows; say e2 or more"),
        ("n4,w1,b1,keep,e2,save@1,with=adam", "'adam' in the case .* is no word of its subject; the words are unbegun"),
        ("n4,w1,b1,keep,with=again", "the words are none"),
    ],
)
def test_a_case_that_can_not_be_is_told(code: str, sentence: str) -> None:
    """The sentence names what is wrong."""
    with pytest.raises(ValueError, match=sentence):
        from_code(code)


def test_another_request_differs_in_one_thing() -> None:
    """Each word of another request changes one field."""
    plain = from_code("n6,w2,b2,keep,k1,e2,save@1")
    words = ("wider", "narrower", "staffed", "larger", "grown", "reseeded")
    others = [resumed(from_code(f"{plain.code},with={word}")) for word in words]
    fields = ("world_size", "world_size", "num_workers", "batch_size", "samples", "seed")
    assert [3, 1, 2, 3, 8, 1] == [getattr(other, field) for other, field in zip(others, fields, strict=True)]


# --- the runs -------------------------------------------------------------------------------------------------------


def _runs(loader: Any, code: str) -> dict[str, list[list[tuple[tuple[int, ...], ...]]]]:
    source, _ = source_of(loader)
    with Fleet(source) as fleet:
        trace = observe(fleet.lanes[0], FAMILIES["resume"], from_code(code))
    return {run.name: [[epoch.steps for epoch in rank.epochs] for rank in run.ranks] for run in trace.runs}


def test_the_loader_that_gave_the_state_goes_on() -> None:
    """The first run is whole, and the second begins behind the state."""
    whole, rest = ((0,), (1,), (2,)), ((1,), (2,))
    assert {"main": [[whole, whole]], "resumed": [[rest, whole]]} == _runs(Stopping, "n3,w1,b1,keep,e2,save@1")


def test_a_state_is_kept_while_later_ones_are_taken() -> None:
    """What resumes from it is two runs, as where no later one is taken, and not one without states."""
    held, watched = (_runs(Stopping, f"n3,w1,b1,keep,e2,save@1,with={words}") for words in ("held", "watched+held"))
    assert (held, ["main", "resumed", "resumed again"]) == (watched, [*watched])


def test_the_epoch_is_told_once_more() -> None:
    """With `asked` set_epoch comes twice after the state was loaded; with `inside` as well, before it and after it."""
    codes = (f"n3,w1,b1,keep,e2,save@1,with={words}" for words in ("asked", "inside+asked"))
    asked, inside = (_runs(KeepsItsPlaceForOneCall, code)["resumed"][0][0] for code in codes)
    assert (((0,), (1,), (2,)), ((1,), (2,))) == (asked, inside)


def test_a_second_restart_is_a_third_process() -> None:
    """With `again` a step is read between the two states, with `relayed` none."""
    again, relayed = (_runs(Stopping, f"n3,w1,b1,keep,e2,save@1,with={word}") for word in ("again", "relayed"))
    assert [((2,),), ((1,), (2,))] == [each["resumed again"][0][0] for each in (again, relayed)]


def test_other_ranks_are_given_the_states_in_turn() -> None:
    """Three ranks go on with the states of two."""
    runs = _runs(Resuming, "n6,w2,b1,keep,e2,save@1,with=wider")
    assert [2, 3] == [len(ranks) for ranks in runs.values()]
    assert [2, 3, 4, 5] == sorted(index for rank in runs["resumed"] for step in rank[0] for index in step)[-4:]


class Merging(Resuming):
    """Its state is of one rank, and `merge` adds them up."""

    @classmethod
    def merge(cls, states: list[Any]) -> Any:
        """What all ranks were given."""
        return {**states[0], "given": sum(state["given"] for state in states)}

    def state_dict(self) -> Any:
        """What this rank was given."""
        state = super().state_dict()
        return {**state, "given": state["given"] // self.request.world_size}


def test_an_adapter_may_make_one_state_of_all() -> None:
    """`merge` is given the states of all ranks, and each rank what it returns."""
    runs = _runs(Merging, "n6,w2,b1,drop,e2,save@1,with=wider")
    assert [2, 3, 4] == sorted({index for rank in runs["resumed"] for step in rank[0] for index in step})


def test_a_restart_finds_the_files_of_the_first_run(tmp_path: Path) -> None:
    """The folder for a loader's files is the same one in both processes."""
    adapter = tmp_path / "filed.py"
    adapter.write_text(
        "claims = dict(resume=True)\n"
        "class Loader(list):\n"
        "    def state_dict(self):\n        return self.workdir\n"
        "    def load_state_dict(self, state):\n        assert state == self.workdir, (state, self.workdir)\n"
        "def load(request):\n"
        "    loader = Loader([request.dataset[i]] for i in range(len(request.dataset)))\n"
        "    loader.workdir = request.workdir\n    return loader\n"
    )
    with Fleet(SpawnedSource(str(adapter))) as fleet:
        trace = observe(fleet.lanes[0], FAMILIES["resume"], from_code("n2,w1,b1,keep,e2,save@1"))
    assert [None, None] == [rank.failure for run in trace.runs for rank in run.ranks]


def test_no_state_stands_in_a_trace() -> None:
    """What is written to a file says what was delivered, and not how it was gone on with."""
    source, _ = source_of(Stopping)
    with Fleet(source) as fleet:
        trace = observe(fleet.lanes[0], FAMILIES["resume"], from_code("n2,w1,b1,keep,e2,save@1"))
    assert [None, None] == [rank.saved for run in trace.runs for rank in run.ranks]


# --- judges ---------------------------------------------------------------------------------------------------------


def _verdict(clause: str, code: str, *runs: tuple[str, RankRun], claims: Claims = ALL) -> Verdict:
    scenario = from_code(code)
    return CLAUSES[clause].judge(scenario, claims, Trace(scenario, tuple(Run(name, (rank,)) for name, rank in runs)))


def _rank(*epochs: str, failure: Failure | None = None) -> RankRun:
    """A rank that delivered epochs of steps of one sample: "012"."""
    steps = [tuple((int(index),) for index in epoch) for epoch in epochs]
    return RankRun(0, tuple(Epoch(at, each) for at, each in enumerate(steps)), failure)


@pytest.mark.parametrize(
    ("clause", "code", "got", "kind"),
    [
        ("RESUME-1", "save@1", ("12", "012"), None),
        ("RESUME-1", "save@1", ("2", "012"), "lost-after-restart"),
        ("RESUME-1", "save@1", ("012", "012"), "repeated-after-restart"),
        ("RESUME-1", "save@1", ("21", "012"), "other-after-restart"),
        ("RESUME-1", "save@1", ("122", "012"), "repeated-after-restart"),
        ("RESUME-2", "save@1", ("12", "12"), "next-epoch-after-restart"),
        ("RESUME-3", "save@0", ("12", "012"), "lost-after-restart"),
        ("RESUME-4", "save@3", ("", "012"), None),
        ("RESUME-4", "save@3", ("012", "012"), None),
        ("RESUME-4", "save@4", ("", ""), "after-the-end"),
        ("RESUME-4", "save@3", ("2", "012"), "after-the-last"),
        ("RESUME-12", "save@1", ("012", "012"), "state-ignored"),
        ("RESUME-12", "save@1", ("2", "012"), None),
    ],
)
def test_a_rest_is_held_against_what_came_without_a_restart(
    clause: str, code: str, got: tuple[str, str], kind: str | None
) -> None:
    """Each way of being wrong has its name, and what is right has none."""
    verdict = _verdict(clause, f"n3,w1,b1,keep,e2,{code}", ("main", _rank("012", "012")), ("resumed", _rank(*got)))
    assert verdict is not None
    assert [kind] if kind else [] == [finding.kind for finding in verdict]


@pytest.mark.parametrize("clause", [name for name in CLAUSES if name.startswith("RESUME")])
def test_a_loader_that_fails_without_a_restart_is_not_judged_here(clause: str) -> None:
    """What fails in the first run is another chapter's matter."""
    failed = _rank(failure=Failure("raised", "load", "ValueError: no"))
    assert _verdict(clause, "n3,w1,b1,keep,e2,save@1", ("main", failed)) is None


@pytest.mark.parametrize("where", ["state_dict", "load_state_dict"])
def test_who_promises_nothing_may_refuse(where: Any) -> None:
    """A loader without states, or one that raises, pretends nothing."""
    failed = _rank("", failure=Failure("unusable", where, "the loader has none"))
    runs = [("main", failed)] if where == "state_dict" else [("main", _rank("012", "012")), ("resumed", failed)]
    assert [] == _verdict("RESUME-12", "n3,w1,b1,keep,e2,save@1", *runs)


def test_a_refusal_is_right_where_the_request_is_another() -> None:
    """RESUME-11 takes an error, RESUME-10 does not."""
    refused = _rank(failure=Failure("raised", "load_state_dict", "ValueError: other ranks"))
    runs = (("main", _rank("012", "012")), ("resumed", refused))
    assert [] == _verdict("RESUME-11", "n3,w1,b1,keep,e2,save@1,with=larger", *runs)
    (finding,) = _verdict("RESUME-10", "n3,w1,b1,keep,e2,save@1,with=staffed", *runs) or []
    assert "refused" == finding.kind


@pytest.mark.parametrize(
    ("following", "got", "kinds"),
    [("012", "12", []), ("012", "2", ["second-in-the-next-epoch"]), ("0", "", None)],
)
def test_the_epoch_after_other_workers_resumed_is_one_of_them(
    following: str, got: str, kinds: list[str] | None
) -> None:
    """What they delivered of it is what a state of it must give; an epoch of one step says nothing."""
    runs = (("main", _rank("012", "021")), ("resumed", _rank("12", following)), ("resumed again", _rank(got)))
    verdict = _verdict("RESUME-5", "n3,w1,b1,keep,e2,save@1,with=onward+staffed", *runs)
    assert kinds == (None if verdict is None else [finding.kind for finding in verdict])


def test_a_claim_for_unshuffled_epochs_is_noted() -> None:
    """The report says what was not judged."""
    claims = {"resume": "unshuffled"}
    source = ForkedSource(source_of(Stopping, claims)[0].implementation)  # type: ignore[attr-defined]
    with Session(source, "mine", Options(tier="quick")) as session:
        assert ('resume="unshuffled" is claimed: restarts within a shuffled epoch were not judged',) == session.notes()
