"""Chapter 9, further restarts: the judge of RESUME-5, on states that are taken after one."""

from dataclasses import replace

from conformance.contract import Claims
from conformance.loader.judging import ends
from conformance.loader.scenario import Scenario
from conformance.restarts.judging import (
    Steps,
    failed_to_read,
    lines_of,
    missing_between,
    next_epoch,
    resumes,
    same,
    saved_epoch,
    steps_text,
    taken_at,
    words_of,
)
from conformance.restarts.runs import IN_BETWEEN
from conformance.restarts.scenario import ELASTIC, resumed
from conformance.trace import RankRun, Run, Trace
from conformance.trial.clause import Finding, Verdict, clause


@clause("RESUME-5", family="resume", dataset="any", applies=resumes, floor=6)
def restarts_add_up(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """A state that is taken after a restart is as good as the first one."""
    run, once = trace.variant("resumed again"), trace.variant("resumed")
    words = words_of(scenario) - {"often"}
    by_others = words & set(ELASTIC) if claims.elastic and "onward" in words else set[str]()
    words -= by_others
    if len(words) != 1 or not words < _TWICE or run is None or once is None or trace.main.failed or once.failed:
        return None
    if failed_to_read(run):
        return ends(run, ())
    if run.failed:
        return None
    if by_others:
        return _in_the_next_of_others(scenario, claims, once, run)
    ranks = zip(trace.main.ranks, once.ranks, run.ranks, strict=True)
    plain = trace.variant("untouched")
    # The steps between the first restart and the last one.
    more = int("again" in words) + sum(each.name.startswith(IN_BETWEEN) for each in trace.runs)
    verdicts = [
        _second(scenario, claims, words, more, plain.ranks[at] if plain else None, *each)
        for at, each in enumerate(ranks)
    ]
    found = [finding for verdict in verdicts for finding in verdict or []]
    return found[:1] if any(verdict is not None for verdict in verdicts) else None


_TWICE = {"again", "relayed", "anew", "onward"}


def _second(
    scenario: Scenario,
    claims: Claims,
    words: set[str],
    more: int,
    plain: RankRun | None,
    rank: RankRun,
    once: RankRun,
    after: RankRun,
) -> Verdict:
    """What is wrong on a rank after the last restart; what is wrong after the first one is judged by others.

    `more`: the steps that came between the two.
    """
    if words == {"onward"}:
        return _in_the_next(scenario, claims, rank, once, after, plain)
    taken, whole = taken_at(scenario, rank), saved_epoch(scenario, rank).steps
    first = once.epochs[0].steps
    # A loader that has read nothing yet is as good as new, so that a state after its first step is judged by RESUME-1.
    if taken + more >= len(whole) or (more and not taken):
        return None
    if not same(scenario, claims, first, whole[taken:]):
        return None
    # Where no order is promised, what came between is not what came there without a restart.
    had, owed = (*whole[:taken], *first[:more]), first[more:]
    finding = missing_between(scenario, claims, rank, after.epochs[0].steps, had, owed)
    if finding:
        head = lines_of(rank, "before the first restart, ", whole[:taken])
        between = lines_of(rank, f"then, before the {'second' if more < 2 else 'last'}, ", first[:more])
        last = finding.delivered[1].replace("after it, ", "after that, ")
        return [replace(finding, kind=f"second-{finding.kind}", delivered=(*head, *between, last))]
    return _next_after_two(scenario, claims, rank, once, after)


def _next_after_two(scenario: Scenario, claims: Claims, rank: RankRun, once: RankRun, after: RankRun) -> list[Finding]:
    expected, got = next_epoch(scenario, rank).steps, after.epochs[1].steps
    if same(scenario, claims, got, expected) or not same(scenario, claims, once.epochs[1].steps, expected):
        return []
    lines = (
        *lines_of(rank, "after the second restart, ", after.epochs[0].steps),
        *lines_of(rank, "the next epoch, ", got),
    )
    why = "what was skipped is skipped once, and in its own epoch"
    return [Finding("next-epoch-after-second-restart", f"the next epoch: {steps_text(expected)}", lines, why)]


def _in_the_next(
    scenario: Scenario, claims: Claims, rank: RankRun, once: RankRun, after: RankRun, plain: RankRun | None
) -> Verdict:
    """The same where the second state is one of the epoch after the rest; `plain` goes on there after no restart."""
    whole = next_epoch(scenario, rank).steps
    if plain is None or plain.failure or len(once.epochs) < 2 or len(whole) < 2:
        return None
    is_right = same(scenario, claims, plain.epochs[0].steps, whole[1:])
    if not (is_right and same(scenario, claims, once.epochs[1].steps, whole)):
        return None
    return _goes_on_there(scenario, claims, rank, whole, after.epochs[0].steps)


def _in_the_next_of_others(scenario: Scenario, claims: Claims, once: Run, again: Run) -> Verdict:
    """The same where other ranks or workers have resumed: their next epoch is known by what they delivered of it."""
    pairs = [(rank.epochs, after.epochs) for rank, after in zip(once.ranks, again.ranks, strict=True)]
    # Whether it is whole is judged by RESUME-10. A rank that is at its end may begin another one.
    if any(len(first) < 2 or not second or len(first[1].steps) < 2 for first, second in pairs):
        return None
    found = [
        _goes_on_there(resumed(scenario), claims, rank, first[1].steps, second[0].steps)
        for rank, (first, second) in zip(once.ranks, pairs, strict=True)
    ]
    return next(filter(None, found), [])


def _goes_on_there(scenario: Scenario, claims: Claims, rank: RankRun, whole: Steps, got: Steps) -> list[Finding]:
    if same(scenario, claims, got, whole[1:]):
        return []
    lines = (
        *lines_of(rank, "the epoch after the first restart, ", whole[:1]),
        *lines_of(rank, "after the second one, ", got),
    )
    why = "a state counts in its own epoch, and not what was skipped in another one"
    return [Finding("second-in-the-next-epoch", steps_text(whole[1:]), lines, why)]
