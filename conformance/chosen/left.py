"""Chapter 11, epochs that are left: what is tried, and the judge of LEFT-1, of whatever a loader chooses."""

from collections.abc import Iterator
from dataclasses import replace

from conformance.chosen.scenario import ChosenScenario
from conformance.contract import Claims
from conformance.loader.judging import comparable, counts_itself, show
from conformance.trace import RankRun, Trace
from conformance.trial.clause import Finding, Verdict, clause
from conformance.trial.tiers import TIERS, Tier

# The run in which no epoch is left.
WHOLE = "whole"


def a_few_left(claims: Claims, tier: Tier) -> Iterator[ChosenScenario]:
    """The first epoch left after a step or two, for the next one or for the same again; ended by an error; or held."""
    yield from _left(claims, tier)


def _can_be_left(claims: Claims) -> bool:
    """Whether there is an epoch of what is chosen that is the same whether one was left before or not."""
    return next(_left(claims), None) is not None


def _left(claims: Claims, tier: Tier = TIERS["quick"]) -> Iterator[ChosenScenario]:
    for plain in _plain(claims, tier):
        # Whose order hangs on the epoch's number is asked for by a number.
        if (plain.shuffle or plain.about == "mixture") and not claims.goes_by_set_epoch:
            continue
        yield replace(plain, details=_with(plain, "left"))
        if claims.goes_by_set_epoch:
            yield replace(plain, details=_with(plain, "retried"))
        yield replace(plain, details=_with(plain, "failed"))
        yield replace(plain, details=_with(plain, "held"))


def _with(plain: ChosenScenario, word: str) -> str:
    return "+".join(filter(None, (plain.details, word)))


def _plain(claims: Claims, tier: Tier) -> Iterator[ChosenScenario]:
    shuffles = (False, True) if claims.shuffle else (False,)
    for shuffle in shuffles:
        for about in claims.batches:
            groups, size, budget = (3, 2, 0) if about == "grouped" else (1, 1, 6)
            yield ChosenScenario(13, about, 1, size, False, shuffle, parts=groups, budget=budget, epochs=2)
        if claims.subsets:
            yield ChosenScenario(20, "subset", 1, 2, False, shuffle, epochs=2)
        for rule in claims.mixtures:
            details = "all" if rule == "all_exhausted" else ""
            yield ChosenScenario(15, "mixture", 1, 2, False, shuffle, parts=3, epochs=2, details=details)
            if details and tier.name != "quick":
                # One source has been through many times before the loop is left, or the other one fails.
                yield ChosenScenario(4, "mixture", 1, 8, False, shuffle, parts=2, epochs=2, details="all+rare")
    if claims.stream_shuffle:
        for shuffle in (False, True):
            yield ChosenScenario(24, "stream", 1, 2, False, shuffle, parts=3, epochs=2)


@clause("LEFT-1", family="left", dataset="any", applies=_can_be_left, floor=1)
def leaves_nothing_behind(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """What is read after an epoch that was left, or failed, or beside one, is what is read where none was."""
    whole = trace.variant(WHOLE)
    if whole is None or whole.failed:
        return None
    (rank,) = trace.main.ranks
    if rank.failure and rank.failure.kind == "raised" and not any(epoch.steps for epoch in rank.epochs[1:]):
        return []  # it refuses another loop, and says so
    retried, failed = ("retried" in scenario.words, "failed" in scenario.words)
    if failed and rank.failure and rank.failure.kind == "raised":
        return []  # WORK-14 allows a loader to be of no more use, if it says so.
    if counts_itself(trace.main) and (retried or scenario.shuffle or scenario.about == "mixture"):
        return None
    if "held" in scenario.words and not rank.failure:
        return _beside(claims, rank, whole.ranks[0])
    due = whole.ranks[0].epochs[0 if retried else 1 :]
    why = "what an epoch had begun, gathered or drawn that did not come to its end belongs to no other epoch"
    if rank.failure:
        expected = "the same epoch again, whole" if retried else "the next epoch, whole"
        return [Finding(f"{rank.failure.kind}-after-leaving", expected, (rank.failure.sentence(),), why)]
    for came, wanted in zip(rank.epochs[1:], due, strict=False):
        if comparable(claims, came) != comparable(claims, wanted):
            lines = (
                *show((wanted,), label=f"epoch {wanted.number}, nothing left, rank 0 as "),
                *show((rank.epochs[0],), label=f"{'failed' if failed else 'left early'}, rank 0 as "),
                *show((came,), label=f"epoch {came.number} behind it, rank 0 as "),
            )
            return [Finding("not-whole-after-leaving", "the steps of a loader that was not left", lines, why)]
    return []


def _beside(claims: Claims, rank: RankRun, whole: RankRun) -> Verdict:
    """Two iterators that are alive at once: each gives the steps that it gives alone, or an error (WORK-13)."""
    for came, wanted in zip(rank.epochs, whole.epochs, strict=False):
        if came.failure and came.failure.kind == "raised":
            continue
        if came.failure or comparable(claims, came) != comparable(claims, wanted):
            lines = (
                *show((wanted,), label=f"epoch {wanted.number}, read alone, rank 0 as "),
                *show((came,), label=f"epoch {came.number} beside another, rank 0 as "),
            )
            why = "what an epoch has begun, gathered or drawn is its own while another one is read"
            return [Finding("not-whole-beside-another", "the steps of an epoch that is read alone", lines, why)]
    return []
