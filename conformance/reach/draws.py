"""Chapter 11, samples that are drawn: the judges of DRAW-1 to DRAW-5, on shuffled epochs."""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, pairwise
from operator import eq

from conformance.contract import Claims
from conformance.loader.judging import (
    as_assigned,
    claimed,
    counts_itself,
    ends,
    padded_to_full_steps,
    shard_sizes,
    show,
    usable,
)
from conformance.loader.scenario import Scenario
from conformance.reach.chances import agree_too_often, can_not_be_alike, improbable, must_repeat, shares
from conformance.reach.scenario import weights_of
from conformance.trace import Epoch, Run, Trace
from conformance.trial.clause import Finding, Verdict, clause
from conformance.trial.words import count

Pair = tuple[Epoch, Epoch]


def _draws(claims: Claims) -> bool:
    return claims.sampling == "replacement"


def _weighs(claims: Claims) -> bool:
    return _draws(claims) and "weights" in claims.hooks


@clause("DRAW-1", family="draws", applies=_draws, floor=40)
def number_drawn(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """An epoch draws as many samples as it would hold without drawing, in full steps but for the last."""
    if scenario.samples < claims.least_samples(scenario.world_size, scenario.combined_batch):
        return None
    if trace.main.failed:
        return ends(trace.main, ())
    for position in range(scenario.epochs):
        epochs = trace.main.epoch(position)
        found = (
            _foreign(scenario, epochs) or _too_many_or_few(scenario, claims, epochs) or _cut_wrongly(scenario, epochs)
        )
        if found:
            return [found]
    return []


def _foreign(scenario: Scenario, epochs: tuple[Epoch, ...]) -> Finding | None:
    for rank, epoch in enumerate(epochs):
        foreign = next((index for index in epoch.samples if not 0 <= index < scenario.samples), None)
        if foreign is not None:
            note = f"holds the number {foreign + 1000}, which no sample has"
            why = "what is drawn is drawn from the dataset"
            return Finding("foreign-sample", "samples of the dataset and nothing else", show(epochs, {rank: note}), why)
    return None


def _too_many_or_few(scenario: Scenario, claims: Claims, epochs: tuple[Epoch, ...]) -> Finding | None:
    sizes = shard_sizes(scenario, claims)
    if sizes is None:
        return _of_all_ranks(scenario, claims, epochs)
    step = scenario.combined_batch
    full = padded_to_full_steps(scenario, claims)
    allowed = {size - size % step if scenario.drop_last else size for size in range(sizes[0], sizes[1] + 1)}
    allowed |= {full} if full is not None else set()
    for rank, epoch in enumerate(epochs):
        if len(epoch.samples) not in allowed:
            note = count(len(epoch.samples), "sample")
            expected = f"{' or '.join(map(str, sorted(allowed)))} samples on each rank"
            why = f"{claimed(scenario, claims)} is claimed: as many are drawn as an epoch holds without drawing"
            return Finding("number-drawn", expected, show(epochs, {rank: note}), why)
    return None


def _of_all_ranks(scenario: Scenario, claims: Claims, epochs: tuple[Epoch, ...]) -> Finding | None:
    drawn = sum(len(epoch.samples) for epoch in epochs)
    round_of_all = scenario.combined_batch * scenario.world_size
    off = abs(drawn - scenario.samples)
    exactly = claims.policy(scenario.drop_last) == "once" and not scenario.drop_last
    if off < round_of_all and not (exactly and off):
        return None
    expected = f"{count(scenario.samples, 'sample')} over all ranks{'' if exactly else ', or less than a round off'}"
    why = "as many are drawn as an epoch holds without drawing"
    return Finding("number-drawn", expected, (*show(epochs), f"{count(drawn, 'sample')} in all"), why)


def _cut_wrongly(scenario: Scenario, epochs: tuple[Epoch, ...]) -> Finding | None:
    step = scenario.combined_batch
    for rank, epoch in enumerate(epochs):
        sizes = [len(samples) for samples in epoch.steps]
        short = sizes and (sizes[-1] > step or (scenario.drop_last and sizes[-1] < step) or sizes[-1] == 0)
        if short or any(size != step for size in sizes[:-1]):
            return Finding(
                "step-size", f"steps of {step}", show(epochs, {rank: "another size"}), "only the last is short"
            )
        if isinstance(epoch.length, int) and epoch.length != len(sizes):
            note = f"len() = {epoch.length}, but {count(len(sizes), 'step')}"
            return Finding(
                "length", f"len() = {len(sizes)}", show(epochs, {rank: note}), "a length that is given is right"
            )
    return None


@clause("DRAW-2", family="draws", applies=_weighs, floor=20)
def nothing_of_no_weight(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """A sample whose weight is zero is never drawn."""
    weights = weights_of(scenario)
    if weights is None or 0 not in weights or not usable(trace.main):
        return None
    for run in _of_seeds(trace):
        for position in range(scenario.epochs):
            epochs = run.epoch(position)
            for rank, epoch in enumerate(epochs):
                wrong = next((each for each in epoch.samples if 0 <= each < len(weights) and not weights[each]), None)
                if wrong is not None:
                    lines = show(epochs, {rank: f"sample {wrong} has the weight 0"})
                    return [
                        Finding("no-weight", "samples whose weight is more than 0", lines, "a weight of 0 is never")
                    ]
    return []


@clause("DRAW-3", family="draws", applies=_draws, floor=4)
def drawn_by_weight(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Each sample comes as often as its weight says, and may come again within an epoch."""
    if not usable(trace.main) or _come_round(scenario, trace):
        return None
    due = shares(scenario.samples, weights_of(scenario))
    epochs = [epoch for run in _of_seeds(trace) for rank in run.ranks for epoch in rank.epochs]
    drawn = Counter(index for epoch in epochs for index in epoch.samples)
    trials = drawn.total()
    found = _without_replacement(scenario, epochs, due) if must_repeat(_sizes(epochs), _possible(due)) else None
    for index, share in enumerate(due):
        if found is None and improbable(drawn[index], trials, share):
            found = f"sample {index} came {drawn[index]} times in {trials} draws, expected {trials * share:.0f}"
    found = found or _together(drawn, weights_of(scenario), due)
    if found:
        shown = show(trace.main.epoch(0), label="for example, ")
        why = 'sampling="replacement" is claimed; so it looks less than once in 10^9 runs'
        return [Finding("frequencies", "each sample as often as its weight says", (*shown, found), why)]
    # With fewer draws no count could have been too small.
    exercised = any(improbable(0, trials, share) for share in due) or must_repeat(_sizes(epochs), _possible(due))
    return [] if exercised else None


def _together(drawn: Counter[int], weights: tuple[float, ...] | None, due: list[float]) -> str | None:
    """Samples of one weight, or of one part of the dataset, that are off together: of many no single one shows it."""
    samples, trials = len(due), drawn.total()
    parts: dict[str, list[int]] = {}
    for index in range(samples):
        parts.setdefault(f"eighth {1 + 8 * index // samples}", []).append(index)
        if weights is not None:
            parts.setdefault(f"weight {weights[index]:g}", []).append(index)
    for name, members in parts.items():
        came, share = sum(drawn[index] for index in members), sum(due[index] for index in members)
        if improbable(came, trials, share):
            told = f"{count(len(members), 'sample')} of {name}"
            return f"{told} came {came} times in {trials} draws, expected {trials * share:.0f}"
    return None


def _without_replacement(scenario: Scenario, epochs: list[Epoch], due: list[float]) -> str | None:
    if any(len({*epoch.samples}) < len(epoch.samples) for epoch in epochs):
        return None
    return f"in {count(len(epochs), 'epoch')} of a rank no sample came again"


def _sizes(epochs: list[Epoch]) -> list[int]:
    return [len(epoch.samples) for epoch in epochs]


def _possible(due: list[float]) -> int:
    return sum(1 for share in due if share > 0)


def _of_seeds(trace: Trace) -> Iterator[Run]:
    """The main run, and those with other seeds."""
    yield from (run for run in trace.runs if usable(run) and (run is trace.main or run.name.startswith("seed ")))


@clause("DRAW-4", family="draws", applies=_draws, floor=8)
def drawn_anew(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Two ranks, two epochs and two seeds draw different samples."""
    if not usable(trace.main):
        return None
    squares = _squares(scenario)
    pairs = _pairs(scenario, list(_of_seeds(trace)))
    # Ranks may draw from shards of their own, and of few samples the same come again: the others are judged on one.
    judged = ["ranks"] if scenario.world_size > 1 else ["epochs", "seeds"]
    found = (_alike(kind, pairs[kind], squares) for kind in judged)
    finding = next((each for each in found if each), None)
    if finding:
        return [finding]
    return [] if any(_may_be_seen(pairs[kind], squares) for kind in judged) else None


def _squares(scenario: Scenario) -> float:
    """The chance that two draws give one sample."""
    return sum(share * share for share in shares(scenario.samples, weights_of(scenario)))


def _pairs(scenario: Scenario, runs: list[Run]) -> dict[str, list[Pair]]:
    """By what is other, the epochs that must differ: neighbours, so that each has a few partners."""
    return {
        "ranks": [pair for run in runs for at in range(scenario.epochs) for pair in combinations(run.epoch(at), 2)],
        "epochs": [pair for run in runs for rank in run.ranks for pair in pairwise(rank.epochs)],
        "seeds": [
            (one.epochs[0], other.epochs[0])
            for run, later in pairwise(runs)
            for one, other in zip(run.ranks, later.ranks, strict=True)
        ],
    }


def _common(pairs: list[Pair]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """What both of each pair drew, as far as the shorter one goes."""
    for one, other in pairs:
        size = min(len(one.samples), len(other.samples))
        yield one.samples[:size], other.samples[:size]


def _may_be_seen(pairs: list[Pair], squares: float) -> bool:
    sizes = [len(one) for one, _ in _common(pairs)]
    return agree_too_often(sum(sizes), sum(sizes), squares) or any(can_not_be_alike(each, squares) for each in sizes)


def _alike(kind: str, pairs: list[Pair], squares: float) -> Finding | None:
    both = list(_common(pairs))
    for pair, (first, second) in zip(pairs, both, strict=True):
        # What is no more than shuffled is DRAW-3's matter.
        shuffled = len({*first}) == len(first) and first != second
        if can_not_be_alike(len(first), squares) and Counter(first) == Counter(second) and not shuffled:
            return _told_alike(kind, pair, "the same samples")
    places = sum(len(first) for first, _ in both)
    agreed = sum(sum(map(eq, first, second)) for first, second in both)
    if agree_too_often(agreed, places, squares):
        told = f"{agreed} of {places} draws agree in their place, expected {places * squares:.0f}"
        return _told_alike(kind, pairs[0], told)
    return None


def _come_round(scenario: Scenario, trace: Trace) -> bool:
    """Whether something is drawn again that should be drawn anew; frequencies stray then by no fault of their own."""
    squares = min(1.0, _squares(scenario) * scenario.world_size)
    pairs = _pairs(scenario, list(_of_seeds(trace)))
    return any(_alike(kind, each, squares) is not None for kind, each in pairs.items())


def _told_alike(kind: str, pair: Pair, told: str) -> Finding:
    one, other = pair
    noun = {"ranks": "rank", "epochs": "epoch", "seeds": "seed"}[kind]
    lines = (*show((one,), label=f"one {noun}, as "), *show((other,), {0: told}, label=f"another {noun}, as "))
    why = f"what is drawn alike for two {kind} is trained on twice, and weighs so much more"
    return Finding(f"{kind}-alike", f"other samples for another {noun}", lines, why)


@clause("DRAW-5", family="draws", applies=_draws, floor=8)
def drawn_again(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """The same seed and epoch draw the same samples, whatever else is other."""
    if not usable(trace.main) or scenario.seeds > 1:
        return None
    for name, circumstance in _CIRCUMSTANCES.items():
        other = trace.variant(name)
        if other is not None and other.failed:
            return ends(other, ())
        if other is not None and not (name == "jump" and counts_itself(other)):
            return _compared(claims, trace.main, other, circumstance)
    return None


_CIRCUMSTANCES = {
    "again": "in another process, with another PYTHONHASHSEED",
    "after": "in a process where another loader was read before",
    "jump": "with the epoch set directly, the earlier ones not read",
    "random-state": "with the global random generators in another state",
    "workers": "without workers",
}


def _compared(claims: Claims, main: Run, other: Run, circumstance: str) -> list[Finding]:
    # A run that jumps reads only the last epoch; others read all.
    for back in range(1, len(other.ranks[0].epochs) + 1):
        pairs = zip(as_assigned(claims, main.epoch(-back)), as_assigned(claims, other.epoch(-back)), strict=True)
        for rank, (first, second) in enumerate(pairs):
            same = (
                first.samples == second.samples
                if claims.in_order
                else Counter(first.samples) == Counter(second.samples)
            )
            if not same:
                shown = show((first,), label=f"first time, rank {rank} as ")
                lines = (*shown, *show((second,), {0: circumstance}, "second, as "))
                why = "a run that can't be repeated can't be explained"
                return [Finding("draws-differ", f"the same samples {circumstance}", lines, why)]
    return []
