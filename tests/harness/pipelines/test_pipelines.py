"""Loaders of pipelines are judged by scenarios that say what is asked, and only by what they claim."""

from typing import Any, ClassVar

import pytest
from hypothesis import given

from conformance import check
from conformance.clauses import CLAUSES
from conformance.contract import CHOICES, AdapterError, Claims, parse_claims
from conformance.pipelines.heard import numbers_in
from conformance.pipelines.judges import owner
from conformance.pipelines.scenario import ASKED, PipelineScenario, from_code
from conformance.processes.resolve import from_object
from conformance.report.guarantees import guarantees
from conformance.trial.outcome import Outcome, Report
from tests.harness.pipelines.plain_pipelines import Loader, PlainPipelines
from tests.harness.tried import drawn, listed

ALL = Claims(pipelines=CHOICES["pipelines"])


@given(drawn("pipeline", ALL))
def test_a_drawn_case_replays(scenario: PipelineScenario) -> None:
    """Its code says all that there is."""
    assert scenario == from_code(scenario.code)


def test_each_case_is_listed_once() -> None:
    """Nothing is run twice, each word is used, and each failure is some clause's."""
    tried = listed("pipeline", ALL)
    assert len(tried) == len(set(tried))
    assert set(ASKED) == {word for each in tried for word in each.asked}
    assert {owner(each) for each in tried} <= set(CLAUSES)


@pytest.mark.parametrize("part", CHOICES["pipelines"])
def test_what_is_not_claimed_is_not_asked_for(part: str) -> None:
    """Without one part nothing of it is tried."""
    claims = Claims(pipelines=tuple(each for each in CHOICES["pipelines"] if each != part))
    tried = listed("pipeline", claims)
    by_nature = [each for each in tried if {"wrong", "dispatch"} & each.asked]
    asked = {
        "workers": any(each.workers for each in tried if each not in by_nature),
        "ranks": any(each.ranks > 1 for each in tried if each not in by_nature),
        "dispatch": any("dispatch" in each.asked for each in tried),
        "initialiser": any(each.fault.startswith("init") for each in tried),
        "pause": any({"limit", "pause", "begun", "limited", "paused"} & each.asked for each in tried),
        "services": any("wrong" in each.asked for each in tried),
    }
    assert not asked[part]


@given(drawn("pipeline", Claims(pipelines=("pause",))))
def test_without_workers_and_ranks_one_process_is_drawn(scenario: PipelineScenario) -> None:
    """Neither is there by itself."""
    assert (1, 0) == (scenario.ranks, scenario.workers)


def test_a_case_reads_as_a_sentence() -> None:
    """Numbers first, then the words, then what goes wrong."""
    told = from_code("n12,w2,b1,shuffle,k2,e2,s3,pipeline,raise@5,with=own").describe()
    expected = "12 elements, 2 ranks, 2 workers, shuffled, seed 3, 2 epochs, each rank has a seed of its own"
    assert f"{expected}, sample 5 raises" == told


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Rank 1 has failed", "1"),
        ("Caught ValueError in worker process 2.\n  File x.py, line 12, in <module>", "2"),
        ("[pair.cc:534] Connection closed by peer [127.0.0.1]:38427", ""),
        ("rank10 and worker_3", ""),
    ],
)
def test_a_number_is_a_word_of_its_own(text: str, expected: str) -> None:
    """Addresses and lines of files name nobody."""
    assert expected == numbers_in(RuntimeError(text))


def test_notes_count() -> None:
    """Python prints them with the text."""
    error = ValueError("boom")
    error.add_note("Raised in worker 1 of 2.")
    assert "1 2" == numbers_in(error)


def test_filters_leave_one_worker_something() -> None:
    """All of its own, or all but the last of the others'."""
    one, ends = (PipelineScenario(10, 3, asked=frozenset({word})) for word in ("one", "ends"))
    assert [0, 3, 6, 9] == [each for each in range(10) if one.lets_through(each)]
    assert [0, 1, 2, 3, 4, 6, 9] == [each for each in range(10) if ends.lets_through(each)]


class Adapter:
    """An adapter that has a function `pipeline` and nothing else."""

    claims: ClassVar[dict[str, Any]] = dict(pipelines=("workers", "services"))

    @staticmethod
    def pipeline(request: Any) -> Any:
        """A loader."""


def test_who_joins_services_shows_the_wrong_order() -> None:
    """It is the only way to see that it is refused."""
    with pytest.raises(AdapterError, match="but has no function wrong_order; write that function, or withdraw"):
        from_object("mine", Adapter)


def test_a_pipeline_needs_no_loader() -> None:
    """The adapter's claims are of pipelines alone."""
    claims = from_object("mine", type("Mine", (Adapter,), {"claims": dict(pipelines="workers")})).claims
    assert ((), ("workers",)) == (claims.datasets, claims.pipelines)


def test_a_boolean_is_no_claim_of_pipelines() -> None:
    """The parts are named in the sentence."""
    with pytest.raises(AdapterError, match="pipelines=True is not a choice of 'workers', 'ranks'"):
        parse_claims(dict(pipelines=True))


def test_what_holds_entitles_to_guarantees() -> None:
    """They follow from clauses that hold in this report."""
    outcomes = [
        Outcome(name, "MUST", "HOLDS", 9) for name in ("PIPE-1", "PIPE-3", "PIPE-5", "PIPE-7", "PIPE-9", "PIPE-11")
    ]
    report = Report("mine", ALL, "gate", 0, tuple(outcomes), False, (), False)
    assert (
        "pipelines: each element at most once over workers and ranks, and ranks end together (drops up to world size - "
        "1 elements)",
        "pipelines: deterministic per (seed, epoch), whatever the number of workers",
    ) == guarantees(report)


def test_a_plain_loader_keeps_what_it_claims() -> None:
    """It runs in one process, on torch alone; each clause that binds it has its chance, and holds."""
    report = check(PlainPipelines(), tier="quick")
    assert report.passed
    judged = {each.clause: each.status for each in report.outcomes if each.status != "NOT CLAIMED"}
    expected = ("PIPE-1", "PIPE-5", "PIPE-6", "PIPE-8", "PIPE-14", "PIPE-16", "PIPE-17", "PIPE-18", "PIPE-19")
    assert dict.fromkeys(expected, "HOLDS") == judged


def test_a_method_that_is_missing_is_the_loaders_fault() -> None:
    """Who claims to pause and has no limit fails there, and nowhere else."""

    class Pauseless(PlainPipelines):
        """Its iterators are plain."""

        @staticmethod
        def pipeline(request: Any) -> Loader:
            """A loader whose iterators are hidden."""

            class Hidden(Loader):
                """Its iterator has nothing but elements."""

                def __iter__(self) -> Any:
                    inner = super().__iter__()
                    return iter(inner.__next__, object())

            return Hidden(request.datapipe)

    report = check(Pauseless(), tier="quick")
    assert {"PIPE-19": "raised"} == {each.clause: each.case.finding.kind for each in report.outcomes if each.case}
