"""The guarantees follow from clauses that hold in the report, and from nothing else."""

import dataclasses
from typing import Any

import pytest

from conformance.contract import Claims
from conformance.report.guarantees import guarantee_line, guarantees
from conformance.trial.outcome import Outcome, Report, Status

PARTITION = ("PART-1", "PART-2", "PART-3", "PART-4")
SHUFFLED = ("ORDER-3", "ORDER-4")


def report(held: tuple[str, ...], others: dict[str, Status] | None = None, **claims: Any) -> Report:
    """A report in which these clauses hold, and others do not."""
    statuses = {**dict.fromkeys(held, "HOLDS"), **(others or {})}
    outcomes = tuple(Outcome(clause, "MUST", status, 100) for clause, status in statuses.items())  # type: ignore[arg-type]
    return Report("mypkg", Claims(**claims), "gate", 0, outcomes)


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("pad", "without drop_last delivers at least once (pads up to world size - 1 samples, or to full last steps)"),
        ("drop", "without drop_last delivers at most once (drops up to world size - 1 samples)"),
        ("uneven", "without drop_last delivers exactly once"),
    ],
)
def test_what_is_delivered_follows_from_the_policy(policy: Any, expected: str) -> None:
    """Each policy gives another promise when the rest is kept."""
    assert (expected,) == guarantees(report((*PARTITION, *SHUFFLED), when_keeping=policy))


def test_a_violated_clause_takes_its_promise_along() -> None:
    """Who repeats samples without saying so delivers at least once."""
    held = ("PART-2", *SHUFFLED)
    found = guarantees(report(held, {"PART-1": "VIOLATED"}, when_keeping="uneven"))
    assert ("without drop_last delivers at least once",) == found


@pytest.mark.parametrize("status", ["VIOLATED", "KNOWN", "NOT CLAIMED", "NOT EXERCISED", "INVALID"])
def test_only_what_holds_is_promised(status: Status) -> None:
    """Every other outcome entitles to nothing."""
    outcomes: dict[str, Status] = dict.fromkeys((*PARTITION, *SHUFFLED, "COUNT-5", "PART-7", "ORDER-8"), status)
    assert () == guarantees(report((), outcomes, when_keeping="uneven", when_dropping="drop"))


def test_a_uniform_shuffle_is_promised_where_many_orders_were_drawn() -> None:
    """The quick tier sees a coarse bias, and not that there is none."""
    many = report(("ORDER-12", "ORDER-13"), shuffle="global")
    assert ("shuffled uniformly over all ranks",) == guarantees(many)
    assert () == guarantees(dataclasses.replace(many, tier="quick"))


def test_unshuffled_promises_say_so() -> None:
    """What was judged without a shuffle is not promised with one."""
    found = guarantees(report(PARTITION, when_keeping="uneven"))
    assert ("unshuffled, without drop_last delivers exactly once",) == found


def test_equal_steps_are_promised_where_they_were_judged() -> None:
    """Under "uneven" ranks differ, and only the other setting promises equal steps."""
    both = report(("COUNT-5",), when_dropping="drop", when_keeping="pad")
    one = report(("COUNT-5",), when_dropping="drop", when_keeping="uneven")
    assert ("equal steps on every rank",) == guarantees(both)
    assert ("equal steps on every rank with drop_last",) == guarantees(one)


def test_the_weakest_promise_stands_first() -> None:
    """A loader like torch's: padding is said first, and what holds in full last."""
    held = (*PARTITION, *SHUFFLED, "COUNT-5", "COUNT-6", "COUNT-7", "PART-7", "ORDER-5", "ORDER-8", "ORDER-9")
    assert (
        "without drop_last delivers at least once (pads up to world size - 1 samples, or to full last steps); "
        "with drop_last delivers at most once (drops less than one step of all ranks); equal steps on every rank; "
        "every epoch ends; deterministic per (seed, epoch); whatever the number of workers"
    ) == guarantee_line(report(held, when_dropping="drop", when_keeping="pad"))


def test_determinism_needs_all_its_clauses() -> None:
    """An order that follows the global generators is not deterministic per (seed, epoch)."""
    found = guarantees(report(("PART-7", "ORDER-5"), {"ORDER-9": "VIOLATED"}))
    assert ("the same unshuffled shard every time",) == found


@pytest.mark.parametrize(
    ("held", "claims", "expected"),
    [
        (
            ("WORK-3",),
            {"iterable_workers": "split"},
            "without drop_last every element exactly once over workers and ranks",
        ),
        (("WORK-3",), {}, "without drop_last every element exactly once on one rank without workers"),
        (("WORK-4",), {"iterable_workers": "replicated"}, "every element once from each worker"),
    ],
)
def test_iterable_datasets_have_promises_of_their_own(held: tuple[str, ...], claims: Any, expected: str) -> None:
    """A loader that reads only iterables is promised what WORK-3 or WORK-4 shows."""
    assert (f"iterable: {expected}",) == guarantees(report(held, datasets=("iterable",), **claims))


def test_what_workers_drop_of_an_iterable_is_bounded() -> None:
    """WORK-5 adds what drop_last may take, and only where nothing comes twice."""
    found = guarantees(report(("WORK-3", "WORK-5"), datasets=("iterable",), iterable_workers="split"))
    assert (
        "iterable: with drop_last at most once (each worker drops less than one step)",
        "iterable: without drop_last every element exactly once over workers and ranks",
    ) == found
    assert () == guarantees(report(("WORK-5",), {"WORK-3": "VIOLATED"}, datasets=("iterable",)))


def test_a_few_clauses_give_no_guarantee() -> None:
    """Who asks for one clause is told so, and not that the loader guarantees nothing."""
    assert "only PART-1 was judged: no guarantee is given" == guarantee_line(report(("PART-1",)))
    assert "only PART-1 and PART-2 were judged: no guarantee is given" == guarantee_line(report(("PART-1", "PART-2")))
    assert guarantee_line(report(PARTITION)).startswith("only 4 of ")


def test_a_replayed_case_gives_no_guarantee() -> None:
    """That a clause holds in one case is no promise for any other."""
    one = dataclasses.replace(report(("WORK-3",), iterable_workers="split"), replayed="WORK-3-n1,w1,b1,keep")
    assert () == guarantees(one)
    assert "only one case of WORK-3 was replayed: no guarantee is given" == guarantee_line(one)


RESTARTED = tuple(f"RESUME-{number}" for number in (1, 2, 3, 4, 5, 8))


@pytest.mark.parametrize(
    ("held", "resume", "expected"),
    [
        (RESTARTED, True, "resumes an interrupted epoch any number of times"),
        (RESTARTED, "unshuffled", "resumes an interrupted unshuffled epoch any number of times"),
        (
            (*RESTARTED, "RESUME-10"),
            True,
            "resumes an interrupted epoch any number of times, also on a different number of ranks or workers",
        ),
    ],
)
def test_restarts_are_promised_as_they_are_claimed(held: tuple[str, ...], resume: Any, expected: str) -> None:
    """Rest, next epoch, further restarts and states must all hold."""
    assert (expected,) == guarantees(report(held, resume=resume))
    assert () == guarantees(report(held[1:], resume=resume))


def test_chosen_batches_and_mixtures_have_promises_of_their_own() -> None:
    """What is lost of each group is nothing that the policy of plain requests bounds."""
    held = (*PARTITION, *SHUFFLED, "GROUP-3", "GROUP-4")
    assert (
        "asked for no groups or sources, without drop_last delivers exactly once",
        "batches by group: nothing is lost or repeated but the rest of each group, as the policy says",
    ) == guarantees(report(held, when_keeping="uneven", batches=("grouped",), mixtures=("all_exhausted",)))


def test_shuffled_streams_are_promised_by_their_own_clause() -> None:
    """A violated STREAM-4 leaves the promise of an unshuffled stream."""
    claims: dict[str, Any] = dict(datasets=("iterable",), iterable_workers="split", stream_shuffle="buffered")
    every = "without drop_last every element exactly once over workers and ranks"
    assert (f"iterable: {every}",) == guarantees(report(("WORK-3", "STREAM-4"), **claims))
    violated = report(("WORK-3",), {"STREAM-4": "VIOLATED"}, **claims)
    assert (f"iterable: unshuffled, {every}",) == guarantees(violated)
