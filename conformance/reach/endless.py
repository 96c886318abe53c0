"""Chapter 11, epochs without end: the judges of ENDLESS-*, on as many steps of one iterator as a few passes have."""

from collections import Counter
from collections.abc import Iterator

from conformance.contract import Claims
from conformance.loader.judging import (
    claimed,
    dropped_limit,
    ends,
    known_samples,
    listed,
    missing,
    repeated,
    show,
    usable,
)
from conformance.loader.scenario import Scenario
from conformance.reach.scenario import steps_to_read
from conformance.trace import Epoch, Run, Trace
from conformance.trial.clause import Finding, Verdict, clause
from conformance.trial.words import count, place_of

# One pass: what each rank gives of it.
Pass = tuple[Epoch, ...]
# By chance two orders of so many samples are never the same.
_LEAST_ORDERED = 16


def _endless(claims: Claims) -> bool:
    return claims.is_endless


def gives_nothing(scenario: Scenario) -> bool:
    """Whether a pass gives no sample to a rank, or under drop_last no step: that rank has nothing to go on with."""
    least = scenario.combined_batch * scenario.world_size if scenario.drop_last else scenario.world_size
    return scenario.samples < least


@clause("ENDLESS-1", family="endless", dataset="any", applies=_endless, floor=20, endless=True)
def goes_on(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Every rank has a next step, as long as anybody asks; a step is full unless a pass ends with it."""
    if scenario.samples < max(1, claims.least_samples(scenario.world_size, scenario.combined_batch)):
        return None
    nothing = gives_nothing(scenario)
    if trace.main.failed:
        return ends(trace.main, ("raised",) if nothing else ()) or None
    epochs, steps = trace.main.epoch(0), steps_to_read(scenario)
    for rank, epoch in enumerate(epochs):
        if len(epoch.steps) < steps and not nothing:
            note = f"the end, after {count(len(epoch.steps), 'step')}"
            why = 'epochs="endless" is claimed; a rank that ends leaves the others waiting for ever'
            return [
                Finding("ended", f"{count(steps, 'step')} on every rank, and more", show(epochs, {rank: note}), why)
            ]
        wrong = next((each for each in epoch.steps if not 0 < len(each) <= scenario.combined_batch), None)
        if wrong is not None:
            note = f"a step of {len(wrong)}"
            why = f"micro-batch {scenario.batch_size} is asked for"
            expected = f"steps of 1 to {scenario.combined_batch} samples"
            return [Finding("step-size", expected, show(epochs, {rank: note}), why)]
    return None if nothing else []


@clause("ENDLESS-2", family="endless", dataset="any", applies=_endless, floor=12, endless=True)
def passes_cover(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Passes follow each other, on all ranks at once, and each holds every sample once but for what a policy allows."""
    limit = may_lack(scenario, claims)
    if not usable(trace.main) or 2 * limit > scenario.samples + 1:
        return None
    epochs = trace.main.epoch(0)
    if min(len(epoch.steps) for epoch in epochs) < steps_to_read(scenario):
        return None
    # A loader cuts its passes as it likes: it is right if any way of cutting makes them right.
    ways = [list(passes) for passes in _ways(scenario, epochs)]
    told = [
        [_wrong(scenario, claims, each, limit) for each in passes] for passes in ways if len(passes) >= _least(scenario)
    ]
    if any(not any(each) for each in told):
        return []
    at, wrong = _latest(told)
    rule = f"{claimed(scenario, claims)} is claimed" if claims.policy(scenario.drop_last) else "no padding is claimed"
    expected = "passes that each hold every sample once"
    if limit > 1:
        expected += f", but for {count(limit - 1, 'sample')} at most"
    lines = (*show(epochs), f"pass {at}, however passes are cut: {wrong}")
    return [Finding("passes", expected, lines, f"{rule}; passes follow each other, on all ranks at once")]


def _least(scenario: Scenario) -> int:
    """The passes that must be seen at least."""
    return max(1, scenario.epochs - 1)


def may_lack(scenario: Scenario, claims: Claims) -> int:
    """The samples that a pass lacks must be fewer than this."""
    if claims.policy(scenario.drop_last) is None:
        return scenario.combined_batch * scenario.world_size
    return dropped_limit(scenario, claims)


def _ways(scenario: Scenario, epochs: tuple[Epoch, ...]) -> Iterator[Iterator[Pass]]:
    """Each way in which a pass may be cut: so many samples or steps of every rank, or n samples of all in turn."""
    samples, ranks, step = scenario.samples, scenario.world_size, scenario.combined_batch
    # Each rounded down and up: what a rank has of a pass, and how many rounds a pass has.
    shards, rounds = (
        (samples // ranks, -(-samples // ranks)),
        (samples // (step * ranks), -(-samples // (step * ranks))),
    )
    for size in dict.fromkeys((*shards, *(step * each for each in rounds))):
        yield _windows([epoch.samples for epoch in epochs], size)
    for steps in dict.fromkeys(reversed(rounds)):
        yield _windows([epoch.steps for epoch in epochs], steps)
    in_turn = [index for indices in zip(*(epoch.samples for epoch in epochs), strict=False) for index in indices]
    by_steps = [
        index for steps in zip(*(epoch.steps for epoch in epochs), strict=False) for each in steps for index in each
    ]
    for whole in (in_turn, by_steps):
        for size in dict.fromkeys((samples, samples - samples % step)):
            yield _windows([tuple(whole)], size)


def _windows(ranks: list[tuple[int, ...]] | list[tuple[tuple[int, ...], ...]], size: int) -> Iterator[Pass]:
    """The whole passes of so many samples, or steps, of each rank."""
    for at in range(min(map(len, ranks)) // size if size else 0):
        parts = [rank[at * size : (at + 1) * size] for rank in ranks]
        yield tuple(Epoch(at, tuple(each if isinstance(each, tuple) else (each,) for each in part)) for part in parts)


def _wrong(scenario: Scenario, claims: Claims, epochs: Pass, limit: int) -> str:
    """What a pass has too often or not at all, or ""."""
    times = known_samples(scenario, epochs)
    foreign = next((each for epoch in epochs for each in epoch.samples if not 0 <= each < scenario.samples), None)
    if foreign is not None:
        return f"the number {foreign + 1000}, which no sample has"
    padding = 0
    if claims.policy(scenario.drop_last) == "pad":
        padding = max(0, times.total() - scenario.samples, -scenario.samples % scenario.world_size)
    if sum(each - 1 for each in times.values()) > padding:
        return f"{listed(repeated(scenario, epochs))} again"
    lost = missing(scenario, epochs)
    return f"{listed(lost)} on no rank" if len(lost) >= limit else ""


def _latest(told: list[list[str]]) -> tuple[int, str]:
    """The fault that comes latest by the way of cutting that explains most passes."""
    firsts = [next((at, each) for at, each in enumerate(way) if each) for way in told]
    return max(firsts, key=lambda found: found[0]) if firsts else (0, "no whole pass")


@clause(
    "ENDLESS-3",
    family="endless",
    applies=lambda claims: claims.is_endless and claims.shuffle is not None,
    floor=2,
    endless=True,
)
def passes_are_shuffled_anew(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """The same seed gives the same passes again, and no pass has the order of the one before it."""
    again = trace.variant("again")
    if not scenario.shuffle or not usable(trace.main):
        return None
    epochs = trace.main.epoch(0)
    if again is not None and usable(again):
        for rank, (one, other) in enumerate(zip(epochs, again.epoch(0), strict=True)):
            if not _same(claims, one.steps, other.steps):
                shown = show((one,), label=f"first time, rank {rank} as ")
                lines = (*shown, *show((other,), {0: "in another process"}, "second, as "))
                return [Finding("passes-differ", "the same passes both times", lines, "nothing in the request changed")]
    if scenario.samples < _LEAST_ORDERED * scenario.world_size or scenario.epochs < 4:
        return [] if again is not None else None
    for passes in map(list, _ways(scenario, epochs)):
        orders = [tuple(epoch.samples for epoch in each) for each in passes]
        if len(orders) >= _least(scenario) and len({*orders}) == 1:
            why = "a pass that has the order of the one before it is no shuffle"
            return [Finding("same-order", "another order in each pass", (*show(epochs), "all passes alike"), why)]
    return []


@clause(
    "ENDLESS-4",
    family="endless",
    dataset="any",
    applies=lambda claims: claims.is_endless and bool(claims.resume),
    floor=8,
    endless=True,
)
def resumes_at_any_step(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """From a state that was taken at any step come the steps that would have come."""
    if not scenario.conduct.startswith("stopped"):
        return None
    # A state that can't be taken is a failure of the main run, which nobody else looks at.
    if trace.main.failed:
        where = next(rank.failure.where for rank in trace.main.ranks if rank.failure)
        return ends(trace.main, ()) if where == "state_dict" else None
    resumed = trace.variant("resumed")
    if resumed is None:
        return None
    if resumed.failed:
        return ends(resumed, ())
    place, again = place_of(scenario.conduct), trace.variant("resumed again")
    found = _goes_on_as(claims, trace.main, resumed, place)
    if found or again is None:
        return found
    if again.failed:
        return ends(again, ())
    return _goes_on_as(claims, trace.main, again, place + ("again" in scenario.words))


def _goes_on_as(claims: Claims, main: Run, resumed: Run, place: int) -> list[Finding]:
    for rank, (whole, rest) in enumerate(zip(main.epoch(0), resumed.epoch(0), strict=True)):
        due = whole.steps[place:]
        if not _same(claims, due, rest.steps[: len(due)]):
            lines = (
                *show((Epoch(0, whole.steps[:place]),), label=f"rank {rank} before the state, as "),
                *show((Epoch(0, due),), label="then without a restart, as "),
                *show((rest,), label="and after it, as "),
            )
            why = "a state is a place in the passes, and what comes behind it does not hang on a restart"
            return [Finding("rest-differs", "the steps that would have come", lines, why)]
    return []


def _same(claims: Claims, one: tuple[tuple[int, ...], ...], other: tuple[tuple[int, ...], ...]) -> bool:
    return one == other if claims.in_order else Counter(map(frozenset, one)) == Counter(map(frozenset, other))
