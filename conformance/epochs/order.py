"""Chapter 3, shuffled epochs: the judges of ORDER-3 to 9 and 14. The statistical ones are in `uniformity.py`."""

from math import comb, lgamma, log

from conformance.contract import Claims
from conformance.epochs.partition import (
    CIRCUMSTANCES,
    lost_samples,
    repeats_beyond_padding,
    too_much_padding,
    unbalanced,
)
from conformance.loader.judging import (
    as_assigned,
    comparable,
    counts_itself,
    known_samples,
    missing,
    remainder,
    show,
    usable,
)
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


@clause("ORDER-9", applies=_shuffles, floor=10, twin=True, also=("workers",))
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
            if comparable(claims, one) != comparable(claims, other):
                return [_differs(trace.main, rank, one, other, variant.name)]
    return [] if exercised else None


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


@clause("ORDER-6", applies=_in_sight, floor=10, also=("cut short",))
def epochs_differ(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """No two epochs of a seed have the same order."""
    # What comes after trouble is judged by chapter 4.
    if scenario.is_troubled:
        return None
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
    return _as_many(scenario, trace.main, variant) or _compare_seeds(scenario, claims, trace.main, variant, shift=0)


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


def _as_many(scenario: Scenario, main: Run, variant: Run) -> list[Finding]:
    """An epoch in which the other seed brings fewer samples, though nothing is dropped.

    On one rank: what several ranks have in common, or lose between them, is ORDER-3's and ORDER-4's to say.
    """
    if scenario.drop_last or scenario.world_size > 1:
        return []
    for at in range(scenario.epochs):
        most, other = (len(known_samples(scenario, each.epoch(at))) for each in (main, variant))
        if other < most:
            delivered = show(variant.epoch(at)[:2], label=f"seed {scenario.seed + seed_shift(variant.name)}, ")
            why = "a seed says in which order samples come, and not how many"
            expected = f"{count(most, 'sample')}, as with seed {scenario.seed}"
            return [Finding("fewer-with-another-seed", expected, delivered, why)]
    return []


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
    delivered = len({index for rank in order for index in rank if 0 <= index < scenario.samples})
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
