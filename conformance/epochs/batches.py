"""Chapter 1, steps: the judges of BATCH-1 to BATCH-5."""

from collections import Counter

from conformance.contract import Claims
from conformance.loader.judging import (
    known_samples,
    show,
    usable,
)
from conformance.loader.scenario import Scenario
from conformance.trace import Trace
from conformance.trial.clause import Finding, Verdict, clause
from conformance.trial.words import count


@clause("BATCH-1", floor=100)
def full_step(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """A step holds N samples, and never more. Judged on every rank that was dealt at least one step's worth."""
    if not usable(trace.main):
        return None
    step = scenario.combined_batch
    exercised = False
    for position in range(scenario.epochs):
        epochs = trace.main.epoch(position)
        for rank, epoch in enumerate(epochs):
            exercised = exercised or len(epoch.samples) >= step
            sizes = [len(samples) for samples in epoch.steps]
            if sizes and (max(sizes) > step or (max(sizes) < step <= len(epoch.samples))):
                note = f"a step of {max(sizes)}"
                return [Finding("step-size", _full(scenario), show(epochs, {rank: note}), _product(scenario))]
    return [] if exercised else None


@clause("BATCH-2", floor=100)
def only_the_last_is_short(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Every step but the last is as large as the largest; under drop_last the last one too (empty ones: COUNT-2)."""
    if not usable(trace.main):
        return None
    exercised = False
    for position in range(scenario.epochs):
        epochs = trace.main.epoch(position)
        for rank, epoch in enumerate(epochs):
            sizes = [len(samples) for samples in epoch.steps if samples]
            bound = sizes if scenario.drop_last else sizes[:-1]
            exercised = exercised or len(bound) > 0
            full = scenario.combined_batch if scenario.drop_last else max(sizes, default=0)
            short = [number for number, size in enumerate(bound) if size < full]
            if short:
                note = f"step {short[0]} holds {bound[short[0]]}"
                expected = f"every step {'' if scenario.drop_last else 'but the last '}of {full} samples"
                why = (
                    "drop_last=True drops an incomplete step"
                    if scenario.drop_last
                    else "only the last step may be smaller"
                )
                return [Finding("short-step", expected, show(epochs, {rank: note}), why)]
    return [] if exercised else None


@clause("BATCH-3", applies=lambda claims: claims.device_options and claims.in_order)
def layout_of_a_step(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Unshuffled, the samples inside a combined batch follow each other as in the dataset."""
    if scenario.shuffle or not scenario.has_device_factors or not usable(trace.main):
        return None
    exercised = False
    for position in range(scenario.epochs):
        epochs = trace.main.epoch(position)
        counts = known_samples(scenario, epochs)
        for rank, epoch in enumerate(epochs):
            for samples in epoch.steps:
                exercised = exercised or len(samples) > 1
                if _out_of_order(samples, counts):
                    note = f"{' '.join(map(str, samples[:8]))} is not in order"
                    why = (
                        "a combined batch is [device iteration, accumulation, replica, micro-batch], slowest axis first"
                    )
                    return [Finding("step-layout", "consecutive samples in each step", show(epochs, {rank: note}), why)]
    return [] if exercised else None


def _out_of_order(samples: tuple[int, ...], counts: Counter[int]) -> bool:
    # Padding starts again at some earlier sample: a step that holds repeats is judged by PART-4.
    return list(samples) != sorted(samples) and all(counts[index] == 1 for index in samples)


def _has_factors(claims: Claims) -> bool:
    return not {"ranks", "batch_size"} <= {*claims.without}


@clause("BATCH-4", family="refusals", applies=_has_factors, floor=6)
def factors_are_positive(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """A zero or negative factor, or a rank outside the world, is an error before a sample is delivered."""
    return _refused(scenario, trace) if _is_integer(scenario.refusal) else None


@clause("BATCH-5", family="refusals", level="SHOULD", applies=_has_factors, floor=3)
def factors_are_integers(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """A boolean or a fraction where an integer belongs is an error too."""
    return None if _is_integer(scenario.refusal) else _refused(scenario, trace)


def _is_integer(refusal: str) -> bool:
    return all(each.partition("=")[2].lstrip("-").isdigit() for each in refusal.split("+"))


def _refused(scenario: Scenario, trace: Trace) -> Verdict:
    name = scenario.refusal.partition("=")[0]
    for rank in trace.main.ranks:
        samples = sum(len(epoch.samples) for epoch in rank.epochs)
        # What close() raises comes when the epoch has ended.
        late = bool(samples) or (rank.failure is not None and rank.failure.where == "close")
        if rank.failure and rank.failure.kind == "raised" and not late:
            continue
        came = count(samples, "sample")
        got = f"no error; {came}" if rank.failure is None else f"{rank.failure.sentence()}, after {came}"
        kind = "accepted" if rank.failure is None else "late" if late else rank.failure.kind
        return [
            Finding(
                f"{kind}-{name}", f"an error for {scenario.refusal}", (f"rank {rank.rank}: {got}",), _refusal_rule(name)
            )
        ]
    return []


def _refusal_rule(name: str) -> str:
    if name == "rank":
        return "a rank outside 0 to world size - 1 would read another rank's samples, or none"
    return f"a {name.replace('_', ' ')} that is no positive integer is a mistake of the caller, and silence hides it"


def _full(scenario: Scenario) -> str:
    return f"steps of {scenario.combined_batch}"


def _product(scenario: Scenario) -> str:
    if not scenario.has_device_factors:
        return f"micro-batch {scenario.batch_size} is asked for"
    factors = (
        scenario.batch_size,
        scenario.gradient_accumulation,
        scenario.replication_factor,
        scenario.device_iterations,
    )
    product = " x ".join(map(str, factors))
    return f"micro-batch x accumulation x replicas x device iterations = {product} = {scenario.combined_batch}"
