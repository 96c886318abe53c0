"""Chapter 1, epochs: the judges of COUNT-1 to COUNT-7."""

from conformance.contract import Claims
from conformance.loader.judging import (
    _endings,
    claimed,
    ends,
    padded_to_full_steps,
    shard_sizes,
    show,
    steps_of,
    usable,
    wrong_length,
)
from conformance.loader.scenario import Scenario
from conformance.trace import Epoch, Trace
from conformance.trial.clause import Finding, Verdict, clause
from conformance.trial.words import count


@clause("COUNT-1", applies=lambda claims: claims.when_dropping is not None, floor=60)
def steps_when_dropping(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Under drop_last the rank with the largest shard yields floor(shard / N) steps."""
    if not scenario.drop_last or scenario.has_device_factors:
        return None
    return _largest_step_count(scenario, claims, trace)


@clause("COUNT-2", applies=lambda claims: claims.when_keeping is not None, floor=60)
def steps_when_keeping(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """When the rest is kept the rank with the largest shard yields ceil(shard / N) steps."""
    return None if scenario.drop_last else _largest_step_count(scenario, claims, trace)


@clause("COUNT-3", applies=lambda claims: claims.device_options and claims.when_dropping is not None)
def chained_floors(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Cutting by batch, rank, replica, accumulation and device iteration in turn is cutting once."""
    if not scenario.drop_last or not scenario.has_device_factors:
        return None
    return _largest_step_count(scenario, claims, trace)


def _largest_step_count(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    sizes = shard_sizes(scenario, claims)
    if sizes is None or not usable(trace.main):
        return None
    allowed = {steps_of(sizes[1], scenario)}
    full = padded_to_full_steps(scenario, claims)
    if full is not None:
        allowed.add(steps_of(full, scenario))
    for position in range(scenario.epochs):
        epochs = trace.main.epoch(position)
        empty = next((rank for rank, epoch in enumerate(epochs) if () in epoch.steps), None)
        if empty is not None:
            why = "a step is something to train on; what has no samples is no step"
            return [Finding("empty-step", "no step without samples", show(epochs, {empty: "an empty step"}), why)]
        most = max(len(epoch.steps) for epoch in epochs)
        if most not in allowed:
            rank = next(rank for rank, epoch in enumerate(epochs) if len(epoch.steps) == most)
            expected = f"{count(min(allowed), 'step')} on the rank with most samples"
            rounding = "floor" if scenario.drop_last else "ceil"
            step = scenario.combined_batch
            shard = f"{claimed(scenario, claims)} is claimed, so a shard holds at most {count(sizes[1], 'sample')}"
            why = f"{shard}, a step {step}: {rounding}({sizes[1]} / {step})"
            return [Finding("step-count", expected, show(epochs, {rank: count(most, "step")}), why)]
        starved = _starved(scenario, claims, epochs)
        if starved:
            return [starved]
    return []


def _starved(scenario: Scenario, claims: Claims, epochs: tuple[Epoch, ...]) -> Finding | None:
    """A rank below the steps of even the smallest shard. With equal ranks COUNT-5 names it; kept samples, PART-2."""
    if not scenario.drop_last or claims.policy(True) != "uneven":
        return None
    least = steps_of(scenario.samples // scenario.world_size, scenario)
    rank, fewest = min(enumerate(len(epoch.steps) for epoch in epochs), key=lambda item: item[1])
    if fewest >= least:
        return None
    why = f"the smallest shard holds {count(scenario.samples // scenario.world_size, 'sample')}"
    expected = f"at least {count(least, 'step')} on every rank"
    return Finding(
        "step-count", expected, show(epochs, {rank: count(fewest, "step")}), f"{why}, a step {scenario.combined_batch}"
    )


@clause("COUNT-4", floor=100, also=("workers", "iterable"))
def length_is_true(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """`len()` is what the epoch yields, or TypeError where it can't be known."""
    if not usable(trace.main) or not _as_many_without_workers(scenario, trace):
        return None
    for position in range(scenario.epochs):
        epochs = trace.main.epoch(position)
        for rank, epoch in enumerate(epochs):
            # An iterable dataset may have no length itself.
            wrong = wrong_length(epoch, claims.length and scenario.dataset == "map")
            if wrong:
                return [
                    Finding("length", f"len() = {len(epoch.steps)}", show(epochs, {rank: wrong}), _length_rule(claims))
                ]
    # What has no len() raises TypeError, as it may where no length is claimed.
    return []


def _as_many_without_workers(scenario: Scenario, trace: Trace) -> bool:
    """Whether workers leave the number of steps alone; that they do not is judged by WORK-1."""
    if not scenario.num_workers:
        return True
    without = trace.variant("workers")
    if without is None or not usable(without):
        return False
    pairs = zip(trace.main.ranks, without.ranks, strict=True)
    return all(list(map(_steps, one.epochs)) == list(map(_steps, other.epochs)) for one, other in pairs)


def _steps(epoch: Epoch) -> int:
    return len(epoch.steps)


def _length_rule(claims: Claims) -> str:
    return (
        "length=True is claimed"
        if claims.length
        else "a length that is given must be right; TypeError says it is unknown"
    )


def _promises_equal_ranks(claims: Claims) -> bool:
    return bool({claims.when_dropping, claims.when_keeping} & {"drop", "pad"})


@clause("COUNT-5", applies=_promises_equal_ranks, floor=60, needs=("ranks",))
def equal_steps(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """All ranks yield the same number of steps, unless "uneven" or "once" is claimed."""
    policy = claims.policy(scenario.drop_last)
    if scenario.world_size == 1 or policy in (None, "uneven", "once") or not usable(trace.main):
        return None
    for position in range(scenario.epochs):
        epochs = trace.main.epoch(position)
        steps = [len(epoch.steps) for epoch in epochs]
        if len(set(steps)) > 1:
            notes = {
                steps.index(max(steps)): count(max(steps), "step"),
                steps.index(min(steps)): count(min(steps), "step"),
            }
            why = f"{claimed(scenario, claims)} is claimed; a rank with fewer steps leaves the others waiting forever"
            return [Finding("unequal-steps", "the same number of steps on every rank", show(epochs, notes), why)]
    return []


@clause("COUNT-6", floor=40)
def tiny_datasets(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """A dataset below one step of all ranks ends at once; one below the claimed smallest is refused."""
    if scenario.samples >= scenario.combined_batch * scenario.world_size:
        return None
    least = claims.least_samples(scenario.world_size, scenario.combined_batch)
    if scenario.samples < least:
        if all(rank.failure for rank in trace.main.ranks):
            return ends(trace.main, ("raised",))
        why = f"smallest={claims.smallest!r} is claimed: below it an error is right, and silence is not"
        return [Finding("silent-below-smallest", "an error", _endings(trace.main), why)]
    return _all_end(trace)


@clause("COUNT-7", floor=100)
def epochs_end(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Every valid epoch ends by itself."""
    if scenario.samples < max(
        scenario.combined_batch * scenario.world_size,
        claims.least_samples(scenario.world_size, scenario.combined_batch),
    ):
        return None
    return _all_end(trace, ("hung",) if out_of_reach(scenario) else ())


# Of the epochs that are read far apart, those before 2^24.
_REACHED = 7


def out_of_reach(scenario: Scenario) -> bool:
    """Whether an epoch is asked for that a loader can't reach which counts, or shuffles, through all before it."""
    return scenario.conduct == "far" and scenario.epochs > _REACHED


def _all_end(trace: Trace, of_main: tuple[str, ...] = ()) -> list[Finding]:
    # A process that ends or hangs where other loaders are read first may do so in one of those.
    allowed: dict[str, tuple[str, ...]] = {"main": of_main, "after": ("died", "hung")}
    # How large a seed may be is nobody's promise: an error is right.
    allowed |= {run.name: ("raised",) for run in trace.runs if run.name.startswith("seed+") and run.name != "seed+1"}
    return next((findings for run in trace.runs if (findings := ends(run, allowed.get(run.name, ())))), [])
