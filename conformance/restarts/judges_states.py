"""Chapter 9, states: the judges of RESUME-6 to 9, on states that are looked at, kept, shared, and loaded anywhere."""

from dataclasses import replace

from conformance.contract import Claims
from conformance.loader.judging import ends
from conformance.loader.scenario import Scenario
from conformance.restarts.judging import (
    OF_STATES,
    difference,
    failed_to_read,
    flat,
    lines_of,
    next_epoch,
    ranks_at,
    rest,
    resumes,
    same,
    saved_epoch,
    steps_text,
    words_of,
)
from conformance.restarts.scenario import OF_OTHERS
from conformance.trace import RankRun, Run, Trace
from conformance.trial.clause import Finding, Verdict, clause
from conformance.trial.words import place_of


@clause("RESUME-6", family="resume", dataset="any", applies=resumes, floor=3)
def looking_changes_nothing(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Taking a state changes nothing of what the loader delivers, then and later."""
    if words_of(scenario) in ({"again"}, {"relayed"}, {"anew"}, {"twice"}):
        return _not_touched(scenario, claims, trace)
    twin = trace.variant("unwatched")
    if words_of(scenario) != {"watched"} or twin is None or twin.failed:
        return None
    if failed_to_read(trace.main):
        return ends(trace.main, ())
    if trace.main.failed or not _is_repeatable(scenario, trace.main, twin):
        return None
    labels = ("epoch {}, without states, ", "with states taken, ")
    return _undisturbed(scenario, claims, trace.main, twin, "disturbed-by-a-state", labels)


def _not_touched(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """The same where the state is taken on the way of a rest, against a restart without it."""
    run, twin = trace.variant("resumed"), trace.variant("untouched")
    if run is None or twin is None or twin.failed:
        return None
    if failed_to_read(run):
        return ends(run, ())
    if run.failed:
        return None
    if words_of(scenario) == {"twice"}:
        labels = ("from the first state, ", "from the second, ")
        return _undisturbed(scenario, claims, run, twin, "two-states-differ", labels)
    labels = ("after a restart, ", "with a state taken on the way, ")
    return _undisturbed(scenario, claims, run, twin, "disturbed-after-a-restart", labels)


def _undisturbed(
    scenario: Scenario, claims: Claims, run: Run, twin: Run, kind: str, labels: tuple[str, str]
) -> list[Finding]:
    """What the run delivers otherwise than its twin, in which no state was taken; `labels` name the twin's first."""
    for rank, other in zip(run.ranks, twin.ranks, strict=True):
        for watched, usual in zip(rank.epochs, other.epochs, strict=True):
            if not same(scenario, claims, watched.steps, usual.steps):
                lines = (
                    *lines_of(rank, labels[0].format(usual.number), usual.steps),
                    *lines_of(rank, labels[1], watched.steps),
                )
                why = "a checkpoint is a look at a run, and no part of it"
                return [Finding(kind, "the same steps both times", lines, why)]
    return []


# Shuffled epochs of a loader that is not repeatable at all agree so far by chance once in 40,000 times.
_ENOUGH = 8


def _is_repeatable(scenario: Scenario, run: Run, twin: Run) -> bool:
    """Whether what came before the first state was the same both times: else the two can't be compared (ORDER-5)."""
    heads = [_until_the_state(scenario, each) for each in (run, twin)]
    return heads[0] == heads[1] and (not scenario.shuffle or len(heads[0]) >= _ENOUGH)


def _until_the_state(scenario: Scenario, run: Run) -> list[int]:
    place = place_of(scenario.conduct)
    samples: list[int] = []
    for rank in run.ranks:
        for epoch in rank.epochs[:-2]:
            samples += epoch.samples
        samples += flat(rank.epochs[-2].steps[:place])
    return samples


@clause("RESUME-7", family="resume", dataset="any", applies=resumes, floor=6)
def a_state_is_of_its_moment(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """A state that is kept while the loader goes on, or given to two loaders, stays what it was."""
    # Whether later states are taken of that loader meanwhile, or none.
    words = words_of(scenario)
    words -= {"watched", "mended"} if len(words) > 1 else set()
    once, twice = trace.variant("resumed"), trace.variant("resumed again")
    ranks = ranks_at(scenario, trace, "start", "middle")
    if words == {"shared"} and once is not None and any(map(_second_loader_failed, once.ranks)):
        return ends(once, ())
    if words not in ({"held"}, {"shared"}) or once is None or once.failed or not ranks:
        return None
    if words == {"held"} and (twice is None or twice.failed):
        return ends(twice, ()) if twice is not None else None
    why = "what is written to disk a moment later, or loaded once more, must be the state of its own moment"
    exercised = False
    for at in ranks:
        first = once.ranks[at].epochs[0].steps
        second = (twice.ranks[at].epochs[0] if twice is not None else once.ranks[at].epochs[2]).steps
        # What a restart makes of the state at its best is judged by RESUME-1, but where a sample fails in one alone.
        if "mended" not in scenario.words and not same(scenario, claims, first, rest(scenario, trace.main.ranks[at])):
            continue
        exercised = True
        if not same(scenario, claims, second, first):
            labels = ("pickled at once, ", "later, ") if twice is not None else ("the first loader, ", "the second, ")
            lines = [
                line
                for label, steps in zip(labels, (first, second), strict=True)
                for line in lines_of(trace.main.ranks[at], label, steps)
            ]
            return [Finding("moved-on" if twice is not None else "used-up", steps_text(first), tuple(lines), why)]
    return [] if exercised else None


def _second_loader_failed(rank: RankRun) -> bool:
    # The first one has read the rest and the next epoch.
    return rank.failure is not None and rank.failure.where not in OF_STATES and len(rank.epochs) > 1


@clause("RESUME-8", family="resume", dataset="any", applies=resumes, floor=20)
def states_are_taken_and_loaded(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """A state can be taken at any moment, pickled, and loaded in another process by a loader of the same request."""
    if words_of(scenario) & {"used", "amid", "begun", *OF_OTHERS}:
        return None
    for run in trace.runs:
        for rank in run.ranks:
            if rank.failure and rank.failure.where in OF_STATES:
                line = f"rank {rank.rank}: {rank.failure.sentence()}"
                why = "a job is stopped at any moment, and its checkpoint is all that is left of it"
                kind = f"{rank.failure.where}-{rank.failure.kind}"
                return [Finding(kind, "a state that is taken, pickled and loaded", (line,), why)]
    return None if trace.main.failed else []


def _refused_late(scenario: Scenario, trace: Trace) -> list[Finding]:
    """A loader that has delivered something from the state has not refused it, though it raises then."""
    for rank in trace.main.ranks:
        given = [step for epoch in rank.epochs[scenario.epochs :] for step in epoch.steps]
        if rank.failure and given:
            lines = (*lines_of(rank, "with the state loaded again, ", tuple(given)), rank.failure.sentence())
            why = "a state is refused before anything is made of it"
            return [Finding("refused-late", "the rest of the epoch, or an error before it", lines, why)]
    return []


@clause("RESUME-9", family="resume", dataset="any", applies=resumes, floor=3)
def loading_takes_effect(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """A loader that has been read goes on from the state as well, or refuses it."""
    if words_of(scenario) in ({"amid"}, {"begun"}):
        return _loaded_under_way(scenario, claims, trace)
    if words_of(scenario) != {"used"}:
        return None
    # All epochs were read, and then the state was loaded; a loader that raises there refuses it.
    late = [rank.failure for rank in trace.main.ranks if rank.failure and len(rank.epochs) >= scenario.epochs]
    if late:
        if any(failure.kind != "raised" for failure in late):
            return ends(trace.main, ())
        return _refused_late(scenario, trace)
    fresh = trace.variant("resumed")
    ranks = ranks_at(scenario, trace, "start", "middle")
    if fresh is None or fresh.failed or not ranks:
        return None
    exercised = False
    for rank, other in ((trace.main.ranks[at], fresh.ranks[at]) for at in ranks):
        # What a new loader makes of the state is judged by RESUME-1.
        if not same(scenario, claims, other.epochs[0].steps, rest(scenario, rank)):
            continue
        exercised = True
        finding = difference(scenario, claims, rank, rank.epochs[scenario.epochs].steps)
        if finding:
            lines = (
                *lines_of(rank, "the whole epoch, ", saved_epoch(scenario, rank).steps),
                *lines_of(rank, "with the state loaded again, ", rank.epochs[scenario.epochs].steps),
            )
            why = "a state that is loaded and not used is a restart that nobody notices; an error is right too"
            return [replace(finding, kind="not-loaded", delivered=lines, why=why)]
        expected, got = next_epoch(scenario, rank).steps, rank.epochs[scenario.epochs + 1].steps
        if not same(scenario, claims, got, expected) and same(scenario, claims, other.epochs[1].steps, expected):
            lines = lines_of(rank, "the epoch after the state was loaded again, ", got)
            why = "the state says which epoch it is of, and the next one follows"
            return [Finding("next-epoch-not-loaded", f"the next epoch: {steps_text(expected)}", lines, why)]
    return [] if exercised else None


def _loaded_under_way(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """The same where an iterator was there already: the rest comes from it, or from the next one, or an error does."""
    run, plain = trace.variant("resumed"), trace.variant("untouched")
    ranks = ranks_at(scenario, trace, "start", "middle")
    if run is None or plain is None or plain.failed or not ranks:
        return None
    if run.failed:
        return ends(run, ("raised",))
    exercised = False
    for rank, other, after in ((trace.main.ranks[at], plain.ranks[at], run.ranks[at]) for at in ranks):
        expected = rest(scenario, rank)
        # What a new loader makes of the state is judged by RESUME-1.
        if not expected or not same(scenario, claims, other.epochs[0].steps, expected):
            continue
        exercised = True
        passes = after.epochs[: 2 if words_of(scenario) == {"begun"} else 1]
        if not any(same(scenario, claims, each.steps, expected) for each in passes):
            label = "with the state loaded while an iterator was there, "
            lines = tuple(line for each in passes for line in lines_of(rank, label, each.steps))
            why = "a state that is loaded and not used is a restart that nobody notices; an error is right too"
            return [Finding("not-loaded-under-way", steps_text(expected), lines, why)]
    return [] if exercised else None
