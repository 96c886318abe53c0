"""Chapter 9, what comes: the judges of RESUME-1 to 4 and 12, on loaders that are interrupted and resumed by a state.

The loader that gave the state has gone on as well. What it delivered then is what must come from the state.
"""

from conformance.contract import Claims
from conformance.loader import generators
from conformance.loader.judging import ends
from conformance.loader.scenario import Scenario
from conformance.restarts.judging import (
    OF_STATES,
    before,
    ends_as_claimed,
    failed_to_read,
    judged_rest,
    lines_of,
    missing_between,
    next_epoch,
    place_in_epoch,
    ranks_at,
    rest,
    resumes,
    same,
    saved_epoch,
    steps_text,
    words_of,
)
from conformance.trace import Run, Trace
from conformance.trial.clause import Finding, Verdict, clause
from conformance.trial.words import count


@clause("RESUME-1", family="resume", dataset="any", applies=resumes, floor=12)
def the_rest_comes(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """What was delivered before a restart and what comes after it are together the uninterrupted epoch."""
    if words_of(scenario) == {"failed"}:
        return _the_rest_after_an_error(scenario, claims, trace)
    return None if words_of(scenario) else judged_rest(scenario, claims, trace, "middle")


def _the_rest_after_an_error(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """The same where the first job ended by an error, and the step that failed was not delivered."""
    failing, run = trace.variant("failed"), trace.variant("resumed")
    if failing is None or run is None or failing.failed or trace.main.failed:
        return None
    if failed_to_read(run):
        return ends(run, ())
    for rank, first, after in zip(trace.main.ranks, failing.ranks, run.ranks, strict=True):
        head, whole = first.epochs[-1].steps, saved_epoch(scenario, rank).steps
        if run.failed or not same(scenario, claims, head, whole[: len(head)]) or len(head) == len(whole):
            return None
        finding = missing_between(scenario, claims, rank, after.epochs[0].steps, head, whole[len(head) :])
        if finding:
            return [finding]
    return []


# --- the epochs around it ----------------------------------------------------------------------------------------


@clause("RESUME-2", family="resume", dataset="any", applies=resumes, floor=12)
def the_next_epoch_is_whole(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """The epoch after the one that was resumed is the one that follows without a restart."""
    run, ranks = trace.variant("resumed"), ranks_at(scenario, trace, "start", "middle")
    # Where a generator was handed over, what it gives after the rest is nobody's promise.
    if generators.WORD in scenario.words:
        return None
    if words_of(scenario) - {"left", "unbegun"} or run is None or not ranks:
        return None
    # Where a sample failed in the first job, it may fail in the next epoch of the second one. After a rest that it
    # has ended an error is allowed, as after any epoch (WORK-14).
    if scenario.fault and (run.failed or not _ended_by_errors(run)):
        return None
    if run.failed:
        # Where nothing was left, and nothing begun, a rest that can't be read is judged by RESUME-1, or by RESUME-3.
        return ends(run, ()) if "left" in words_of(scenario) and failed_to_read(run) else None
    for rank, after in ((trace.main.ranks[at], run.ranks[at]) for at in ranks):
        expected, got = next_epoch(scenario, rank).steps, after.epochs[1].steps
        if not same(scenario, claims, got, expected):
            lines = (
                *lines_of(rank, "before the restart, ", before(scenario, rank)),
                *lines_of(rank, "after it, ", after.epochs[0].steps),
                *lines_of(rank, "the next epoch, ", got),
            )
            why = "a position in one epoch is none in the next, and the next epoch is another one"
            return [Finding("next-epoch-after-restart", f"the next epoch: {steps_text(expected)}", lines, why)]
        is_as_long = next_epoch(scenario, rank).is_as_long_as(after.epochs[1])
        if claims.length and scenario.dataset == "map" and not is_as_long:
            told = f"len() = {after.epochs[1].length} before the next epoch, which has {count(len(got), 'step')}"
            why = "the rest was shorter; the next epoch is as long as ever"
            return [Finding("length-after-restart", f"len() = {len(expected)}", (f"rank {rank.rank}: {told}",), why)]
    return []


def _ended_by_errors(run: Run) -> bool:
    """Whether the rest of each rank has ended by the error of its dataset, and another epoch was read."""
    rests = [rank.epochs[0] for rank in run.ranks if rank.epochs[1:]]
    return len(rests) == len(run.ranks) and all(rest.failure and rest.failure.kind == "raised" for rest in rests)


@clause("RESUME-3", family="resume", dataset="any", applies=resumes, floor=4)
def nothing_read_is_nothing_skipped(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """A state that was taken before the first step of an epoch gives the whole epoch."""
    return None if words_of(scenario) - {"unbegun"} else judged_rest(scenario, claims, trace, "start")


@clause("RESUME-4", family="resume", dataset="any", applies=resumes, floor=6)
def the_end_is_an_end(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """After a state that was taken at the end of an epoch comes the next epoch, or first an empty rest, as claimed."""
    run, ranks = trace.variant("resumed"), ranks_at(scenario, trace, "last", "end")
    if words_of(scenario) or run is None or not ranks:
        return None
    if failed_to_read(run):
        return ends(run, ())
    if run.failed or not any(next_epoch(scenario, trace.main.ranks[at]).steps for at in ranks):
        return None
    for rank, after in ((trace.main.ranks[at], run.ranks[at]) for at in ranks):
        place = place_in_epoch(scenario, rank)
        if not ends_as_claimed(scenario, claims, rank, after, place):
            expected = next_epoch(scenario, rank).steps
            lines = (
                *lines_of(rank, "before the restart, ", before(scenario, rank)),
                *(line for epoch in after.epochs for line in lines_of(rank, "then an epoch, ", epoch.steps)),
            )
            rule = {"next": "the next epoch", "empty": "an empty rest, then the next epoch"}
            claim = claims.end_of_epoch if place == "end" else None
            text = rule[claim] if claim else "the next epoch, at once or after an empty rest"
            why = f'end_of_epoch="{claim}" is claimed' if claim else "at its end nothing of an epoch is left"
            return [Finding(f"after-the-{place}", f"{text}: {steps_text(expected)}", lines, why)]
    return []


# --- loaders that promise nothing -----------------------------------------------------------------------------------


@clause("RESUME-12", family="resume", dataset="any", applies=lambda claims: not claims.resume, floor=1)
def nothing_is_pretended(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """A loader that doesn't claim `resume` has no state, refuses it, or at least does not start over with it."""
    if trace.main.failed:
        return [] if _about_states(trace.main) else None
    run = trace.variant("resumed")
    if run is None:
        return None
    if run.failed:
        return [] if _about_states(run) else None
    for rank, after in zip(trace.main.ranks, run.ranks, strict=True):
        whole, got = saved_epoch(scenario, rank).steps, after.epochs[0].steps
        if place_in_epoch(scenario, rank) == "middle" and got == whole:
            lines = (
                *lines_of(rank, "before the restart, ", before(scenario, rank)),
                *lines_of(rank, "after it, ", got),
            )
            why = "load_state_dict() took the state and did nothing with it; have none, raise, or go on from it"
            return [Finding("state-ignored", steps_text(rest(scenario, rank)), lines, why)]
    return []


def _about_states(run: Run) -> bool:
    return all(rank.failure is None or rank.failure.where in OF_STATES for rank in run.ranks)
