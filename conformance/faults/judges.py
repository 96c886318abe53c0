"""Chapter 10, faults: the judges of ERROR-*, on scenarios in which something goes wrong, once."""

from collections.abc import Iterator

from conformance.contract import Claims
from conformance.loader.judging import (
    as_undisturbed,
    before_the_fault,
    error_text,
    failed_while_loading,
    fails_anyway,
    lost_of_the_error,
    missed,
    missing,
    repeated,
    repeats,
    show,
)
from conformance.loader.runs import FIRST_EPOCH, UNDISTURBED
from conformance.loader.scenario import Scenario
from conformance.trace import Epoch, Failure, RankRun, Run, Trace
from conformance.trial.clause import Finding, Verdict, clause
from conformance.trial.words import count, place_of


def _raises(claims: Claims) -> bool:
    return claims.errors == "raise"


def fault_of(scenario: Scenario) -> str:
    """The word of the fault, without its place."""
    return scenario.fault.partition("@")[0]


def _happened(rank: RankRun) -> bool:
    # A run that hangs or dies as a whole can't say; the fault was the last that was asked of it.
    return bool(rank.remark("fired")) or rank.is_gone


def _struck(scenario: Scenario, trace: Trace, faults: tuple[str, ...]) -> RankRun | None:
    """The rank as far as the epoch in which one of these faults happened, or None.

    Each sample is read in the first epoch, unless a shuffle drops another one each time: then the error comes in the
    epoch that reads it. Where the rank hung or died, that epoch was read alone: what hangs only later is judged by
    WORK-14, and what hangs without a fault is not this chapter's.
    """
    # What comes of an error among other things is judged by WORK-14.
    if fault_of(scenario) not in faults or scenario.conduct or fails_anyway(trace):
        return None
    (rank,) = (trace.variant(FIRST_EPOCH) or trace.main).ranks
    came_in = [at for at, epoch in enumerate(rank.epochs) if epoch.failure]
    if scenario.shuffle and came_in and scenario.faulty_epoch not in came_in:
        return None
    return rank if _happened(rank) else None


def _first_failure(scenario: Scenario, rank: RankRun) -> Failure | None:
    at = scenario.faulty_epoch
    return rank.failure or (rank.epochs[at].failure if len(rank.epochs) > at else None)


@clause("ERROR-1", family="life", dataset="any", applies=_raises, floor=4, twin=True)
def dataset_errors_arrive(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """What the dataset raises reaches the consumer with its type and text."""
    return _arrives(scenario, trace, ("raise",))


@clause(
    "ERROR-5", family="life", dataset="any", applies=lambda claims: "collate_fn" in claims.hooks, floor=1, twin=True
)
def collate_errors_arrive(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """What the collate function raises reaches the consumer with its type and text."""
    return _arrives(scenario, trace, ("collate",))


@clause(
    "ERROR-6", family="life", dataset="any", applies=lambda claims: "worker_init_fn" in claims.hooks, floor=1, twin=True
)
def initialiser_errors_arrive(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """What the worker initialiser raises reaches the consumer with its type and text."""
    parts = scenario.samples if scenario.dataset == "iterable" else -(-scenario.samples // scenario.combined_batch)
    # A worker for which nothing is left to read may never be asked for anything, nor its error.
    if fault_of(scenario) == "init" and place_of(scenario.fault) >= parts:
        return None
    return _arrives(scenario, trace, ("init",))


def _arrives(scenario: Scenario, trace: Trace, faults: tuple[str, ...]) -> Verdict:
    rank = _struck(scenario, trace, faults)
    if rank is None:
        return None
    failure = _first_failure(scenario, rank)
    expected = error_text(scenario)
    if failure is None:
        why = "an error that nobody sees is a hole in the data"
        return [Finding("swallowed", expected, _story(rank), why)]
    if failure.kind != "raised":
        why = "an exception is not an end of the process, nor a hang"
        return [Finding(f"{failure.kind}-instead", expected, _story(rank), why)]
    lost = lost_of_the_error(scenario, failure)
    if lost == "type":
        why = "code that catches the dataset's own exception must see it"
        return [Finding("other-type", expected, _story(rank), why)]
    if lost:
        return [Finding("text-lost", expected, _story(rank), "the text says what is broken, and where")]
    return []


@clause(
    "ERROR-2", family="life", applies=lambda claims: claims.errors == "raise" and claims.in_order, floor=4, twin=True
)
def errors_arrive_in_their_place(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """What comes before the failing step is delivered, and nothing of it or after it."""
    (rank,) = trace.main.ranks
    if scenario.dataset != "map" or scenario.conduct or fault_of(scenario) not in ("raise", "collate"):
        return None
    # Which steps come before it is the shuffle's choice.
    if scenario.shuffle:
        return None
    # The tail of a file may be dropped, and which samples lie in one is said nowhere.
    if claims.drops is not None and scenario.drop_last:
        return None
    # What ends a worker takes along what that had read.
    if scenario.raises_base:
        return None
    if failed_while_loading(rank):
        return []
    at = scenario.faulty_epoch
    if len(rank.epochs) <= at or not rank.epochs[at].failure or not rank.remark("fired"):
        return None
    failure = rank.epochs[at].failure
    if failure is not None and failure.where == "iter":
        return []  # it reads an epoch before it gives the iterator: nothing had come that could be in the wrong place
    delivered = list(rank.epochs[at].samples)
    expected = before_the_fault(scenario, trace)
    # Who reads one step ahead meets the error before the step in front of it is given.
    earlier = expected[: max(0, len(expected) - scenario.combined_batch)] if claims.lookahead else expected
    if delivered in (expected, earlier):
        return []
    before = (
        f"samples {' '.join(map(str, expected))}, then the error" if expected else "the error, and nothing before it"
    )
    why = "the consumer has used what came before; it must know exactly what that was"
    return [Finding("error-out-of-place", before, _story(rank), why)]


@clause("ERROR-3", family="life", dataset="any", floor=3, twin=True)
def end_of_iteration_is_no_sample(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """A sample that raises StopIteration or IndexError is an error, not a short epoch."""
    rank = _struck(scenario, trace, ("stop", "index"))
    if rank is None:
        return None
    failure = _first_failure(scenario, rank)
    if failure is not None and failure.kind == "raised":
        return []
    if failure is None and not _lacks_more(scenario, claims, trace, rank):
        return []
    name = "StopIteration" if fault_of(scenario) == "stop" else "IndexError"
    kind = "short-epoch" if failure is None else failure.kind
    why = f"{name} is a fault of the dataset here; "
    why += (
        "taken for the end of the epoch it silently drops the rest" if failure is None else "the consumer is never told"
    )
    return [Finding(f"{kind}-{fault_of(scenario)}", "an error", _story(rank), why)]


def _lacks_more(scenario: Scenario, claims: Claims, trace: Trace, rank: RankRun) -> bool:
    """Whether the epoch of the fault lacks more than may be skipped of the one that nothing disturbs."""
    lost = set(missed(scenario, trace, rank.epochs[scenario.faulty_epoch]))
    return bool(lost - {place_of(scenario.fault)} if claims.errors == "skip" else lost)


@clause("ERROR-4", family="life", dataset="any", applies=lambda claims: claims.workers, floor=2, twin=True)
def dead_workers_are_errors(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """A worker that is killed or exits is an error, soon; one that was idle may be replaced."""
    if fault_of(scenario) == "idle":
        return _no_hole(scenario, claims, trace)
    return _is_an_error(scenario, trace, ("kill", "exit"), "a worker that is gone delivers nothing any more")


@clause(
    "ERROR-7",
    family="life",
    dataset="any",
    applies=lambda claims: "timeout" in claims.hooks and claims.workers,
    floor=1,
    twin=True,
)
def hanging_workers_are_errors(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """A worker that hangs is an error once the time-out has passed."""
    why = "a time-out of 1 s was asked for"
    if fault_of(scenario) == "hang" and scenario.conduct.startswith("leave"):
        # Nobody waits for that step any more: what comes next is WORK-12's, but it comes.
        (rank,) = trace.main.ranks
        if rank.failure and rank.failure.kind in ("hung", "died"):
            return [Finding(f"{rank.failure.kind}-left", "the next epoch, or an error", _story(rank), why)]
        return [] if _happened(rank) else None
    return _is_an_error(scenario, trace, ("hang",), why)


def _no_hole(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """A worker that died while nobody read takes nothing along: the next epoch is whole, or an error."""
    rank = _struck(scenario, trace, ("idle",))
    if rank is None:
        return None
    failure = _first_failure(scenario, rank)
    if failure is not None and failure.kind == "raised":
        return []
    if failure is None and as_undisturbed(scenario, claims, trace, rank.epochs[scenario.faulty_epoch]):
        return []
    kind = "hole" if failure is None else failure.kind
    why = "a worker that is gone delivers nothing any more, whenever it died"
    return [Finding(f"{kind}-idle", "the next epoch whole, or an error", _story(rank), why)]


def _is_an_error(scenario: Scenario, trace: Trace, faults: tuple[str, ...], why: str) -> Verdict:
    (main,) = trace.main.ranks
    if fault_of(scenario) in faults and not scenario.conduct and not _happened(main):
        # A loader that reads by threads, or from files, has no process that could die.
        return None if any(read.process for read in main.reads) or main.failure else []
    rank = _struck(scenario, trace, faults)
    if rank is None:
        return None
    failure = _first_failure(scenario, rank)
    if failure is not None and failure.kind == "raised":
        return []
    kind = "silent" if failure is None else failure.kind
    return [Finding(f"{kind}-{fault_of(scenario)}", "an error", _story(rank), why)]


@clause(
    "ERROR-8",
    family="life",
    applies=lambda claims: claims.errors == "skip",
    floor=2,
    twin=True,
    also=("skipping",),
)
def only_the_failing_sample_is_skipped(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Where skipping is claimed the failing sample is left out, and every other one comes."""
    if scenario.world_size > 1:
        return _skipped_alike(scenario, claims, trace)
    rank = _struck(scenario, trace, ("raise",))
    if rank is None or scenario.dataset != "map":
        return None
    at = scenario.faulty_epoch
    failure = _first_failure(scenario, rank)
    if failure is not None and failure.kind == "raised" and scenario.raises_base:
        return []  # what is no Exception is meant for others than who skips
    if rank.failure or len(rank.epochs) <= at or rank.epochs[at].failure:
        return [Finding("raised-though-skipping", "the other samples", _story(rank), 'errors="skip" is claimed')]
    epoch, bad = rank.epochs[at], place_of(scenario.fault)
    why = 'errors="skip" leaves out what fails, and nothing else'
    # One that failed once may be left out of later epochs as well.
    come = [each for each in rank.epochs[at:] if not each.failure]
    if any(set(missed(scenario, trace, each)) - {bad} or repeats(scenario, trace, each) for each in come):
        return [Finding("skipped-more", f"all samples but {bad}", _story(rank), why)]
    if any(len(step) > scenario.combined_batch for step in epoch.steps):
        expected = f"steps of at most {count(scenario.combined_batch, 'sample')}"
        return [
            Finding("step-too-large", expected, _story(rank), "a step that is filled up has no more room than others")
        ]
    return []


def _skipped_alike(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """On several ranks each other sample comes in each epoch, and once: what one has skipped the others must know."""
    policy, fired = claims.policy(scenario.drop_last), any(rank.remark("fired") for rank in trace.main.ranks)
    # Else some may be missing without an error too.
    if policy not in ("uneven", "once", "pad") or not fired:
        return None
    plain = trace.variant(UNDISTURBED)
    if plain is not None and any(missing(scenario, epochs) for epochs in _epochs_of(plain)):
        return None  # chapter 2 says so
    for epochs in _epochs_of(trace.main):
        if any(epoch.failure for epoch in epochs):
            return None  # on one rank that has its names
        lost = {*missing(scenario, epochs)} - {place_of(scenario.fault)}
        twice = policy != "pad" and repeated(scenario, epochs)
        if lost or twice:
            what = f"each sample but {place_of(scenario.fault)} once, over all ranks"
            told = tuple(f"epoch {epochs[0].number}, {line}" for line in show(epochs))
            why = "a sample that one rank alone takes out of what is dealt out moves all others"
            return [Finding("skipped-more-on-ranks", what, told, why)]
    return []


def _epochs_of(run: Run) -> Iterator[tuple[Epoch, ...]]:
    """Each epoch that all ranks have read, as they have."""
    return map(run.epoch, range(min(len(rank.epochs) for rank in run.ranks)))


def _story(rank: RankRun) -> tuple[str, ...]:
    lines: list[str] = []
    for epoch in rank.epochs:
        (line,) = show((epoch,), label=f"epoch {epoch.number}, ")
        lines.append(line)
        if epoch.failure:
            lines.append(f"epoch {epoch.number}: {epoch.failure.sentence()}")
        else:
            lines.append(f"epoch {epoch.number}: ended without an error")
    if rank.failure:
        lines.append(f"rank {rank.rank}: {rank.failure.sentence()}")
    return tuple(lines)
