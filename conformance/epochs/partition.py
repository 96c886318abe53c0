"""Chapter 2, partition: the judges of PART-*.

Judged on unshuffled epochs, so that a fault of the shuffle is named by chapter 3; PART-5 and PART-8 look at shuffled
ones as well.
"""

from collections.abc import Callable

from conformance.contract import Claims
from conformance.epochs.uniformity import repeats_itself
from conformance.loader.judging import (
    allowed_repeats,
    as_assigned,
    claimed,
    counts_itself,
    dropped_limit,
    known_samples,
    listed,
    missing,
    padded_to_full_steps,
    remainder,
    repeated,
    show,
    usable,
)
from conformance.loader.runs import ONCE_MORE
from conformance.loader.scenario import Scenario
from conformance.trace import Epoch, Run, Trace
from conformance.trial.clause import Finding, Verdict, clause
from conformance.trial.words import count


@clause("PART-1", applies=remainder, floor=100)
def exclusive(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """No sample comes twice beyond the padding that is claimed."""
    if scenario.shuffle or claims.policy(scenario.drop_last) is None or scenario.samples == 0 or not usable(trace.main):
        return None
    return _first(scenario, trace.main, lambda epochs: repeats_beyond_padding(scenario, claims, epochs))


@clause("PART-2", applies=lambda claims: claims.when_keeping in ("pad", "uneven", "once"), floor=60)
def exhaustive(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """When the rest is kept, nothing is missing."""
    if scenario.drop_last or claims.when_keeping in (None, "drop"):
        return None
    if scenario.shuffle or scenario.samples == 0 or not usable(trace.main):
        return None
    return _first(scenario, trace.main, lambda epochs: lost_samples(scenario, claims, epochs))


@clause("PART-3", floor=60, applies=lambda claims: claims.when_dropping is not None or claims.when_keeping == "drop")
def bounded_loss(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """What is dropped is less than one step of all ranks."""
    policy = claims.policy(scenario.drop_last)
    if policy is None or not (scenario.drop_last or policy == "drop"):
        return None
    if scenario.shuffle or scenario.samples == 0 or not usable(trace.main):
        return None
    return _first(scenario, trace.main, lambda epochs: lost_samples(scenario, claims, epochs))


@clause("PART-4", applies=lambda claims: "pad" in (claims.when_dropping, claims.when_keeping))
def bounded_padding(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Padding completes the last round of ranks, or the last step of every rank, and nothing more."""
    if scenario.shuffle or claims.policy(scenario.drop_last) != "pad" or not usable(trace.main):
        return None
    if scenario.samples == 0:
        return None
    return _first(scenario, trace.main, lambda epochs: too_much_padding(scenario, claims, epochs))


@clause("PART-5", floor=100)
def only_samples_of_the_dataset(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Whatever is delivered is a sample of the dataset."""
    if not usable(trace.main):
        return None
    if all(not epoch.samples for rank in trace.main.ranks for epoch in rank.epochs):
        return None
    return _first(scenario, trace.main, lambda epochs: _foreign(scenario, epochs))


def _foreign(scenario: Scenario, epochs: tuple[Epoch, ...]) -> Finding | None:
    for rank, epoch in enumerate(epochs):
        foreign = [index for index in epoch.samples if not 0 <= index < scenario.samples]
        if foreign:
            # The probe's sample i is the number 1000 + i; what the loader handed over is shown as it came.
            note = f"holds the number {foreign[0] + 1000}, which no sample has"
            why = f"the dataset's samples are the numbers 1000 to {999 + scenario.samples}"
            return Finding("foreign-sample", "samples of the dataset and nothing else", show(epochs, {rank: note}), why)
    return None


def _balances(claims: Claims) -> bool:
    return bool({claims.when_dropping, claims.when_keeping} - {None, "once"})


@clause("PART-6", applies=_balances, floor=60, needs=("ranks",))
def balanced(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Shards are equal; under "uneven" they differ by at most one sample, or one step under drop_last."""
    policy = claims.policy(scenario.drop_last)
    if scenario.shuffle or scenario.world_size == 1 or policy in (None, "once") or not usable(trace.main):
        return None
    return _first(scenario, trace.main, lambda epochs: unbalanced(scenario, claims, epochs))


@clause("PART-7", floor=20, twin=True)
def depends_on_the_request_only(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """The same request gives the same shard: in another process, after other loaders, at once in a later epoch."""
    if scenario.shuffle or not usable(trace.main):
        return None
    for name, circumstance in CIRCUMSTANCES.items():
        variant = trace.variant(name)
        if variant is not None and usable(variant) and not (name == "jump" and counts_itself(variant)):
            again = trace.variant(ONCE_MORE)
            # What an earlier loader spoils is spoilt in the usual state of the generators too.
            usual = CIRCUMSTANCES["after"]
            spoilt = _compare_shards(claims, trace.main, again, usual, "after") if usable(again) else []
            return spoilt or _compare_shards(claims, trace.main, variant, circumstance, name)
    return None


# How a second run of the same request differs, in the words of a report.
CIRCUMSTANCES = {
    "again": "in another process, with another PYTHONHASHSEED",
    "after": "in a process where another loader was read before",
    "jump": "with the epoch set directly, the earlier ones not read",
    "random-state": "with the global random generators in another state",
}


def _compare_shards(claims: Claims, main: Run, variant: Run | None, circumstance: str, name: str) -> list[Finding]:
    assert variant is not None
    # A variant that jumps reads only the last epoch; others read all.
    epochs = len(variant.ranks[0].epochs)
    for back in range(1, epochs + 1):
        first, second = as_assigned(claims, main.epoch(-back)), as_assigned(claims, variant.epoch(-back))
        for rank, (one, other) in enumerate(zip(first, second, strict=True)):
            if sorted(one.samples) != sorted(other.samples):
                delivered = (
                    *show((one,), label=f"first time, rank {rank} as "),
                    *show((other,), {0: circumstance}, "second, as "),
                )
                return [
                    Finding(
                        f"shard-differs-{name}",
                        f"the same shard {circumstance}",
                        delivered,
                        "nothing in the request changed",
                    )
                ]
    return []


@clause(
    "PART-8",
    family="statistics",
    applies=lambda claims: claims.shuffle == "global" and claims.when_dropping is not None,
    floor=1,
)
def everybody_gets_a_turn(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Over many shuffled epochs each of which leaves some samples over, no sample is left over forever."""
    if not scenario.shuffle or not scenario.drop_last or scenario.epochs < 32 or not usable(trace.main):
        return None
    # ORDER-6 names what comes round again, where it looks: not at what comes, or is dealt out, as time has it.
    by_time = claims.deals_out_dynamically and scenario.world_size > 1
    if claims.in_order and not by_time and repeats_itself(trace):
        return None
    seen: set[int] = set()
    for position in range(scenario.epochs):
        seen.update(known_samples(scenario, trace.main.epoch(position)))
    never = [index for index in range(scenario.samples) if index not in seen]
    if not never:
        return []
    delivered = (*show(trace.main.epoch(0), label="epoch 0, "), f"{listed(never)}: never in {scenario.epochs} epochs")
    why = "under a global shuffle each epoch leaves other samples over"
    return [Finding("left-out-for-ever", f"each of the {scenario.samples} samples in some epoch", delivered[-6:], why)]


# --- shared with chapter 3 ------------------------------------------------------------------------------------------


def repeats_beyond_padding(scenario: Scenario, claims: Claims, epochs: tuple[Epoch, ...]) -> Finding | None:
    """More repeats in an epoch than the claimed padding explains."""
    counts = known_samples(scenario, epochs)
    repeats = sum(times - 1 for times in counts.values())
    if repeats <= allowed_repeats(scenario, claims, sum(len(epoch.samples) for epoch in epochs)):
        return None
    sample = repeated(scenario, epochs)[0]
    # The last rank that has it is the one that should not.
    rank = max(rank for rank, epoch in enumerate(epochs) if sample in epoch.samples)
    expected = "each sample at most once"
    why = f"{claimed(scenario, claims)} is claimed, so nothing may be repeated"
    if claims.policy(scenario.drop_last) == "pad":
        expected = "no repeat but the padding"
        why = f"{claimed(scenario, claims)} repeats samples only to make ranks equal"
    return Finding("repeated", expected, show(epochs, {rank: f"sample {sample} again"}), why)


def lost_samples(scenario: Scenario, claims: Claims, epochs: tuple[Epoch, ...]) -> Finding | None:
    """More missing samples in an epoch than the claimed dropping explains."""
    lost = missing(scenario, epochs)
    limit = dropped_limit(scenario, claims)
    if len(lost) < limit:
        return None
    delivered = (*show(epochs), f"{listed(lost)}: on no rank")
    if not scenario.drop_last and claims.when_keeping != "drop":
        return Finding("lost", "every sample", delivered, "drop_last=False: the rest is kept, so nothing may be lost")
    expected = f"at most {count(limit - 1, 'sample')} dropped"
    why = f"{claimed(scenario, claims)} drops less than "
    why += "one step of all ranks" if scenario.drop_last else "one sample a rank"
    return Finding("dropped-too-many", expected, delivered, why)


def too_much_padding(scenario: Scenario, claims: Claims, epochs: tuple[Epoch, ...]) -> Finding | None:
    """More padding in an epoch than the last round, or the last step, needs."""
    if claims.policy(scenario.drop_last) != "pad":
        return None
    delivered = sum(len(epoch.samples) for epoch in epochs)
    repeats = sum(times - 1 for times in known_samples(scenario, epochs).values())
    full = padded_to_full_steps(scenario, claims)
    if repeats < scenario.world_size or (full is not None and delivered == full * scenario.world_size):
        return None
    expected = f"at most {count(scenario.world_size - 1, 'repeat')} to complete the last round of ranks"
    if full is not None:
        expected += f", or {full * scenario.world_size} samples in all to complete the last step of each"
    note = f"{count(repeats, 'repeat')} in {delivered} samples"
    return Finding(
        "too-much-padding", expected, show(epochs, {len(epochs) - 1: note}), f"{claimed(scenario, claims)} is claimed"
    )


def unbalanced(scenario: Scenario, claims: Claims, epochs: tuple[Epoch, ...]) -> Finding | None:
    """Shares that lie further apart than the claim allows."""
    most = 0
    if claims.policy(scenario.drop_last) == "once":
        return None
    if claims.policy(scenario.drop_last) == "uneven":
        most = scenario.combined_batch if scenario.drop_last else 1
    # With unequal steps COUNT-5 has spoken already.
    if most == 0 and len({len(epoch.steps) for epoch in epochs}) > 1:
        return None
    sizes = [len(epoch.samples) for epoch in epochs]
    if max(sizes) - min(sizes) <= most:
        return None
    notes = {sizes.index(size): count(size, "sample") for size in (max(sizes), min(sizes))}
    expected = f"shards that differ by at most {count(most, 'sample')}" if most else "equal shards"
    return Finding("unbalanced", expected, show(epochs, notes), f"{claimed(scenario, claims)} is claimed")


def _first(scenario: Scenario, run: Run, judge: Callable[[tuple[Epoch, ...]], Finding | None]) -> list[Finding]:
    for position in range(scenario.epochs):
        finding = judge(run.epoch(position))
        if finding:
            return [finding]
    return []
