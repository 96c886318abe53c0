"""Chapter 4, what a loader has lived through: the judge of WORK-21, of any request."""

from conformance.contract import Claims
from conformance.lives.drawn import has_life
from conformance.lives.scenario import LifeScenario
from conformance.loader.judging import comparable, counts_itself, in_known_order, show
from conformance.loader.living import LIVES
from conformance.loader.scenario import Scenario
from conformance.trace import Epoch, Run, Trace
from conformance.trial.clause import Finding, Verdict, clause

# The run in which every epoch is read to its end, and those in which one word of the life is left alone.
WHOLE, ALONE = "whole", "alone: "
# What other clauses ask of a request alone; the plain one is left, or read on, in more ways.
_OF_ANY, _OF_PLAIN = ("left", "held", "failed"), (*LIVES, "saved")


@clause("WORK-21", family="lives", dataset="any", applies=has_life, floor=8, twin=True)
def lives_leave_nothing_behind(scenario: LifeScenario, claims: Claims, trace: Trace) -> Verdict:
    """What is read after several things is what is read where every epoch was read to its end."""
    whole = trace.variant(WHOLE)
    if whole is None or whole.failed or _is_of_others(scenario):
        return None
    is_numbered = scenario.asked.shuffle or getattr(scenario.asked, "about", "") == "mixture"
    # Which shard a rank has may hang on the epoch, where no layout says it.
    is_numbered |= scenario.asked.world_size > 1 and claims.layout is None
    if counts_itself(trace.main) and (is_numbered or "again" in scenario.life):
        return None
    if any(_amiss(scenario, claims, run, whole) for run in trace.runs if run.name.startswith(ALONE)):
        return None
    finding = _amiss(scenario, claims, trace.main, whole)
    return [finding] if finding else []


def asked_elsewhere(scenario: LifeScenario) -> list[str]:
    """What of the life other clauses ask about, alone: where that differs already, they say so."""
    known: tuple[str, ...] = _OF_ANY
    if isinstance(scenario.asked, Scenario):
        known = _OF_ANY if "sampler" in scenario.hooks else _OF_PLAIN
    elif scenario.asked.about == "mixture":
        known = (*_OF_ANY, "saved")
    # What one break leaves behind, ten do.
    words = dict.fromkeys("left" if word == "often" else word for word in scenario.life)
    return [word for word in words if word in known]


def _is_of_others(scenario: LifeScenario) -> bool:
    """Whether WORK-12 to 15 judge such lives: of a plain loader that does not read ahead."""
    is_plain = isinstance(scenario.asked, Scenario) and not scenario.asked.asynchronous
    return is_plain and not scenario.hooks and scenario.asked.world_size == 1 and {*scenario.life} <= LIVES.keys()


def _amiss(scenario: LifeScenario, claims: Claims, run: Run, whole: Run) -> Finding | None:
    """What differs first from the run of whole epochs; to refuse with an error is right, as WORK-12 to 14 say."""
    for rank, as_due in zip(run.ranks, whole.ranks, strict=True):
        if rank.failure and rank.failure.kind == "raised":
            continue
        if rank.failure:
            why = "whatever was done before is no reason to wait or to end"
            told = f"rank {rank.rank}: {rank.failure.sentence()}"
            return Finding(f"{rank.failure.kind}-in-a-life", "each epoch, or an error", (told,), why)
        due = {epoch.number: epoch for epoch in as_due.epochs}
        differs = next((each for each in rank.epochs if not _is_due(scenario, claims, each, due[each.number])), None)
        if differs is not None:
            return _different(rank.rank, rank.epochs, differs, due[differs.number])
        if rank.remark("stale"):
            why = "an epoch that was left takes its errors along"
            told = f"rank {rank.rank}: {rank.remark('stale')}"
            return Finding("stale-in-a-life", "no error of another epoch", (told,), why)
        # What changes where nothing is done either is WORK-16's.
        if rank.remark("changed") and not as_due.remark("changed"):
            why = "what is held is the consumer's, whatever becomes of the loader"
            told = f"rank {rank.rank}: {rank.remark('changed')}"
            return Finding("changed-in-a-life", "every batch as it was when it came", (told,), why)
    return None


def _is_due(scenario: LifeScenario, claims: Claims, came: Epoch, due: Epoch) -> bool:
    if came.failure and came.failure.kind != "raised":
        return False
    # Where `iter()` refuses, no length was asked for.
    if claims.length and not came.is_as_long_as(due) and not (came.failure and came.length is None):
        return False
    known = isinstance(scenario.asked, Scenario) and in_known_order(scenario.asked, claims)
    if came.left or came.failure:
        return not known or due.steps[: len(came.steps)] == came.steps
    if not known and (scenario.asked.num_workers or not claims.in_order):
        return sorted(came.samples) == sorted(due.samples)
    return comparable(claims, came) == comparable(claims, due)


def _different(rank: int, epochs: tuple[Epoch, ...], came: Epoch, due: Epoch) -> Finding:
    before = epochs[: epochs.index(came)]
    if not came.is_as_long_as(due) and came.steps == due.steps:
        told = f"rank {rank}: len() = {came.length} before epoch {came.number}"
        return Finding("length-in-a-life", f"len() = {due.length}", (told,), "an epoch is as long as ever")
    lines = (
        *_lines(due, "where every epoch is whole, ", rank),
        *(line for epoch in before[-3:] for line in _lines(epoch, "before it, ", rank)),
        *_lines(came, "here, ", rank),
    )
    if came.failure:
        lines = (*lines, f"epoch {came.number}: {came.failure.sentence()}")
    why = "what an epoch had begun, gathered, drawn or kept belongs to no other epoch, and to no other loader"
    return Finding("other-in-a-life", f"epoch {came.number} as where every epoch is read to its end", lines, why)


def _lines(epoch: Epoch, label: str, rank: int) -> tuple[str, ...]:
    (line,) = show((epoch,), label=f"{label}epoch {epoch.number}: ")
    return (line.replace("rank 0:", f"rank {rank}:"),)
