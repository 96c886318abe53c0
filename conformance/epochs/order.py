"""Chapter 3, order: the judges of ORDER-1 to ORDER-11 and ORDER-14. The statistical ones are in `uniformity.py`."""

from collections import Counter
from math import comb, lgamma, log

from conformance.contract import Claims
from conformance.epochs.partition import (
    CIRCUMSTANCES,
    lost_samples,
    repeats_beyond_padding,
    too_much_padding,
    unbalanced,
)
from conformance.loader.judging import as_assigned, counts_itself, known_samples, missing, remainder, show, usable
from conformance.loader.runs import ONCE_MORE, seed_shift
from conformance.loader.scenario import Scenario
from conformance.trace import Epoch, Run, Trace
from conformance.trial.clause import Finding, Verdict, clause
from conformance.trial.words import count

# Two orders are "the same" only where chance would make them so less often than this.
_COINCIDENCE = log(1e-9)


def _shuffles(claims: Claims) -> bool:
    return claims.shuffle is not None


def _in_sight(claims: Claims) -> bool:
    # Where steps come as they are ready, what came in which order says nothing about the shuffle.
    return claims.shuffle is not None and claims.in_order


@clause("ORDER-1", applies=lambda claims: claims.in_order, floor=60)
def dataset_order(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Unshuffled, a rank's samples ascend; padding may start again after them."""
    if scenario.shuffle or not usable(trace.main):
        return None
    exercised = False
    for position in range(scenario.epochs):
        epochs = trace.main.epoch(position)
        counts = known_samples(scenario, epochs)
        for rank, epoch in enumerate(epochs):
            # What is foreign has no place in the order; PART-5 names it.
            within = [index for step in epoch.steps for index in _within(scenario, step, counts)]
            samples = [index for index in within if index in counts]
            exercised = exercised or len(samples) > 1
            descent = next((i for i in range(1, len(samples)) if samples[i] <= samples[i - 1]), None)
            if descent is not None and any(counts[index] < 2 for index in samples[descent:]):
                note = f"{samples[descent]} after {samples[descent - 1]}"
                why = "shuffle=False is asked for"
                return [
                    Finding("unshuffled-order", "samples in the order of the dataset", show(epochs, {rank: note}), why)
                ]
    return [] if exercised else None


def _within(scenario: Scenario, step: tuple[int, ...], counts: Counter[int]) -> tuple[int, ...]:
    # What is inside a combined batch is judged by BATCH-3; but padding stands where it stands.
    padding = any(counts[index] > 1 for index in step)
    return step if padding or not scenario.has_device_factors else tuple(sorted(step))


@clause("ORDER-2", applies=lambda claims: claims.layout is not None and remainder(claims), floor=60)
def layout(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """The unshuffled shard of each rank is the run, or the stride, that is claimed."""
    if (
        scenario.shuffle
        or scenario.world_size == 1
        or claims.policy(scenario.drop_last) is None
        or not usable(trace.main)
    ):
        return None
    # Steps that come as they are ready are put in order; but where padding begins in them can't be told.
    pads = claims.policy(scenario.drop_last) == "pad"
    if pads and (not claims.in_order or (claims.layout == "contiguous" and _drops_a_rest(scenario))):
        return None
    misplaced = _misplaced_in_runs if claims.layout == "contiguous" else _misplaced_in_strides
    exercised = False
    for position in range(scenario.epochs):
        epochs = trace.main.epoch(position)
        exercised = exercised or any(len(epoch.samples) > 1 for epoch in epochs)
        found = misplaced(scenario, claims, epochs)
        if found:
            rank, index, expected = found
            rule = (
                "one run of consecutive samples a rank"
                if claims.layout == "contiguous"
                else "rank r holds r, r+R, r+2R, ..."
            )
            due = expected if expected < scenario.samples else "nothing more"
            note = f"{index}, where {due} belongs"
            return [Finding("layout", rule, show(epochs, {rank: note}), f'layout="{claims.layout}" is claimed')]
    return [] if exercised else None


def _drops_a_rest(scenario: Scenario) -> bool:
    """Whether a filled-up shard loses its rest: padding may then be all that came of a sample, so nothing tells it."""
    return scenario.drop_last and -(-scenario.samples // scenario.world_size) % scenario.combined_batch > 0


def _in_order(scenario: Scenario, claims: Claims, epoch: Epoch) -> list[int]:
    # The order inside a combined batch is judged by BATCH-3, that of the whole rank by ORDER-1.
    if not claims.in_order or (scenario.has_device_factors and claims.policy(scenario.drop_last) != "pad"):
        return sorted(epoch.samples)
    return list(epoch.samples)


def _misplaced_in_strides(scenario: Scenario, claims: Claims, epochs: tuple[Epoch, ...]) -> tuple[int, int, int] | None:
    for rank, epoch in enumerate(epochs):
        for position, index in enumerate(_in_order(scenario, claims, epoch)):
            expected = rank + position * scenario.world_size
            if index != expected and expected < scenario.samples:
                return rank, index, expected
    return None


def _misplaced_in_runs(scenario: Scenario, claims: Claims, epochs: tuple[Epoch, ...]) -> tuple[int, int, int] | None:
    if claims.policy(scenario.drop_last) == "pad":
        return _misplaced_beside_padding(scenario, claims, epochs)
    behind, counts = 0, known_samples(scenario, epochs)
    for rank, epoch in enumerate(epochs):
        samples = _in_order(scenario, claims, epoch)
        # Each begins anywhere after the one before.
        start = max(behind, samples[0]) if samples else behind
        for position, index in enumerate(samples):
            # After the end of the dataset PART-1 names what comes again, and PART-5 what is foreign.
            if index != start + position and (start + position < scenario.samples or counts[index] == 1):
                return rank, index, start + position
        behind = samples[-1] + 1 if samples else behind
    return None


def _misplaced_beside_padding(
    scenario: Scenario, claims: Claims, epochs: tuple[Epoch, ...]
) -> tuple[int, int, int] | None:
    """Where padding may stand anywhere, each rank has one run all the same: what is left of it without repeats.

    Of a sample that comes twice either may be the padding. So runs are looked for that follow one another, rank by
    rank, and hold all the different samples that came.
    """
    counts = known_samples(scenario, epochs)
    # By the place after the last run: how many samples the runs so far hold, at most.
    held = {0: 0}
    for rank, epoch in enumerate(epochs):
        samples = _in_order(scenario, claims, epoch)
        runs = _possible_runs(samples, counts)
        reached: dict[int, int] = {}
        for behind, number in held.items():
            for first, end in runs:
                if first >= behind or first == end:
                    place = max(behind, end)
                    reached[place] = max(reached.get(place, 0), number + end - first)
        if not reached:
            return rank, *_first_misplaced(samples, counts, min(held))
        held = reached
    if max(held.values()) >= len(counts):
        return None
    return next(
        (rank, *_first_misplaced(_in_order(scenario, claims, epoch), Counter(), 0))
        for rank, epoch in enumerate(epochs)
        if epoch.samples
    )


def _possible_runs(samples: list[int], counts: Counter[int]) -> list[tuple[int, int]]:
    """The runs (first, end) that these samples may be with padding before, within and after; (0, 0): padding alone."""
    found = []
    for at, first in enumerate(samples):
        end = first
        for index in samples[at:]:
            if index == end:
                end += 1
            elif counts[index] < 2:
                break
        else:
            found.append((first, end))
        if counts[first] < 2:
            return found
    return [*found, (0, 0)]


def _first_misplaced(samples: list[int], counts: Counter[int], behind: int) -> tuple[int, int]:
    """The first sample that is neither the next of its rank's run nor a repeat, and what belongs there."""
    expected = max(behind, samples[0])
    for index in samples:
        if index == expected:
            expected += 1
        elif counts[index] < 2:
            return index, expected
    return samples[-1], expected


@clause("ORDER-3", applies=lambda claims: _shuffles(claims) and remainder(claims), floor=20, twin=True)
def permutation(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """On one rank, a shuffled epoch holds each sample once."""
    return _shuffled_membership(scenario, claims, trace) if scenario.world_size == 1 else None


@clause(
    "ORDER-4", applies=lambda claims: _shuffles(claims) and remainder(claims), floor=40, twin=True, needs=("ranks",)
)
def one_permutation_for_all_ranks(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Over several ranks, a shuffled epoch is as exclusive and exhaustive as an unshuffled one."""
    return _shuffled_membership(scenario, claims, trace) if scenario.world_size > 1 else None


def _shuffled_membership(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    if (
        not scenario.shuffle
        or claims.policy(scenario.drop_last) is None
        or scenario.samples == 0
        or not usable(trace.main)
    ):
        return None
    unshuffled = trace.variant("unshuffled")
    for position in range(scenario.epochs):
        epochs = trace.main.epoch(position)
        finding = (
            repeats_beyond_padding(scenario, claims, epochs)
            or lost_samples(scenario, claims, epochs)
            or too_much_padding(scenario, claims, epochs)
            or unbalanced(scenario, claims, epochs)
        )
        if finding and not _as_bad(scenario, epochs, unshuffled):
            return [finding]
    return []


def _as_bad(scenario: Scenario, epochs: tuple[Epoch, ...], unshuffled: Run | None) -> bool:
    """Whether the same request repeats and loses as much without a shuffle: then chapter 2 names the fault."""
    if unshuffled is None:
        return False
    if unshuffled.failed:
        return True
    return all(
        here <= there
        for here, there in zip(_deviations(scenario, epochs), _deviations(scenario, unshuffled.epoch(0)), strict=True)
    )


def _deviations(scenario: Scenario, epochs: tuple[Epoch, ...]) -> tuple[int, int, int]:
    """How many samples are repeated, how many are missing, and how far the ranks' shares lie apart."""
    counts = known_samples(scenario, epochs)
    sizes = [len(epoch.samples) for epoch in epochs]
    return counts.total() - len(counts), len(missing(scenario, epochs)), max(sizes) - min(sizes)


@clause("ORDER-5", applies=_shuffles, floor=15)
def repeatable(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """The same seed and epoch give the same order, whatever happened before and wherever it runs."""
    return _same_order(scenario, claims, trace, ("again", "after", "jump")) if scenario.shuffle else None


@clause("ORDER-8", family="workers", applies=lambda claims: claims.workers, floor=4)
def independent_of_workers(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """With worker processes the order is that of the main process."""
    return _same_order(scenario, claims, trace, ("workers",))


@clause("ORDER-9", applies=_shuffles, floor=10, twin=True, also="workers")
def independent_of_global_state(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """The order does not come from the caller's global generators."""
    if not scenario.shuffle:
        return None
    # A loader whose order differs in the usual state as well is spoilt by an earlier one, which ORDER-5 names.
    if _same_order(scenario, claims, trace, (ONCE_MORE,)):
        return None
    return _same_order(scenario, claims, trace, ("random-state",))


def _same_order(scenario: Scenario, claims: Claims, trace: Trace, names: tuple[str, ...]) -> Verdict:
    variant = next((run for run in trace.runs[1:] if run.name in names), None)
    if variant is None or not usable(trace.main) or not usable(variant):
        return None
    if variant.name == "jump" and counts_itself(variant):
        return None
    epochs = len(variant.ranks[0].epochs)
    exercised = False
    for back in range(epochs, 0, -1):
        first, second = (as_assigned(claims, run.epoch(-back)) for run in (trace.main, variant))
        for rank, (one, other) in enumerate(zip(first, second, strict=True)):
            exercised = exercised or len(one.samples) > 1
            if _comparable(one, claims) != _comparable(other, claims):
                return [_differs(trace.main, rank, one, other, variant.name)]
    return [] if exercised else None


def _comparable(epoch: Epoch, claims: Claims) -> object:
    return epoch.steps if claims.in_order else sorted(epoch.samples)


def _differs(main: Run, rank: int, one: Epoch, other: Epoch, name: str) -> Finding:
    if name == "workers":
        circumstance = "without worker processes"
        why = "in_order: steps come in the order of the sampler, whichever worker loads them"
    else:
        circumstance = CIRCUMSTANCES.get(name, CIRCUMSTANCES["after"])
        why = "seed and epoch are the same"
    delivered = (
        *show((one,), label=f"rank {rank}, epoch {one.number}, first, as "),
        *show((other,), {0: circumstance}, f"rank {rank}, epoch {one.number}, second, as "),
    )
    delivered = tuple(line.replace("as rank 0: ", "") for line in delivered)
    return Finding(f"order-differs-{name}", "the same order both times", delivered, why)


def _by_time(scenario: Scenario, claims: Claims) -> bool:
    """Whether time deals the samples out, so that the order of all ranks is no shuffle's."""
    return claims.deals_out_dynamically and scenario.world_size > 1


@clause("ORDER-6", applies=_in_sight, floor=10)
def epochs_differ(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """No two epochs of a seed have the same order."""
    if not scenario.shuffle or scenario.epochs < 2 or not usable(trace.main) or _by_time(scenario, claims):
        return None
    orders = [_order(trace.main, position) for position in range(scenario.epochs)]
    bits = _log_arrangements(scenario, claims, orders[0])
    if not beyond_chance(scenario.epochs, scenario.epochs, bits * (scenario.epochs - 1)):
        return None
    commonest = max(orders, key=orders.count)
    same = [position for position, order in enumerate(orders) if order == commonest]
    if len(same) < 2 or not beyond_chance(scenario.epochs, len(same), bits * (len(same) - 1)):
        return []
    delivered = tuple(
        line
        for at in same[:2]
        for line in show(trace.main.epoch(at)[:2], label=f"epoch {trace.main.ranks[0].epochs[at].number}, ")
    )
    why = _chance(len(same), bits * (len(same) - 1))
    return [Finding("same-order-each-epoch", "another order in each epoch", delivered, why)]


@clause("ORDER-7", applies=_in_sight, floor=10)
def seeds_differ(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Another seed gives another order in the same epoch."""
    variant = next((run for run in trace.runs[1:] if run.name.startswith("seed+")), None)
    if not scenario.shuffle or variant is None or not usable(trace.main) or not usable(variant):
        return None
    if _by_time(scenario, claims):
        return None
    return _compare_seeds(scenario, claims, trace.main, variant, shift=0)


@clause("ORDER-14", level="SHOULD", applies=_in_sight, floor=5)
def seed_and_epoch_are_not_added(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Epoch e + 1 of a seed is not epoch e of the next seed."""
    variant = trace.variant("seed+1")
    if not scenario.shuffle or variant is None or scenario.epochs < 2 or not usable(trace.main) or not usable(variant):
        return None
    # A loader that ignores its seed or its epoch is named by ORDER-6 and ORDER-7.
    if _order(trace.main, 0) in (_order(trace.main, 1), _order(variant, 0)):
        return None
    if _by_time(scenario, claims):
        return None
    return _compare_seeds(scenario, claims, trace.main, variant, shift=1)


def _compare_seeds(scenario: Scenario, claims: Claims, main: Run, variant: Run, shift: int) -> Verdict:
    pairs = scenario.epochs - shift
    bits = _log_arrangements(scenario, claims, _order(main, 0))
    if not beyond_chance(pairs, pairs, bits * pairs):
        return None
    same = [at for at in range(pairs) if _order(main, at + shift) == _order(variant, at)]
    if not same or not beyond_chance(pairs, len(same), bits * len(same)):
        return []
    at = same[0]
    numbers = [epoch.number for epoch in main.ranks[0].epochs]
    delivered = (
        *show(main.epoch(at + shift)[:2], label=f"seed {scenario.seed}, epoch {numbers[at + shift]}, "),
        *show(variant.epoch(at)[:2], label=f"seed {scenario.seed + seed_shift(variant.name)}, epoch {numbers[at]}, "),
    )
    kind = "seed-plus-epoch" if shift else "same-order-each-seed"
    if seed_shift(variant.name) > 1:
        kind = "same-order-in-low-bits"
    return [Finding(kind, "different orders", delivered, _chance(len(same), bits * len(same)))]


def _order(run: Run, position: int) -> tuple[tuple[int, ...], ...]:
    return tuple(epoch.samples for epoch in run.epoch(position))


def _log_arrangements(scenario: Scenario, claims: Claims, order: tuple[tuple[int, ...], ...]) -> float:
    """The logarithm of how many orders an epoch may come in, at the least."""
    delivered = min(scenario.samples, len({index for rank in order for index in rank}))
    if claims.shuffle == "buffered":
        # Even a buffer of two may choose at each sample but the last; but ranks may all choose alike.
        return max(0, max(len(rank) for rank in order) - 1) * log(2)
    if not claims.in_order:
        return 0.0
    return lgamma(scenario.samples + 1) - lgamma(scenario.samples - delivered + 1)


def beyond_chance(trials: int, hits: int, log_odds: float) -> bool:
    """Whether the hits in these trials are no coincidence; the odds against all of the hits are a logarithm."""
    return log(comb(trials, hits)) - log_odds < _COINCIDENCE


def _chance(alike: int, log_odds: float) -> str:
    # The delivery shows two epochs, however many it took.
    return f"{count(alike, 'epoch')} alike: by chance this happens once in 10^{log_odds / log(10):.0f} cases"


@clause("ORDER-10", floor=20, also="workers")
def does_not_reseed(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """A global generator does not end in one state whatever state it had before."""
    return _global_state(trace, reseeded=True)


@clause("ORDER-11", level="SHOULD", floor=20)
def does_not_draw(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """A global generator is where it was."""
    return _global_state(trace, reseeded=False)


def _global_state(trace: Trace, reseeded: bool) -> Verdict:
    variant = trace.variant("random-state")
    if variant is None or not usable(trace.main) or not usable(variant):
        return None
    for one, other in zip(trace.main.ranks, variant.ranks, strict=True):
        for here, there in zip(one.random_states, other.random_states, strict=False):
            forgotten = here.before != there.before and here.after == there.after
            moved = here.after != here.before
            if moved and forgotten == reseeded:
                return [_disturbed(one.rank, here.library, reseeded, count(len(one.epochs), "epoch"))]
    return []


def _disturbed(rank: int, library: str, reseeded: bool, read: str) -> Finding:
    generator = {"random": "random", "numpy": "numpy.random", "torch": "torch"}[library]
    if reseeded:
        line = f"rank {rank}: {generator} ends in one and the same state, whatever it was before"
        why = "code that drew from it before now draws other numbers, or the same ones on every rank"
        return Finding(f"reseeds-{library}", f"{generator}'s global state as the caller left it", (line,), why)
    line = f"rank {rank}: {generator} has moved on after {read}"
    why = "making or reading a loader (for validation, say) then changes what the training draws"
    return Finding(f"draws-from-{library}", f"{generator}'s global state as the caller left it", (line,), why)
