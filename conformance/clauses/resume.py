"""Chapter 9: the judges of RESUME-1 to 9 and 12, on loaders that are stopped and gone on with by a state.

The loader that gave the state has gone on as well. What it delivered then is what must come from the state.
"""

from collections.abc import Iterator
from dataclasses import replace

from conformance.clauses.arithmetic import ends
from conformance.clauses.asynchronous import in_known_order
from conformance.clauses.base import Finding, Verdict, clause, listed, show
from conformance.contract import Claims
from conformance.scenario import Scenario, place_of
from conformance.trace import Epoch, RankRun, Run, Trace

Steps = tuple[tuple[int, ...], ...]


def resumes(claims: Claims) -> bool:
    """Whether a restart is promised to go on where the epoch stopped."""
    return bool(claims.resume)


def taken_at(scenario: Scenario, rank: RankRun) -> int:
    """After how many steps of its epoch a rank's state was taken."""
    return min(place_of(scenario.conduct), len(_saved_epoch(scenario, rank).steps))


def before(scenario: Scenario, rank: RankRun) -> Steps:
    """The steps of the epoch that came before the state was taken."""
    return _saved_epoch(scenario, rank).steps[: taken_at(scenario, rank)]


def rest(scenario: Scenario, rank: RankRun) -> Steps:
    """Those that came after it from the loader that gave the state."""
    return _saved_epoch(scenario, rank).steps[taken_at(scenario, rank) :]


def _saved_epoch(scenario: Scenario, rank: RankRun) -> Epoch:
    return rank.epochs[scenario.epochs - 2]


def _next_epoch(scenario: Scenario, rank: RankRun) -> Epoch:
    return rank.epochs[scenario.epochs - 1]


def _ranks_at(scenario: Scenario, trace: Trace, *places: str) -> list[int]:
    """The ranks whose state was taken there; where shards are uneven, one rank may be at its end before another."""
    if trace.main.failed:
        return []
    return [rank.rank for rank in trace.main.ranks if _place_of(scenario, rank) in places]


def _place_of(scenario: Scenario, rank: RankRun) -> str:
    """Where a rank's state was taken: "start", "middle", "last" (after the last step), or "end"."""
    asked, steps = place_of(scenario.conduct), len(_saved_epoch(scenario, rank).steps)
    if asked > steps:
        return "end"
    if asked == 0:
        return "start"
    return "last" if asked == steps else "middle"


def _words(scenario: Scenario) -> set[str]:
    # Whether set_epoch() comes before or after the state is the consumer's affair in every case.
    return set(scenario.details.split("+")) - {"", "inside"}


# --- the rest of an epoch -------------------------------------------------------------------------------------------


@clause("RESUME-1", family="resume", dataset="any", applies=resumes, floor=12)
def the_rest_comes(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """What was delivered before a restart and what comes after it are together the uninterrupted epoch."""
    if _words(scenario):
        return None
    return ends(trace.main, ()) if _failed(trace.main) else _rest_of(scenario, claims, trace, "middle")


def _rest_of(scenario: Scenario, claims: Claims, trace: Trace, *places: str) -> Verdict:
    """The judgement of the ranks that go on at these places of an epoch."""
    run, ranks = trace.variant("resumed"), _ranks_at(scenario, trace, *places)
    if run is None or not ranks:
        return None
    if _failed(run):
        return ends(run, ())
    if run.failed:
        return None
    for at in ranks:
        finding = _differs(scenario, claims, trace.main.ranks[at], run.ranks[at].epochs[0].steps)
        if finding:
            return [finding]
    return []


def _failed(run: Run) -> bool:
    """Whether a run failed elsewhere than in taking or loading a state, which is RESUME-8's matter."""
    return any(rank.failure and rank.failure.where not in _OF_STATES for rank in run.ranks)


_OF_STATES = ("state_dict", "load_state_dict")


def _differs(scenario: Scenario, claims: Claims, rank: RankRun, got: Steps, taken: int | None = None) -> Finding | None:
    """What is wrong with the steps after a restart, if anything is."""
    steps = _saved_epoch(scenario, rank).steps
    at = taken_at(scenario, rank) if taken is None else taken
    head, expected = steps[:at], steps[at:]
    if same(scenario, claims, got, expected):
        return None
    kind, note = _amiss(flat(head), flat(got), flat(expected))
    lines = (*_line(rank, "before the restart, ", head), *_line(rank, "after it, ", got, note))
    why = "who stops and goes on trains on what an uninterrupted run trains on"
    return Finding(kind, told(expected), lines, why)


def same(scenario: Scenario, claims: Claims, got: Steps, expected: Steps) -> bool:
    """Whether two deliveries are one, in the order that is promised."""
    if in_known_order(scenario, claims):
        return got == expected
    return sorted(map(sorted, got)) == sorted(map(sorted, expected))


def _amiss(head: list[int], got: list[int], expected: list[int]) -> tuple[str, str]:
    again = [index for index in dict.fromkeys(got) if index in head and index not in expected]
    lost = [index for index in dict.fromkeys(expected) if index not in got]
    if again:
        return "repeated-after-restart", f"{listed(again)} again"
    if lost:
        return "lost-after-restart", f"without {listed(lost)}"
    if sorted(got) == sorted(expected):
        return "other-after-restart", "in other steps, or in another order"
    return "repeated-after-restart", f"{listed(sorted({index for index in got if got.count(index) > 1}))} twice"


def flat(steps: Steps) -> list[int]:
    """The samples of some steps."""
    return [index for step in steps for index in step]


def told(steps: Steps, none: str = "no more steps") -> str:
    """Steps in the words of a report."""
    return " | ".join(" ".join(map(str, step)) for step in steps) or none


def _line(rank: RankRun, label: str, steps: Steps, note: str = "") -> Iterator[str]:
    (line,) = show((Epoch(0, steps),), {0: note} if note else {}, label)
    yield line.replace("rank 0", f"rank {rank.rank}")


# --- the epochs around it -------------------------------------------------------------------------------------------


@clause("RESUME-2", family="resume", dataset="any", applies=resumes, floor=12)
def the_next_epoch_is_whole(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """The epoch after the one that was gone on with is the one that follows without a restart."""
    run, ranks = trace.variant("resumed"), _ranks_at(scenario, trace, "start", "middle")
    if _words(scenario) - {"left"} or run is None or not ranks:
        return None
    if run.failed:
        return ends(run, ()) if _words(scenario) and _failed(run) else None
    for rank, after in ((trace.main.ranks[at], run.ranks[at]) for at in ranks):
        expected, got = _next_epoch(scenario, rank).steps, after.epochs[1].steps
        if not same(scenario, claims, got, expected):
            lines = (
                *_line(rank, "before the restart, ", before(scenario, rank)),
                *_line(rank, "after it, ", after.epochs[0].steps),
                *_line(rank, "the next epoch, ", got),
            )
            why = "a position in one epoch is none in the next, and the next epoch is another one"
            return [Finding("next-epoch-after-restart", f"the next epoch: {told(expected)}", lines, why)]
    return []


@clause("RESUME-3", family="resume", dataset="any", applies=resumes, floor=4)
def nothing_read_is_nothing_skipped(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """A state that was taken before the first step of an epoch gives the whole epoch."""
    return None if _words(scenario) - {"unbegun"} else _rest_of(scenario, claims, trace, "start")


@clause("RESUME-4", family="resume", dataset="any", applies=resumes, floor=6)
def the_end_is_an_end(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """After a state that was taken at the end of an epoch comes the next epoch, or first an empty rest, as claimed."""
    run, ranks = trace.variant("resumed"), _ranks_at(scenario, trace, "last", "end")
    if _words(scenario) or run is None or not ranks:
        return None
    if _failed(run):
        return ends(run, ())
    if run.failed or not any(_next_epoch(scenario, trace.main.ranks[at]).steps for at in ranks):
        return None
    for rank, after in ((trace.main.ranks[at], run.ranks[at]) for at in ranks):
        place = _place_of(scenario, rank)
        if not _ends_as_claimed(scenario, claims, rank, after, place):
            expected = _next_epoch(scenario, rank).steps
            lines = (
                *_line(rank, "before the restart, ", before(scenario, rank)),
                *(line for epoch in after.epochs for line in _line(rank, "then an epoch, ", epoch.steps)),
            )
            rule = {"next": "the next epoch", "empty": "an empty rest, then the next epoch"}
            claim = claims.end_of_epoch if place == "end" else None
            text = rule[claim] if claim else "the next epoch, at once or after an empty rest"
            why = f'end_of_epoch="{claim}" is claimed' if claim else "at its end nothing of an epoch is left"
            return [Finding(f"after-the-{place}", f"{text}: {told(expected)}", lines, why)]
    return []


def _ends_as_claimed(scenario: Scenario, claims: Claims, rank: RankRun, after: RankRun, place: str) -> bool:
    first, *others = [epoch.steps for epoch in after.epochs]
    following = _next_epoch(scenario, rank).steps
    # Who was told the number of the epoch that is over gives that one's order, if it goes on with a whole one.
    whole = [following, *([_saved_epoch(scenario, rank).steps] if others else [])]
    goes_on = any(same(scenario, claims, first, each) for each in whole)
    empty = not first and bool(others) and same(scenario, claims, others[0], following)
    if place == "last" or claims.end_of_epoch is None:
        return goes_on or empty
    return goes_on if claims.end_of_epoch == "next" else empty


# --- states ---------------------------------------------------------------------------------------------------------


@clause("RESUME-5", family="resume", dataset="any", applies=resumes, floor=6)
def restarts_add_up(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """A state that is taken after a restart is as good as the first one."""
    run, once = trace.variant("resumed again"), trace.variant("resumed")
    words = _words(scenario)
    if words not in ({"again"}, {"relayed"}) or run is None or once is None or trace.main.failed or once.failed:
        return None
    if _failed(run):
        return ends(run, ())
    if run.failed:
        return None
    more = 1 if words == {"again"} else 0
    exercised = False
    for rank, between, after in zip(trace.main.ranks, once.ranks, run.ranks, strict=True):
        taken = taken_at(scenario, rank)
        # What is wrong after one restart is RESUME-1's to say, and what comes at the end RESUME-4's.
        whole = _saved_epoch(scenario, rank).steps
        if taken + more >= len(whole) or not same(scenario, claims, between.epochs[0].steps, whole[taken:]):
            continue
        exercised = True
        finding = _differs(scenario, claims, rank, after.epochs[0].steps, taken + more)
        if finding:
            first = _line(rank, "before the first restart, ", whole[:taken])
            second = _line(rank, "then, before the second, ", whole[taken : taken + more])
            last = finding.delivered[1].replace("after it, ", "after that, ")
            return [replace(finding, kind=f"second-{finding.kind}", delivered=(*first, *second, last))]
    return [] if exercised else None


@clause("RESUME-6", family="resume", dataset="any", applies=resumes, floor=3)
def looking_changes_nothing(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Taking a state changes nothing of what the loader delivers, then and later."""
    twin = trace.variant("unwatched")
    if _words(scenario) != {"watched"} or twin is None or twin.failed:
        return None
    if _failed(trace.main):
        return ends(trace.main, ())
    if trace.main.failed or not _is_repeatable(scenario, trace.main, twin):
        return None
    for rank, other in zip(trace.main.ranks, twin.ranks, strict=True):
        for watched, usual in zip(rank.epochs, other.epochs, strict=True):
            if not same(scenario, claims, watched.steps, usual.steps):
                lines = (
                    *_line(rank, f"epoch {usual.number}, without states, ", usual.steps),
                    *_line(rank, "with states taken, ", watched.steps),
                )
                why = "a checkpoint is a look at a run, and no part of it"
                return [Finding("disturbed-by-a-state", "the same steps both times", lines, why)]
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
    words = _words(scenario)
    once, twice = trace.variant("resumed"), trace.variant("resumed again")
    ranks = _ranks_at(scenario, trace, "start", "middle")
    if words not in ({"held"}, {"shared"}) or once is None or once.failed or not ranks:
        return None
    if words == {"held"} and (twice is None or twice.failed):
        return ends(twice, ()) if twice is not None else None
    why = "what is written to disk a moment later, or loaded once more, must be the state of its own moment"
    exercised = False
    for at in ranks:
        first = once.ranks[at].epochs[0].steps
        second = (twice.ranks[at].epochs[0] if twice is not None else once.ranks[at].epochs[2]).steps
        # What a restart makes of the state at its best is RESUME-1's matter.
        if not same(scenario, claims, first, rest(scenario, trace.main.ranks[at])):
            continue
        exercised = True
        if not same(scenario, claims, second, first):
            labels = ("pickled at once, ", "later, ") if twice is not None else ("the first loader, ", "the second, ")
            lines = [
                line
                for label, steps in zip(labels, (first, second), strict=True)
                for line in _line(trace.main.ranks[at], label, steps)
            ]
            return [Finding("moved-on" if twice is not None else "used-up", told(first), tuple(lines), why)]
    return [] if exercised else None


@clause("RESUME-8", family="resume", dataset="any", applies=resumes, floor=20)
def states_are_taken_and_loaded(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """A state can be taken at any moment, pickled, and loaded in another process by a loader of the same request."""
    if _words(scenario) & {"used", *OTHERS}:
        return None
    for run in trace.runs:
        for rank in run.ranks:
            if rank.failure and rank.failure.where in _OF_STATES:
                line = f"rank {rank.rank}: {rank.failure.sentence()}"
                why = "a job is stopped at any moment, and its checkpoint is all that is left of it"
                kind = f"{rank.failure.where}-{rank.failure.kind}"
                return [Finding(kind, "a state that is taken, pickled and loaded", (line,), why)]
    return None if trace.main.failed else []


# The words that say that a state is loaded by another request than gave it.
OTHERS = ("wider", "narrower", "staffed", "larger", "grown", "reseeded")


@clause("RESUME-9", family="resume", dataset="any", applies=resumes, floor=3)
def loading_takes_effect(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """A loader that has been read goes on from the state as well, or refuses it."""
    if _words(scenario) != {"used"}:
        return None
    if any(rank.failure and rank.failure.where == "load_state_dict" for rank in trace.main.ranks):
        return []
    if _failed(trace.main):
        return ends(trace.main, ())
    fresh = trace.variant("resumed")
    ranks = _ranks_at(scenario, trace, "start", "middle")
    if fresh is None or fresh.failed or not ranks:
        return None
    exercised = False
    for rank, other in ((trace.main.ranks[at], fresh.ranks[at]) for at in ranks):
        # What a new loader makes of the state is RESUME-1's matter.
        if not same(scenario, claims, other.epochs[0].steps, rest(scenario, rank)):
            continue
        exercised = True
        finding = _differs(scenario, claims, rank, rank.epochs[scenario.epochs].steps)
        if finding:
            lines = (
                *_line(rank, "the whole epoch, ", _saved_epoch(scenario, rank).steps),
                *_line(rank, "with the state loaded again, ", rank.epochs[scenario.epochs].steps),
            )
            why = "a state that is loaded and not used is a restart that nobody notices; an error is right too"
            return [replace(finding, kind="not-loaded", delivered=lines, why=why)]
    return [] if exercised else None


# --- who promises nothing -------------------------------------------------------------------------------------------


@clause("RESUME-12", family="resume", dataset="any", applies=lambda claims: not claims.resume, floor=1)
def nothing_is_pretended(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Whoever does not promise to go on after a restart has no state, refuses it, or does not begin anew with it."""
    if trace.main.failed:
        return [] if _about_states(trace.main) else None
    run = trace.variant("resumed")
    if run is None:
        return None
    if run.failed:
        return [] if _about_states(run) else None
    for rank, after in zip(trace.main.ranks, run.ranks, strict=True):
        whole, got = _saved_epoch(scenario, rank).steps, after.epochs[0].steps
        if _place_of(scenario, rank) == "middle" and got == whole:
            lines = (*_line(rank, "before the restart, ", before(scenario, rank)), *_line(rank, "after it, ", got))
            why = "load_state_dict() took the state and did nothing with it; have none, raise, or go on from it"
            return [Finding("state-ignored", told(rest(scenario, rank)), lines, why)]
    return []


def _about_states(run: Run) -> bool:
    return all(rank.failure is None or rank.failure.where in _OF_STATES for rank in run.ranks)
