"""Chapter 11, equal steps: the judges of EQUAL-*, on ranks that share a dataset which they can't divide evenly."""

from collections.abc import Callable

from conformance.contract import Claims
from conformance.loader.judging import claimed, ends, known_samples, listed, missing, repeated, show, usable
from conformance.loader.scenario import Scenario
from conformance.reach.scenario import shards_of
from conformance.trace import Epoch, Trace
from conformance.trial.clause import Finding, Verdict, clause
from conformance.trial.words import count


def _shared_iterables(claims: Claims) -> bool:
    return "iterable" in claims.datasets and claims.iterable_workers is not None


def _says_more_than_count_5(claims: Claims) -> bool:
    """Whether equal steps are claimed where no policy has promised them."""
    asked = [False] if "drop_last" in claims.without else [False, True]
    unsaid = "map" in claims.datasets and any(claims.policy(each) not in ("drop", "pad") for each in asked)
    return claims.equal_steps and (unsaid or _shared_iterables(claims))


@clause("EQUAL-1", family="equal", dataset="any", applies=_says_more_than_count_5, floor=8, needs=("ranks",))
def equal_steps(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """All ranks have the same number of steps, whatever the dataset and its files."""
    if scenario.conduct and trace.main.failed and not _may_be_refused(scenario, claims):
        return ends(trace.main, ())
    # Where a policy makes ranks equal COUNT-5 says so.
    of_policy = scenario.dataset == "map" and claims.policy(scenario.drop_last) in ("drop", "pad")
    if scenario.world_size == 1 or of_policy or not usable(trace.main):
        return None
    for position in range(scenario.epochs):
        epochs = trace.main.epoch(position)
        steps = [len(epoch.steps) for epoch in epochs]
        if len(set(steps)) > 1:
            notes = {steps.index(each): count(each, "step") for each in (max(steps), min(steps))}
            why = "equal_steps is claimed; a rank with fewer steps leaves the others waiting for ever"
            return [Finding("unequal-steps", "the same number of steps on every rank", show(epochs, notes), why)]
    return []


def _may_be_refused(scenario: Scenario, claims: Claims) -> bool:
    return scenario.samples < claims.least_samples(scenario.world_size, scenario.combined_batch)


def _costs(claims: Claims) -> bool:
    splits = "iterable" in claims.datasets and claims.iterable_workers == "split"
    return claims.drops is not None or (claims.equal_steps and splits)


@clause("EQUAL-2", family="equal", dataset="any", applies=_costs, floor=4, needs=("ranks",))
def bounded_cost(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """What equal steps cost, and what is dropped by the file, is bounded."""
    if scenario.world_size == 1 or not usable(trace.main):
        return None
    if scenario.conduct:
        return _by_file(scenario, claims, trace) if claims.drops else None
    splits = scenario.dataset == "iterable" and claims.iterable_workers == "split"
    # Which files it has made of the dataset nobody knows.
    if not splits or not claims.equal_steps or claims.drops:
        return None
    limit, parts = most_lost(scenario, claims), max(1, scenario.num_workers) * scenario.world_size
    if scenario.samples <= limit:
        return None
    each = f"{count(parts, 'worker')} of all ranks, each less than a step of {scenario.combined_batch}"
    return _first(scenario, trace, lambda epochs: _too_dear(scenario, claims, epochs, limit, each))


def _by_file(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    limit = most_dropped(scenario, claims)
    if limit >= scenario.samples:
        return None
    files = f"{count(len(shards_of(scenario)), 'file')} of {' '.join(map(str, shards_of(scenario)))} samples"
    return _first(scenario, trace, lambda epochs: _too_dear(scenario, claims, epochs, limit, files))


def most_lost(scenario: Scenario, claims: Claims) -> int:
    """What ranks may lose, or repeat, to have equal steps."""
    if scenario.conduct:
        return most_dropped(scenario, claims)
    return max(1, scenario.num_workers) * scenario.world_size * scenario.combined_batch - 1


def most_dropped(scenario: Scenario, claims: Claims) -> int:
    """What may be dropped where files are dealt out whole: each one's tail, and what makes the others equal.

    A rank has as many files as another, or the workers of one rank one more each. The rank with the least has at least
    the steps of so many of the smallest files, and the others need not give more.
    """
    files, step = sorted(shards_of(scenario)), scenario.combined_batch
    if not claims.equal_steps:
        return sum(each % step for each in files) if scenario.drop_last else 0
    workers = max(1, scenario.num_workers)
    least = workers * (len(files) // (workers * scenario.world_size))
    steps = sum(each // step for each in files[:least])
    return scenario.samples - scenario.world_size * steps * step


def _too_dear(scenario: Scenario, claims: Claims, epochs: tuple[Epoch, ...], limit: int, parts: str) -> Finding | None:
    lost = missing(scenario, epochs)
    if len(lost) > limit:
        why = f"{parts}: at most {count(limit, 'sample')} may be dropped"
        delivered = (*show(epochs), f"{listed(lost)}: on no rank")
        return Finding("dropped-too-many", f"at most {count(limit, 'sample')} dropped", delivered, why)
    again = repeated(scenario, epochs)
    pads = claims.policy(scenario.drop_last) == "pad"
    times = sum(each - 1 for each in known_samples(scenario, epochs).values())
    if again and pads and times > limit:
        note = {len(epochs) - 1: f"{count(times, 'repeat')} in all"}
        why = f"{claimed(scenario, claims)} is claimed; {parts}"
        return Finding("too-much-padding", f"at most {count(limit, 'repeat')}", show(epochs, note), why)
    # Without files WORK-3 says that nothing comes twice.
    if again and scenario.conduct:
        rank = max(rank for rank, epoch in enumerate(epochs) if again[0] in epoch.samples)
        lines = show(epochs, {rank: f"sample {again[0]} again"})
        return Finding("repeated", "each sample at most once", lines, "files are dealt out, each to one rank")
    return None


def _first(scenario: Scenario, trace: Trace, judge: Callable[[tuple[Epoch, ...]], Finding | None]) -> list[Finding]:
    findings = (judge(trace.main.epoch(position)) for position in range(scenario.epochs))
    return next(([finding] for finding in findings if finding), [])
