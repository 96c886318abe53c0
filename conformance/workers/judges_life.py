"""Chapter 4, life cycle: the judges of WORK-12 to WORK-17, on consumers that do more than read and close."""

from conformance.contract import Claims
from conformance.loader.conducts import BIG_KINDS
from conformance.loader.judging import (
    as_undisturbed,
    failed_while_loading,
    fails_anyway,
    missed,
    refuses_the_type,
    repeats,
    show,
)
from conformance.loader.living import FURTHER_LIVES
from conformance.loader.runs import FIRST_EPOCH
from conformance.loader.scenario import Scenario
from conformance.trace import Epoch, RankRun, Trace
from conformance.trial.clause import Finding, Verdict, clause


@clause("WORK-12", family="life", dataset="any", floor=4, twin=True)
def whole_after_leaving(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """The epoch after one that was left early is that of a loader that was not left."""
    if _clause_of(scenario) == "WORK-12":
        return _after_others(scenario, claims, trace)
    # A worker that hangs meanwhile is ERROR-7's.
    if not scenario.conduct.startswith("leave") or scenario.is_timed or fails_anyway(trace):
        return None
    (rank,) = trace.main.ranks
    if rank.failure and rank.failure.kind == "raised" and rank.epochs and not any(e.steps for e in rank.epochs[1:]):
        return []  # it refuses another loop, and says so
    if rank.failure:
        return [ended("failed-after-leaving", rank, "the next epoch, whole", "leaving a loop early is no mistake")]
    if scenario.kind in BIG_KINDS:
        return None  # nobody has looked at what came
    for epoch in rank.epochs[1:]:
        if not as_undisturbed(scenario, claims, trace, epoch):
            why = "what an epoch left early had loaded belongs to no other epoch"
            lines = _lines(rank.epochs, {epoch.number: _amiss(scenario, trace, epoch)})
            return [Finding("not-whole-after-leaving", "the next epoch whole, from its start", lines, why)]
    return []


@clause("WORK-13", family="life", dataset="any", floor=3, twin=True)
def two_iterators(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Two live iterators each give a whole epoch, or one of them an error."""
    if _clause_of(scenario) == "WORK-13":
        return _after_others(scenario, claims, trace)
    if not scenario.conduct.startswith("two") or fails_anyway(trace):
        return None
    (rank,) = trace.main.ranks
    if rank.failure:
        return [ended("failed-before-the-second", rank, "two epochs", "the first iterator is a valid request")]
    for name, epoch in zip(("first", "second"), rank.epochs, strict=True):
        refused = epoch.failure is not None and epoch.failure.kind == "raised"
        if not refused and not as_undisturbed(scenario, claims, trace, epoch):
            lines = (
                *show((rank.epochs[0],), label="first iterator, as "),
                *show((rank.epochs[1],), label="second, as "),
                f"the {name} one is not whole: {_amiss(scenario, trace, epoch)}",
            )
            why = "zip(loader, loader) and a loop in a loop do this; an error is right too, silence is not"
            return [Finding("iterators-disturb-each-other", "a whole epoch from each", lines, why)]
    return []


@clause("WORK-14", family="life", dataset="any", floor=10, twin=True)
def whole_after_an_error(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """After a failing epoch each next one is whole, or an error."""
    if _clause_of(scenario) == "WORK-14":
        return _after_others(scenario, claims, trace)
    (rank,) = trace.main.ranks
    if not scenario.fault or scenario.conduct or fails_anyway(trace):
        return None
    if rank.is_gone:
        return _gone_after_an_error(scenario, trace, rank)
    at = scenario.faulty_epoch
    if claims.errors == "skip" and len(rank.epochs) > at and not rank.epochs[at].failure:
        return []  # the failing sample was skipped, as is claimed: there was no error to go on after
    if failed_while_loading(rank):
        return []
    if rank.failure or len(rank.epochs) < at + 2 or not rank.epochs[at].failure:
        return None
    for epoch in rank.epochs[at + 1 :]:
        if not epoch.failure and not as_undisturbed(scenario, claims, trace, epoch):
            lines = _lines(rank.epochs, {epoch.number: _amiss(scenario, trace, epoch)})
            why = "an epoch that looks whole and is not trains on a part of the data"
            return [Finding("part-after-error", "a whole epoch, or an error", lines, why)]
    return []


def _gone_after_an_error(scenario: Scenario, trace: Trace, rank: RankRun) -> Verdict:
    """What is found where the rank hung or died: its first epoch, read alone, tells whether that came after the error.

    Where that one hangs too, the error itself did not arrive: the ERROR clauses name it.
    """
    if scenario.epochs < 2:
        return None
    alone = trace.variant(FIRST_EPOCH)
    if alone is not None:
        (first,) = alone.ranks
        if first.failure or not first.epochs[-1].failure:
            return None
    assert rank.failure is not None
    why = "a consumer that continues after an error waits forever"
    return [ended(f"{rank.failure.kind}-after-error", rank, "a whole epoch, or an error", why)]


# --- several things, one after the other ----------------------------------------------------------------------------


def _clause_of(scenario: Scenario) -> str:
    """The clause that judges what comes after several things: a second iterator is told first, then an error."""
    if not scenario.conduct.startswith("lives") or FURTHER_LIVES.keys() & {*scenario.words}:
        return ""  # WORK-21 says what comes of those
    return (
        "WORK-13" if {"held", "peeked"} & {*scenario.words} else "WORK-14" if "failed" in scenario.words else "WORK-12"
    )


def _after_others(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Each epoch that is read to its end is whole; an error is right where one is after that word alone."""
    if fails_anyway(trace):
        return None
    (rank,) = trace.main.ranks
    why = "what becomes of an epoch is nothing to the next one; to refuse is right, and to raise before its first step"
    if scenario.fault and failed_while_loading(rank):
        return []
    if rank.failure:
        return [ended("failed-after-others", rank, "the last epoch, whole", why)]
    words = [*scenario.words, ""]
    failed = dict(zip(words, rank.epochs, strict=False)).get("failed")
    if failed is not None and not failed.failure:
        return None
    beside = {"held", "peeked"} & set(words)
    late = beside or "failed" in words
    for word, epoch in zip(words, rank.epochs, strict=False):
        refused = epoch.failure is not None and epoch.failure.kind == "raised" and (late or not epoch.steps)
        if word == "failed" or epoch.left or refused or as_undisturbed(scenario, claims, trace, epoch):
            continue
        lines = _lines(rank.epochs, {epoch.number: _amiss(scenario, trace, epoch)})
        # One fault has one name, wherever it is met.
        kind = "iterators-disturb-each-other" if beside else "not-whole-after-others"
        return [Finding(kind, "a whole epoch, from its start", lines, why)]
    return []


_ENDS = ("ended", "dropped", "unread", "forgotten", "refused", "closed")


@clause("WORK-15", family="life", dataset="any", floor=1, twin=True)
def stays_at_its_end(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """After the end comes the end again, and closing twice, or never, is no error."""
    if scenario.conduct.partition("@")[0] not in _ENDS or fails_anyway(trace):
        return None
    (rank,) = trace.main.ranks
    if rank.failure and scenario.conduct in ("dropped", "forgotten"):
        return [ended("failed-when-dropped", rank, "no error", "dropping a loader is enough: closing it is optional")]
    if rank.failure and scenario.conduct == "refused":
        return [ended("failed-after-refusals", rank, "a loader as usual", "a request that was refused is over")]
    if rank.failure and rank.failure.where == "close" and scenario.conduct != "ended":
        what = "unread" if scenario.conduct == "unread" else "with a living iterator"
        return [
            ended(f"closing-{what.split()[0]}", rank, f"no error from closing it {what}", "closing is always allowed")
        ]
    if rank.failure and rank.failure.where == "close":
        return [
            ended("closing-twice", rank, "no error from closing twice", "closing is for clean-up, which comes twice")
        ]
    if rank.failure:
        return [ended("failed-at-its-end", rank, "the end again", "asking once more at the end is no mistake")]
    told = rank.remark("after-end")
    if told:
        why = "an iterator that has raised StopIteration goes on raising it (Python's iterator protocol)"
        return [Finding("revived", "StopIteration every time", (told,), why)]
    return []


@clause("WORK-16", family="life", dataset="any", applies=lambda claims: claims.aliases is not True, floor=2, twin=True)
def kept_batches_stay(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """What the user holds never changes."""
    holds = scenario.conduct.startswith("hold")
    if not (holds or scenario.conduct == "kept") or fails_anyway(trace):
        return None
    (rank,) = trace.main.ranks
    if holds and rank.failure:
        return None  # WORK-12 says what may come of an epoch that is left
    if rank.failure:
        return [ended("failed-while-kept", rank, "two epochs", "a list of all batches is a valid use")]
    told = rank.remark("changed")
    if told:
        why = "a batch that was handed over is the user's; a loader that reuses it says so (claim aliases)"
        return [Finding("kept-batch-changed", "a kept batch as it was", (told,), why)]
    if scenario.num_workers and not scenario.kind:
        # Written over before it was sent, a sample is wrong when it comes.
        for epoch in rank.epochs:
            if not epoch.left and not as_undisturbed(scenario, claims, trace, epoch):
                lines = _lines(rank.epochs, {epoch.number: _amiss(scenario, trace, epoch)})
                why = "a buffer that waits to be sent is not free"
                return [Finding("overwritten-before-it-came", "the samples of the dataset", lines, why)]
    return []


@clause("WORK-17", family="samples", dataset="any", floor=5, needs=("batch_size",))
def types_survive(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Collating keeps values and types, or refuses the samples with an error that names their type."""
    if scenario.kind in ("", "buffer", "large"):
        return None
    (rank,) = trace.main.ranks
    if refuses_the_type(rank):
        return []
    told = rank.failure.sentence() if rank.failure else rank.remark("types")
    if told:
        expected = "values and types as the dataset gives them, in columns or as a list"
        why = "what a model sees is then not what the dataset gave"
        return [Finding(f"types-{scenario.kind}", expected, (told,), why)]
    return []


def _amiss(scenario: Scenario, trace: Trace, epoch: Epoch) -> str:
    if epoch.failure:
        return epoch.failure.sentence()
    lost, again = sorted(missed(scenario, trace, epoch)), sorted(repeats(scenario, trace, epoch))
    parts = [f"without {' '.join(map(str, lost))}"] if lost else []
    parts += [f"{' '.join(map(str, again))} twice"] if again else []
    return ", ".join(parts) or "in another order"


def _lines(epochs: tuple[Epoch, ...], notes: dict[int, str]) -> tuple[str, ...]:
    lines: list[str] = []
    for epoch in epochs:
        note = {0: notes[epoch.number]} if epoch.number in notes else {}
        lines += [line.replace("rank 0: ", "") for line in show((epoch,), note, f"epoch {epoch.number}: ")]
    return tuple(lines)


def ended(kind: str, rank: RankRun, expected: str, why: str) -> Finding:
    assert rank.failure is not None
    return Finding(kind, expected, (f"rank {rank.rank}: {rank.failure.sentence()}",), why)
