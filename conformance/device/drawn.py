"""What is tried of training loops: the family of chapter 6."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

from hypothesis import strategies as st

from conformance.contract import Claims
from conformance.device.scenario import MODES, DeviceScenario, Variant
from conformance.trial.tiers import Tier


@st.composite
def models(draw: st.DrawFn, claims: Claims) -> DeviceScenario:
    """A small model that is called a few times, with the factors and the mode of output that are claimed."""
    what = draw(st.sampled_from(_possible(claims)))
    trains = "infer" not in what
    # Process groups cost time, and the factors are judged on one rank.
    ranks = 2 if "ranks" in what else 1
    micro_batch = draw(st.integers(1, 2))
    replicas, iterations, accumulation = (draw(st.sampled_from((1, 1, 2, 2, 3))) for _ in range(3))
    accumulation = accumulation if trains else 1
    words = {*what, draw(st.sampled_from(("", "deep")))} - {"train", "ranks", ""}
    if trains:
        words |= {draw(st.sampled_from(("", "momentum", "adam"))), draw(st.sampled_from(("", "", "groups")))} - {""}
    variant: Variant = "none"
    if trains and not words & {*MODES, "apart"} and "adam" not in words and draw(st.booleans()):
        words |= {"sum"}
        variant = "mean"
    elif trains and iterations > 1 and ranks == 1:
        variant = "singly"
    samples = micro_batch * replicas * iterations * accumulation
    # Every second of one is none.
    words -= {"every"} if iterations * accumulation % 2 else set()
    return DeviceScenario(
        samples,
        ranks,
        micro_batch,
        accumulation,
        replicas,
        iterations,
        calls=draw(st.integers(1, 2)),
        seed=draw(st.integers(0, 3)),
        variant=variant,
        asked=frozenset(words),
    )


def _possible(claims: Claims) -> list[tuple[str, ...]]:
    """What can be asked of a model with these claims, simplest first."""
    trains, infers = ("training" in claims.device, "inference" in claims.device)
    asked: list[tuple[str, ...]] = [*[("train",)] * 6 * trains, *[("infer",)] * infers]
    if "outputs" in claims.device:
        asked += [("train", mode) for mode in MODES for _ in range(2 if mode == "final" else 1) if trains]
        asked += [("infer", mode) for mode in MODES if infers]
    if "ranks" in claims.device and trains:
        asked += [("train", "ranks"), ("train", "ranks", "apart")]
    return asked


def _each_factor(first: DeviceScenario) -> Iterator[DeviceScenario]:
    """Each factor alone, so that none is left to chance."""
    for factor in ("gradient_accumulation", "replication_factor", "device_iterations"):
        changes: dict[str, Any] = {"samples": 2, "calls": 2, factor: 2}
        asked = replace(first, **changes)
        compared: Variant = "singly" if factor == "device_iterations" else "none"
        yield replace(asked, variant=compared)
        yield replace(asked, variant=compared, asked=frozenset({"adam", "deep"}))
        if compared == "none":
            yield replace(asked, variant="mean", asked=frozenset({"sum"}))
            yield replace(asked, variant="mean", asked=frozenset({"sum", "groups"}))
            yield replace(asked, variant="mean", asked=frozenset({"sum", "groups", "momentum"}))
        for word in ("groups", "refused", "failed", "tied"):
            yield replace(asked, asked=frozenset({word}))
    four = replace(first, samples=4, calls=2, gradient_accumulation=2, replication_factor=2)
    for words in ({"groups", "adam"}, {"groups", "momentum"}, {"refused"}, {"failed", "deep"}):
        yield replace(four, asked=frozenset(words))


def _outputs_after_errors(first: DeviceScenario, claims: Claims) -> Iterator[DeviceScenario]:
    """Each mode that takes more than the last results, after a call that has left some of its own."""
    two = replace(first, samples=2, calls=2)
    for mode in ("every", "all", "total"):
        if "training" in claims.device:
            yield replace(two, gradient_accumulation=2, asked=frozenset({"failed", mode}))
        if "inference" in claims.device:
            yield replace(two, device_iterations=2, asked=frozenset({"infer", "failed", mode}))
    for words, part in ((set(), "training"), ({"infer"}, "inference")):
        if part in claims.device:
            yield replace(two, replication_factor=2, asked=frozenset({*words, "failed", "all"}))


def _outputs_of_several(first: DeviceScenario, claims: Claims) -> Iterator[DeviceScenario]:
    """Each mode with several updates in a call, where none of their results are as many as a period."""
    for mode, replicas in product(MODES, (1, 2)):
        if "training" in claims.device:
            factors: dict[str, Any] = {"gradient_accumulation": 3, "device_iterations": 2}
            yield replace(first, samples=6 * replicas, replication_factor=replicas, asked=frozenset({mode}), **factors)
        if "inference" in claims.device:
            asked = frozenset({"infer", mode})
            yield replace(first, samples=4 * replicas, device_iterations=4, replication_factor=replicas, asked=asked)
    for mode in ("total", "all", "final"):
        # What is done to results in place is done to the step of which they are a part.
        two = replace(first, samples=2, calls=2)
        if "training" in claims.device:
            yield replace(two, gradient_accumulation=2, asked=frozenset({"lends", mode}))
        if "inference" in claims.device:
            yield replace(two, device_iterations=2, asked=frozenset({"infer", "lends", mode}))


def a_few_models(claims: Claims, tier: Tier) -> Iterator[DeviceScenario]:
    """What is tried before any is drawn: each refusal, and what has no numbers."""
    first = DeviceScenario(1)
    if "training" in claims.device:
        yield from _each_factor(first)
    tasks = [words for words, part in ((set(), "training"), ({"infer"}, "inference")) if part in claims.device]
    for words in map(frozenset[str], tasks):
        yield replace(first, asked=words)
        yield replace(first, samples=3, device_iterations=2, asked=words)
        yield replace(first, samples=3, replication_factor=2, asked=words)
        if not words:
            yield replace(first, samples=3, gradient_accumulation=2)
            yield replace(first, samples=5, gradient_accumulation=2, replication_factor=2)
            # Each factor divides it, and their product doesn't.
            yield replace(first, samples=6, gradient_accumulation=2, replication_factor=2)
            yield replace(first, samples=6, gradient_accumulation=2, device_iterations=2)
        else:
            yield replace(first, samples=6, device_iterations=2, replication_factor=2)
        if "synthetic" in claims.device:
            modes = ("", "all", "final") if "outputs" in claims.device else ("",)
            for mode in modes:
                asked = replace(first, samples=4, batch_size=2, replication_factor=2)
                yield replace(asked, asked=words | {"synthetic", mode} - {""})
    if "inference" in claims.device:
        yield replace(first, samples=2, gradient_accumulation=2, asked=frozenset({"infer"}))
        yield replace(first, samples=4, gradient_accumulation=2, replication_factor=2, asked=frozenset({"infer"}))
        if "outputs" in claims.device:
            for asked in (replace(first, calls=2), replace(first, samples=2, replication_factor=2, calls=2)):
                yield replace(asked, asked=frozenset({"infer", "moved", "all"}))
    if "outputs" in claims.device:
        yield from _outputs_after_errors(first, claims)
        yield from _outputs_of_several(first, claims)
    if "ranks" in claims.device and "training" in claims.device:
        for factors in ({}, {"gradient_accumulation": 2}, {"replication_factor": 2}, {"device_iterations": 2}):
            changes: dict[str, Any] = {"ranks": 2, "calls": 2, **factors}
            asked = replace(first, **changes)
            asked = replace(asked, samples=asked.combined_batch)
            yield asked
            yield replace(asked, asked=frozenset({"apart"}))
        yield replace(first, ranks=2, asked=frozenset({"frozen", "apart"}))
        for optimizer in ("", "momentum"):
            yield replace(first, ranks=2, calls=2, asked=frozenset({"headed", optimizer} - {""}))
        yield replace(first, ranks=3)
