"""Chapter 6, the updates: decides whether all factors together make the update that they owe."""

from collections.abc import Callable

from conformance.contract import Claims
from conformance.device.scenario import DeviceScenario
from conformance.trace import RankRun, Trace, Value
from conformance.trial.clause import Finding, Judge, Verdict, clause

# Two ways to the same number in double precision; a sample that is lost or counted twice moves it far more.
TOLERANCE = 1e-7
_NAMED = ("accumulation", "replica", "iteration", "factor")


def device(clause_id: str, *parts: str, floor: int) -> Callable[[Judge], Judge]:
    """Register a judge of chapter 6, owed where one of these parts of `device` is claimed."""

    def owed(claims: Claims) -> bool:
        return any(part in claims.device for part in parts)

    return clause(clause_id, family="device", applies=owed, floor=floor, dataset="none")


def possible(scenario: DeviceScenario) -> bool:
    """Whether the request can be met."""
    return scenario.samples == scenario.combined_batch and not accumulates_in_inference(scenario)


def accumulates_in_inference(scenario: DeviceScenario) -> bool:
    """What DEVICE-8 refuses."""
    return "infer" in scenario.asked and scenario.gradient_accumulation > 1


def trains(trace: Trace) -> bool:
    """Whether the run trained on real data, and came to its end."""
    scenario = trace.scenario
    asked = possible(scenario) and "infer" not in scenario.asked and "synthetic" not in scenario.asked
    return asked and not trace.main.failed


def trained(trace: Trace) -> bool:
    """Whether it did, and the weights moved at all. That they did not is judged by DEVICE-11."""
    return trains(trace) and not _unmoved(trace.main.ranks[0])


@device("DEVICE-1", "training", "inference", floor=60)
def calls_succeed_and_miss_nothing(scenario: DeviceScenario, claims: Claims, trace: Trace) -> Verdict:
    if not possible(scenario):
        return None
    for rank in trace.main.ranks:
        if rank.failure:
            told = f"rank {rank.rank}: {rank.failure.sentence()}"
            return [Finding("failed", "the call returns", (told,), f"{scenario.samples} samples are a whole step")]
    if "all" not in scenario.asked or "synthetic" in scenario.asked:
        return []
    for rank in trace.main.ranks:
        for call in range(scenario.calls):
            seen, owed = (sorted(numbers(rank, name, call)) for name in ("output", "right output"))
            if seen != owed:
                told = f"outputs of {sample_list(seen)}"
                return [
                    Finding("samples", f"outputs of {sample_list(owed)}", (told,), "each sample of a step is used once")
                ]
    return []


@device("DEVICE-3", "training", floor=10)
def iterations_are_calls(scenario: DeviceScenario, claims: Claims, trace: Trace) -> Verdict:
    single = trace.variant("singly")
    if scenario.device_iterations == 1 or scenario.ranks > 1 or single is None or single.failed:
        return None
    if not trained(trace):
        return None
    times = scenario.device_iterations
    for call in range(scenario.calls):
        ours = trace.main.ranks[0].value(f"weights {call}")
        theirs = single.ranks[0].value(f"weights {times * call + times - 1}")
        found = difference(ours, theirs)
        if found:
            told = (f"1 call with {times}: {found[0]}", f"{times} calls with 1: {found[1]}")
            return [
                Finding("weights", "the same weights", told, f"a call with {times} device iterations is {times} calls")
            ]
    return []


@device("DEVICE-4", "training", floor=20)
def the_update_of_the_joined_batch(scenario: DeviceScenario, claims: Claims, trace: Trace) -> Verdict:
    if scenario.device_iterations > 1 or scenario.ranks > 1 or "sum" in scenario.asked or not trained(trace):
        return None
    why = "gradients are averaged over all micro-batches of an update, which is the gradient of their joined batch"
    return _as_plain_torch(scenario, trace, "one batch", why)


@device("DEVICE-5", "training", floor=5)
def a_sum_is_so_many_means(scenario: DeviceScenario, claims: Claims, trace: Trace) -> Verdict:
    averaged = trace.variant("mean")
    if "sum" not in scenario.asked or averaged is None or averaged.failed or not trained(trace):
        return None
    count = scenario.gradient_accumulation * scenario.replication_factor * scenario.ranks
    for call in range(scenario.calls):
        found = difference(trace.main.ranks[0].value(f"weights {call}"), averaged.ranks[0].value(f"weights {call}"))
        if found:
            told = (f"added, call {call}: {found[0]}", f"averaged, learning rate x {count}: {found[1]}")
            return [
                Finding(
                    "weights", "the same weights", told, f"the sum of {count} gradients is {count} times their mean"
                )
            ]
    return []


@device("DEVICE-7", "training", "inference", floor=2)
def what_does_not_divide_is_refused(scenario: DeviceScenario, claims: Claims, trace: Trace) -> Verdict:
    factor = scenario.device_iterations * scenario.gradient_accumulation * scenario.replication_factor
    if scenario.samples % factor == 0 or accumulates_in_inference(scenario):
        return None
    why = f"{scenario.samples} samples can't be divided into {factor} equal micro-batches"
    factors = (scenario.device_iterations, scenario.gradient_accumulation, scenario.replication_factor)
    named = (*_NAMED, *{str(number) for number in (scenario.samples, factor, *factors) if number > 1})
    return _refused(scenario, trace, named, "an error that names the samples or a factor", why)


@device("DEVICE-8", "inference", floor=2)
def inference_does_not_accumulate(scenario: DeviceScenario, claims: Claims, trace: Trace) -> Verdict:
    if not accumulates_in_inference(scenario):
        return None
    why = "in inference there is no gradient that could be accumulated"
    return _refused(scenario, trace, ("accumulation",), "an error that names the gradient accumulation", why)


@device("DEVICE-11", "training", floor=20)
def the_users_module_is_trained(scenario: DeviceScenario, claims: Claims, trace: Trace) -> Verdict:
    if not trains(trace):
        return None
    for rank in trace.main.ranks:
        if _unmoved(rank):
            told = f"rank {rank.rank}: the module's weights are those from before the call"
            return [
                Finding("unmoved", "the module holds the new weights", (told,), "the user saves and reads that module")
            ]
    return []


@device("DEVICE-13", "ranks", floor=4)
def ranks_average_their_gradients(scenario: DeviceScenario, claims: Claims, trace: Trace) -> Verdict:
    if scenario.ranks == 1 or scenario.device_iterations > 1 or "sum" in scenario.asked or "apart" in scenario.asked:
        return None
    if not trained(trace):
        return None
    why = "gradients are averaged over all replicas of all ranks, which is the gradient of their joined batch"
    return _as_plain_torch(scenario, trace, "the batches of all ranks joined", why)


def _as_plain_torch(scenario: DeviceScenario, trace: Trace, joined: str, why: str) -> Verdict:
    for rank in trace.main.ranks:
        for call in range(scenario.calls):
            found = difference(rank.value(f"weights {call}"), rank.value(f"right weights {call}"))
            if found:
                told = (f"after call {call}, rank {rank.rank}: {found[0]}", f"torch, {joined}: {found[1]}")
                return [Finding("weights", "the weights of one update on the joined batch", told, why)]
    return []


def _refused(scenario: DeviceScenario, trace: Trace, words: tuple[str, ...], expected: str, why: str) -> Verdict:
    failure = trace.main.ranks[0].failure
    if failure is None:
        shapes = [value.shape for value in trace.main.ranks[0].values if value.name.startswith("output 0")]
        return [
            Finding(
                "accepted", expected, (f"no error; outputs of shape {', '.join(map(str, shapes)) or '(none)'}",), why
            )
        ]
    if failure.kind != "raised":
        return [Finding("failed", expected, (failure.sentence(),), why)]
    if not any(word in failure.message.lower() for word in words):
        return [Finding("unnamed", expected, (failure.sentence(),), f"{why}, and the error does not say so")]
    return []


def _unmoved(rank: RankRun) -> bool:
    start, right = rank.value("start"), rank.value("right weights 0")
    moved = difference(rank.value("weights 0"), start)
    return moved is None and difference(right, start) is not None


def difference(ours: Value | None, theirs: Value | None) -> tuple[str, str] | None:
    """The first number in which two values differ, in words for each; None if they agree, or one is missing."""
    if ours is None or theirs is None:
        return None
    if len(ours.numbers) != len(theirs.numbers):
        return f"{len(ours.numbers)} numbers", f"{len(theirs.numbers)} numbers"
    pairs = enumerate(zip(ours.numbers, theirs.numbers, strict=True))
    found = next((at for at, (a, b) in pairs if not agree(a, b)), None)
    if found is None:
        return None
    return f"weight {found} is {ours.numbers[found]:.6f}", f"weight {found} is {theirs.numbers[found]:.6f}"


def agree(ours: float, theirs: float) -> bool:
    """Whether two numbers differ by rounding alone. One that is none differs from all."""
    return abs(ours - theirs) <= TOLERANCE * (1 + abs(theirs))


def numbers(rank: RankRun, name: str, call: int) -> list[int]:
    """The samples that the first output of a call tells of, row by row."""
    value = rank.value(f"{name} {call}.0")
    if value is None or len(value.shape) != 2:
        return []
    width = value.shape[1]
    return [round(number) for number in value.numbers[::width] if number == number]


def sample_list(samples: list[int]) -> str:
    """``samples 0 0 1``."""
    return (
        f"samples {' '.join(map(str, samples[:12]))}{' ...' if len(samples) > 12 else ''}" if samples else "no sample"
    )
