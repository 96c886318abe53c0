"""Chapter 5, errors: the judge of ASYNC-7."""

from conformance.ahead.judges import ahead, fails_as_well
from conformance.contract import Claims
from conformance.loader.conducts import DEADLY
from conformance.loader.judging import (
    before_the_fault,
    error_text,
    in_known_order,
    lost_of_the_error,
    show,
)
from conformance.loader.scenario import Scenario
from conformance.trace import Failure, RankRun, Trace
from conformance.trial.clause import Finding, Verdict, clause
from conformance.trial.words import place_of


@clause("ASYNC-7", family="async", dataset="any", applies=ahead(), floor=2, twin=True)
def errors_arrive(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """An error of the dataset arrives at its step with its own type; a process that is gone is an error."""
    if not _error_was_due(scenario, claims, trace):
        return None
    (rank, *_) = trace.main.ranks
    # A sample that fails when it is read again fails in the second epoch, and others in the first.
    met = rank.epochs if scenario.fault.startswith("again") else rank.epochs[:1]
    failure = rank.failure or next((epoch.failure for epoch in met if epoch.failure), None)
    finding = (
        _is_silent(scenario, rank, failure)
        or _is_another(scenario, rank, failure)
        or _is_out_of_place(scenario, claims, trace, rank)
    )
    return [finding] if finding else []


def _error_was_due(scenario: Scenario, claims: Claims, trace: Trace) -> bool:
    """Whether something went wrong that the consumer must hear of, and that no other clause reports."""
    (rank, *_) = trace.main.ranks
    name = scenario.fault.partition("@")[0]
    happened = rank.remark("fired") or (rank.failure and rank.failure.kind in ("hung", "died"))
    if not name or not happened or scenario.is_slow or (name not in DEADLY and claims.errors == "skip"):
        return False
    if rank.is_gone:
        return not fails_as_well(trace)
    if name in ("stop", "index"):
        # A loader that takes these for the end synchronously as well is reported by ERROR-3.
        without = trace.variant("synchronous")
        return without is not None and any(epoch.failure for epoch in without.ranks[0].epochs)
    return name != "again" or scenario.epochs == 2


def _is_silent(scenario: Scenario, rank: RankRun, failure: Failure | None) -> Finding | None:
    """No error came, or something else did."""
    name = scenario.fault.partition("@")[0]
    if failure is None and name == "again" and not _read_in_each_epoch(scenario, rank):
        return None
    if failure is not None and failure.kind == "raised":
        return None
    kind = "silent" if failure is None else failure.kind
    return Finding(
        f"{kind}-{name}", "an error", _story(rank), "the prefetcher hit the error, so the consumer must see it"
    )


def _is_another(scenario: Scenario, rank: RankRun, failure: Failure | None) -> Finding | None:
    """The dataset's own exception came as another one."""
    if failure is None or scenario.fault.partition("@")[0] not in ("raise", "again"):
        return None
    if not lost_of_the_error(scenario, failure):
        return None
    why = "code that catches the dataset's own exception must see it"
    return Finding("other-error", error_text(scenario), _story(rank), why)


def _is_out_of_place(scenario: Scenario, claims: Claims, trace: Trace, rank: RankRun) -> Finding | None:
    """The error came earlier or later than at its step."""
    # How often a sample is read is nobody's promise, so one that fails when it is read again has no place.
    if not scenario.fault.startswith("raise") or not in_known_order(scenario, claims):
        return None
    expected = before_the_fault(scenario, trace)
    delivered = list(rank.epochs[0].samples) if rank.epochs else []
    if delivered == expected:
        return None
    text = f"samples {' '.join(map(str, expected))}, then the error" if expected else "the error, nothing before it"
    why = "steps that were ready come before the error of a later step"
    if len(delivered) > len(expected):
        why = "a step that can't be loaded is an error when it is asked for, before anything of it or after it"
    return Finding("error-out-of-place", text, _story(rank, 1), why)


def _read_in_each_epoch(scenario: Scenario, rank: RankRun) -> bool:
    """Whether the sample of the fault was read once for each of two epochs, both of which the consumer asked for.

    A loader may begin an epoch that nobody wants, or begin one again: an error met on the way is nobody's then.
    """
    return sum(read.index == place_of(scenario.fault) for read in rank.reads) == 2


def _story(rank: RankRun, epochs: int | None = None) -> tuple[str, ...]:
    lines: list[str] = []
    for epoch in rank.epochs[:epochs]:
        lines += show((epoch,), label=f"epoch {epoch.number}, ")
        lines.append(f"epoch {epoch.number}: {epoch.failure.sentence() if epoch.failure else 'ended without an error'}")
    return (*lines, f"rank {rank.rank}: {rank.failure.sentence()}") if rank.failure else tuple(lines)
