"""The checks of chapter 11 for samples that are drawn. Chance explains what `reach/chances.py` says."""

from collections import Counter
from itertools import combinations, pairwise, product
from math import lgamma, log
from types import SimpleNamespace
from typing import Any

from conformance.report.script.checks.arithmetic import length_is_true
from conformance.report.script.checks.common import epochs_of, failure_in, samples_of
from conformance.report.script.checks.order import same_order
from conformance.report.script.judge import give_up


def number_drawn(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """DRAW-1: an epoch draws as many samples as it would hold without drawing, in full steps but for the last."""
    if failure_in(runs["main"]):
        return f"the loader {failure_in(runs['main'])}"
    for epochs in epochs_of(runs["main"]):
        drawn = [len(samples_of(epoch)) for epoch in epochs]
        wrong = [number for number in drawn if case.shares and number not in case.shares]
        if wrong:
            return f"{wrong[0]} samples are drawn on a rank, and {' or '.join(map(str, case.shares))} without drawing"
        if not case.shares and abs(sum(drawn) - case.samples) > case.most_off:
            return f"{sum(drawn)} samples are drawn from {case.samples}, and {case.most_off} may be lacking or more"
        told = next(filter(None, (cut_wrongly(case, epoch) for epoch in epochs)), "")
        if told:
            return told
    return length_is_true(case, runs)


def cut_wrongly(case: SimpleNamespace, epoch: SimpleNamespace) -> str:
    """What is no sample, or no full step."""
    sizes, full = [len(step) for step in epoch.steps], case.combined_batch
    foreign = [index for index in samples_of(epoch) if not 0 <= index < case.samples]
    if foreign:
        return f"{1000 + foreign[0]} comes, which is no sample"
    if any(size != full for size in sizes[:-1]) or (sizes[-1:] or [1])[0] not in range(1, full + 1):
        return f"the steps hold {sizes} samples, and {full} are asked for"
    if case.drop_last and sizes and sizes[-1] < full:
        return f"the last step holds {sizes[-1]} samples under drop_last, and {full} are asked for"
    return ""


def nothing_of_no_weight(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """DRAW-2: a sample whose weight is 0 is never drawn."""
    for _, rank, epoch in drawn_epochs(runs):
        wrong = [index for index in samples_of(epoch) if index in range(case.samples) and not case.weights[index]]
        if wrong:
            return f"sample {wrong[0]} comes on rank {rank}, and its weight is 0"
    return ""


def drawn_by_weight(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """DRAW-3: each sample comes as often as its weight says, and may come again within an epoch."""
    epochs = [samples_of(epoch) for _, _, epoch in drawn_epochs(runs)]
    chances = chances_of(case)
    times = Counter(index for samples in epochs for index in samples)
    possible = sum(chance > 0 for chance in chances)
    unlikely = -sum(len(each) * (len(each) - 1) / (2 * possible) for each in epochs) < log(1e-13)
    if unlikely and all(len({*samples}) == len(samples) for samples in epochs):
        return f"in {len(epochs)} epochs of a rank no sample comes again"
    for index, chance in enumerate(chances):
        if beyond_chernoff(times[index], times.total(), chance):
            due = times.total() * chance
            return f"sample {index} comes {times[index]} times in {times.total()} draws, and {due:.0f} are expected"
    return ""


def drawn_anew(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """DRAW-4: two ranks, two epochs and two seeds draw different samples."""
    squares = sum(chance * chance for chance in chances_of(case))
    for kind, pairs in pairs_to_compare(case, runs).items():
        agreed = places = 0
        for one, other in pairs:
            size = min(len(one), len(other))
            one, other = one[:size], other[:size]
            shuffled = len({*one}) == size and one != other
            alike = size > 0 and lgamma(size + 1) + size * log(squares) < log(1e-15)
            if alike and sorted(one) == sorted(other) and not shuffled:
                return f"two {kind} draw the same samples: {one}"
            agreed, places = agreed + sum(map(int.__eq__, one, other)), places + size
        if places and agreed / places > squares and beyond_chernoff(agreed, places, squares):
            return f"{agreed} of {places} draws of two {kind} agree, and {places * squares:.0f} are expected"
    return ""


def pairs_to_compare(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> dict[str, list[Any]]:
    """What must be drawn anew. Ranks may draw from shards of their own: the others are judged on one."""
    seeds = [runs[name] for name in runs if name == "main" or name.startswith("seed ")]
    drawn = [[[samples_of(epoch) for epoch in epochs] for epochs in epochs_of(ranks)] for ranks in seeds]
    if case.world_size > 1:
        # A rank must not draw what another one draws in any epoch.
        by_rank = [list(zip(*epochs, strict=True)) for epochs in drawn]
        return {"ranks": [pair for ranks in by_rank for two in combinations(ranks, 2) for pair in product(*two)]}
    neighbours = [(one[0], other[0]) for epochs in drawn for one, other in pairwise(epochs)]
    return {"epochs": neighbours, "seeds": [(one[0][0], other[0][0]) for one, other in pairwise(drawn)]}


def drawn_again(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """DRAW-5: the same seed and epoch draw the same samples, whatever else is other."""
    main, other = runs.values()
    if failure_in(main):
        give_up(f"the loader {failure_in(main)}")
    return f"the second time the loader {failure_in(other)}" if failure_in(other) else same_order(case, runs)


def drawn_epochs(runs: dict[str, list[SimpleNamespace]]) -> list[tuple[str, int, SimpleNamespace]]:
    """Each epoch of each rank with each seed."""
    seeds = [name for name in runs if name == "main" or name.startswith("seed ")]
    return [(name, at, epoch) for name in seeds for at, rank in enumerate(runs[name]) for epoch in rank.epochs]


def chances_of(case: SimpleNamespace) -> list[float]:
    """The chance of each sample at each draw."""
    weights = case.weights or [1.0] * case.samples
    return [weight / sum(weights) for weight in weights]


def beyond_chernoff(hits: int, trials: int, chance: float) -> bool:
    """Whether that many come less than once in 10^14 times (Chernoff's bound)."""
    if trials == 0 or not 0 < chance < 1:
        return False
    parts = ((hits / trials, chance), (1 - hits / trials, 1 - chance))
    return -trials * sum(seen * log(seen / due) for seen, due in parts if seen > 0) < log(1e-14)
