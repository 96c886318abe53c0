"""Chapter 11, samples that are drawn: the judges of DRAW-1 to DRAW-5, on shuffled epochs."""

from collections import Counter

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
    wrong_length,
)
from conformance.loader.scenario import Scenario
from conformance.reach.alike import alike, come_round, may_be_seen, of_seeds, pairs_of, squares
from conformance.reach.chances import improbable, must_repeat, shares
from conformance.reach.scenario import weights_of
from conformance.trace import Epoch, Run, Trace
from conformance.trial.clause import Finding, Verdict, clause
from conformance.trial.words import count


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
            _foreign(scenario, epochs)
            or _too_many_or_few(scenario, claims, epochs)
            or _cut_wrongly(scenario, claims, epochs)
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
    allowed = allowed_shares(scenario, claims)
    if allowed is None:
        return _of_all_ranks(scenario, claims, epochs)
    for rank, epoch in enumerate(epochs):
        if len(epoch.samples) not in allowed:
            note = count(len(epoch.samples), "sample")
            expected = f"{' or '.join(map(str, sorted(allowed)))} samples on each rank"
            why = f"{claimed(scenario, claims)} is claimed: as many are drawn as an epoch holds without drawing"
            return Finding("number-drawn", expected, show(epochs, {rank: note}), why)
    return None


def allowed_shares(scenario: Scenario, claims: Claims) -> set[int] | None:
    """How many samples a rank may draw in an epoch, or None where no policy says it."""
    sizes, step, full = shard_sizes(scenario, claims), scenario.combined_batch, padded_to_full_steps(scenario, claims)
    if sizes is None:
        return None
    allowed = {size - size % step if scenario.drop_last else size for size in range(sizes[0], sizes[1] + 1)}
    return allowed | ({full} if full is not None else set())


def most_off(scenario: Scenario, claims: Claims) -> int:
    """How many samples all ranks together may draw more or less than the dataset has, where no policy says it."""
    exactly = claims.policy(scenario.drop_last) == "once" and not scenario.drop_last
    return 0 if exactly else scenario.combined_batch * scenario.world_size - 1


def _of_all_ranks(scenario: Scenario, claims: Claims, epochs: tuple[Epoch, ...]) -> Finding | None:
    drawn = sum(len(epoch.samples) for epoch in epochs)
    most = most_off(scenario, claims)
    if abs(drawn - scenario.samples) <= most:
        return None
    expected = f"{count(scenario.samples, 'sample')} over all ranks{', or less than a round off' if most else ''}"
    why = "as many are drawn as an epoch holds without drawing"
    return Finding("number-drawn", expected, (*show(epochs), f"{count(drawn, 'sample')} in all"), why)


def _cut_wrongly(scenario: Scenario, claims: Claims, epochs: tuple[Epoch, ...]) -> Finding | None:
    step = scenario.combined_batch
    for rank, epoch in enumerate(epochs):
        sizes = [len(samples) for samples in epoch.steps]
        short = sizes and (sizes[-1] > step or (scenario.drop_last and sizes[-1] < step) or sizes[-1] == 0)
        if short or any(size != step for size in sizes[:-1]):
            return Finding(
                "step-size", f"steps of {step}", show(epochs, {rank: "another size"}), "only the last is short"
            )
        if note := wrong_length(epoch, claims.length):
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
    for run in of_seeds(trace):
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
    if not usable(trace.main) or come_round(scenario, trace):
        return None
    due = shares(scenario.samples, weights_of(scenario))
    epochs = [epoch for run in of_seeds(trace) for rank in run.ranks for epoch in rank.epochs]
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


@clause("DRAW-4", family="draws", applies=_draws, floor=8)
def drawn_anew(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Two ranks, two epochs and two seeds draw different samples."""
    if not usable(trace.main):
        return None
    in_one = squares(scenario)
    pairs = pairs_of(scenario, list(of_seeds(trace)))
    # Ranks may draw from shards of their own, and of few samples the same come again: the others are judged on one.
    judged = ["ranks"] if scenario.world_size > 1 else ["epochs", "seeds"]
    found = (alike(kind, pairs[kind], in_one) for kind in judged)
    finding = next((each for each in found if each), None)
    if finding:
        return [finding]
    return [] if any(may_be_seen(pairs[kind], in_one) for kind in judged) else None


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
