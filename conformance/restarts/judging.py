"""What the judges of chapter 9 share: decides where a state was taken, what came before it, and what must follow."""

from conformance.contract import Claims
from conformance.loader.judging import ends, in_known_order, listed, show
from conformance.loader.scenario import Scenario
from conformance.trace import Epoch, RankRun, Run, Trace
from conformance.trial.clause import Finding, Verdict
from conformance.trial.words import place_of

Steps = tuple[tuple[int, ...], ...]


def resumes(claims: Claims) -> bool:
    """Whether a restart is promised to go on where the epoch stopped."""
    return bool(claims.resume)


def taken_at(scenario: Scenario, rank: RankRun) -> int:
    """After how many steps of its epoch a rank's state was taken."""
    return min(place_of(scenario.conduct), len(saved_epoch(scenario, rank).steps))


def before(scenario: Scenario, rank: RankRun) -> Steps:
    """The steps of the epoch that came before the state was taken."""
    return saved_epoch(scenario, rank).steps[: taken_at(scenario, rank)]


def rest(scenario: Scenario, rank: RankRun) -> Steps:
    """Those that came after it from the loader that gave the state."""
    return saved_epoch(scenario, rank).steps[taken_at(scenario, rank) :]


def saved_epoch(scenario: Scenario, rank: RankRun) -> Epoch:
    """The epoch in which a rank's state was taken, read to its end."""
    return rank.epochs[scenario.epochs - 2]


def next_epoch(scenario: Scenario, rank: RankRun) -> Epoch:
    """The epoch that followed it."""
    return rank.epochs[scenario.epochs - 1]


def ranks_at(scenario: Scenario, trace: Trace, *places: str) -> list[int]:
    """The ranks whose state was taken there; where shards are uneven, one rank may be at its end before another."""
    if trace.main.failed:
        return []
    return [rank.rank for rank in trace.main.ranks if place_in_epoch(scenario, rank) in places]


def place_in_epoch(scenario: Scenario, rank: RankRun) -> str:
    """Where a rank's state was taken: "start", "middle", "last" (after the last step), or "end"."""
    asked, steps = place_of(scenario.conduct), len(saved_epoch(scenario, rank).steps)
    if asked > steps:
        return "end"
    if asked == 0:
        return "start"
    return "last" if asked == steps else "middle"


def words_of(scenario: Scenario) -> set[str]:
    """What else is done with the state."""
    return set(scenario.details.split("+")) - {"", *_FREE}


# What the consumer did or asked before, whether set_epoch() comes before the state, after it or never, and what of the
# user's own decides the steps.
_FREE = ("inside", "broken", "unset", "asked", "batches", "generator")


def failed_to_read(run: Run) -> bool:
    """Whether a run failed elsewhere than in taking or loading a state, which is judged by RESUME-8."""
    return any(rank.failure and rank.failure.where not in OF_STATES for rank in run.ranks)


OF_STATES = ("state_dict", "load_state_dict")


def difference(scenario: Scenario, claims: Claims, rank: RankRun, got: Steps) -> Finding | None:
    """What is wrong with the steps after a restart, if anything is."""
    steps, at = saved_epoch(scenario, rank).steps, taken_at(scenario, rank)
    return missing_between(scenario, claims, rank, got, steps[:at], steps[at:])


def missing_between(
    scenario: Scenario, claims: Claims, rank: RankRun, got: Steps, head: Steps, expected: Steps
) -> Finding | None:
    """What is wrong with the steps behind those of `head`, if anything is."""
    if same(scenario, claims, got, expected):
        return None
    kind, note = _amiss(flat(head), flat(got), flat(expected))
    lines = (*lines_of(rank, "before the restart, ", head), *lines_of(rank, "after it, ", got, note))
    why = "a resumed run must train on the same samples as an uninterrupted one"
    return Finding(kind, f"rank {rank.rank}: {steps_text(expected)}", lines, why)


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


def steps_text(steps: Steps, none: str = "no more steps") -> str:
    """Steps in the words of a report."""
    return " | ".join(" ".join(map(str, step)) for step in steps) or none


def lines_of(rank: RankRun, label: str, steps: Steps, note: str = "") -> tuple[str, ...]:
    """Some steps of a rank as the lines of a report."""
    shown = show((Epoch(0, steps),), {0: note} if note else {}, label)
    return tuple(line.replace("rank 0", f"rank {rank.rank}") for line in shown)


def judged_rest(scenario: Scenario, claims: Claims, trace: Trace, *places: str) -> Verdict:
    """The judgement of the ranks that go on at these places of an epoch."""
    run, ranks = trace.variant("resumed"), ranks_at(scenario, trace, *places)
    if run is None or not ranks:
        return None
    if failed_to_read(run):
        return ends(run, ())
    if run.failed:
        return None
    for at in ranks:
        finding = difference(scenario, claims, trace.main.ranks[at], run.ranks[at].epochs[0].steps)
        if finding:
            return [finding]
    return []


def ends_as_claimed(scenario: Scenario, claims: Claims, rank: RankRun, after: RankRun, place: str) -> bool:
    """Whether after a state of the last step, or of the end, comes what that means."""
    first, *others = [epoch.steps for epoch in after.epochs]
    following = next_epoch(scenario, rank).steps
    # Who was told the number of the epoch that is over gives that one's order, if it continues with a whole one.
    whole = [following, *([saved_epoch(scenario, rank).steps] if others else [])]
    goes_on = any(same(scenario, claims, first, each) for each in whole)
    empty = not first and bool(others) and same(scenario, claims, others[0], following)
    if place == "last" or claims.end_of_epoch is None:
        return goes_on or empty
    return goes_on if claims.end_of_epoch == "next" else empty
