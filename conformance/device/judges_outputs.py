"""Chapter 6, what a call returns: decides whether outputs, replicas and inputs are what the layout makes them."""

from math import isnan

from conformance.contract import Claims
from conformance.device.judges import agree, device, difference, numbers, possible, sample_list, trains
from conformance.device.scenario import MODES, DeviceScenario
from conformance.trace import RankRun, Trace, Value
from conformance.trial.clause import Finding, Verdict


def _has_outputs(scenario: DeviceScenario, trace: Trace) -> bool:
    """Whether the outputs of a call can be judged: a mode was asked for, with real data, and the calls returned."""
    return any(mode in scenario.asked for mode in MODES) and possible(scenario) and not trace.main.failed


@device("DEVICE-2", "outputs", floor=10)
def the_layout_decides_who_sees_what(scenario: DeviceScenario, claims: Claims, trace: Trace) -> Verdict:
    if not _has_outputs(scenario, trace) or "total" in scenario.asked or "synthetic" in scenario.asked:
        return None
    if scenario.samples == scenario.batch_size:
        return None
    for rank in trace.main.ranks:
        for call in range(scenario.calls):
            seen, right = numbers(rank, "output", call), numbers(rank, "right output", call)
            # Which samples they are of is judged by DEVICE-1, or by that of the mode (DEVICE-6). The last
            # ones are last by the layout alone.
            judged = sorted(seen) == sorted(right) or ("final" in scenario.asked and len(seen) == len(right))
            if judged and seen != right:
                told = (f"outputs of {sample_list(seen)}",)
                why = "the first axis is [device iteration, accumulation, replica, micro-batch], slowest first"
                return [Finding("order", f"outputs of {sample_list(right)}", told, why)]
    return []


@device("DEVICE-6", "outputs", floor=20)
def each_mode_returns_what_it_says(scenario: DeviceScenario, claims: Claims, trace: Trace) -> Verdict:
    if not _has_outputs(scenario, trace):
        return None
    for rank in trace.main.ranks:
        for call in range(scenario.calls):
            ours, right = _outputs(rank, "output", call), _outputs(rank, "right output", call)
            # One scalar may stay one, or be stacked alone.
            shapes, owed_shapes = ([value.shape or (1,) for value in values] for values in (ours, right))
            if shapes != owed_shapes:
                wanted = ", ".join(map(str, owed_shapes))
                told = f"{', '.join(map(str, shapes)) or 'nothing'}"
                return [Finding("shape", f"outputs of shape {wanted}", (told,), _why(scenario))]
            # The order of the rows is judged by DEVICE-2, and what an update made of the weights by DEVICE-4.
            seen, owed = (sorted(numbers(rank, name, call)) for name in ("output", "right output"))
            chooses = "total" in scenario.asked or "every" in scenario.asked
            if chooses and "synthetic" not in scenario.asked and seen != owed:
                what = "numbers that add up to" if "total" in scenario.asked else "outputs of samples"
                told, wanted = (f"{what} {' '.join(map(str, found))}" for found in (seen, owed))
                return [Finding("chosen", wanted, (told,), _why(scenario))]
            if finding := _other_outputs(scenario, call, ours, right):
                return [finding]
    return []


def _other_outputs(scenario: DeviceScenario, call: int, ours: list[Value], right: list[Value]) -> Finding | None:
    """What is wrong with the outputs after the first, a loss for one, where no update has come between them."""
    if call or scenario.device_iterations > 1 or "synthetic" in scenario.asked:
        return None
    for value, owed in zip(ours[1:], right[1:], strict=True):
        found, wanted = sorted(value.numbers), sorted(owed.numbers)
        if not all(map(agree, found, wanted)):
            told = tuple(" ".join(f"{number:.4f}" for number in numbers[:8]) for numbers in (found, wanted))
            return Finding("other-output", f"numbers {told[1]}", (f"{value.name}: {told[0]}",), _why(scenario))
    return None


def _why(scenario: DeviceScenario) -> str:
    replicas = scenario.replication_factor
    each = f" of each of {replicas} replicas" if replicas > 1 else ""
    return {
        "all": "every micro-batch's output is returned, along the first axis",
        "final": f"the last micro-batch's output{each} is returned",
        "every": f"every second micro-batch's output{each} is returned",
        "total": f"the outputs of the micro-batches{each} are added up",
    }[next(mode for mode in MODES if mode in scenario.asked)]


@device("DEVICE-9", "synthetic", floor=2)
def synthetic_data_reads_no_tensor(scenario: DeviceScenario, claims: Claims, trace: Trace) -> Verdict:
    if "synthetic" not in scenario.asked or not possible(scenario) or trace.main.failed:
        return None
    rank = trace.main.ranks[0]
    why = "the device makes its own inputs; those that are passed hold NaN only, to see whether they are read"
    for value in (*_outputs(rank, "output", 0), *(each for each in (rank.value("weights 0"),) if each)):
        if any(isnan(number) for number in value.numbers):
            name = "the weights" if value.name.startswith("weights") else "an output"
            return [Finding("read", "numbers", (f"NaN in {name}",), why)]
    return []


@device("DEVICE-10", "outputs", "ranks", floor=4)
def weights_stay_equal(scenario: DeviceScenario, claims: Claims, trace: Trace) -> Verdict:
    if not trains(trace):
        return None
    if scenario.ranks > 1:
        return _equal_over_ranks(scenario, trace)
    if "final" not in scenario.asked or scenario.replication_factor == 1 or scenario.device_iterations == 1:
        return None
    for call in range(scenario.calls):
        value = trace.main.ranks[0].value(f"output {call}.0")
        if (
            value is None
            or len(value.shape) != 2
            or value.shape[0] != scenario.replication_factor * scenario.batch_size
        ):
            return None
        replicas = value.numbers[1 :: value.shape[1]][:: scenario.batch_size]
        parted = next((at for at, weight in enumerate(replicas) if abs(weight - replicas[0]) > 1e-9), None)
        if parted is not None:
            told = tuple(f"replica {at}: a weight is {replicas[at]:.6f}" for at in (0, parted))
            return [Finding("replicas", "equal weights in all replicas", told, "all replicas make the same update")]
    return []


def _equal_over_ranks(scenario: DeviceScenario, trace: Trace) -> Verdict:
    first = trace.main.ranks[0]
    for call in range(scenario.calls):
        for rank in trace.main.ranks[1:]:
            found = difference(rank.value(f"weights {call}"), first.value(f"weights {call}"))
            if found:
                told = (f"after call {call}, rank 0: {found[1]}", f"rank {rank.rank}: {found[0]}")
                begun = ", whatever weights they began with" if "apart" in scenario.asked else ""
                return [Finding("ranks", f"equal weights on all ranks{begun}", told, "all ranks train one model")]
    return []


@device("DEVICE-12", "training", "inference", floor=40)
def inputs_are_left_alone(scenario: DeviceScenario, claims: Claims, trace: Trace) -> Verdict:
    if not possible(scenario) or trace.main.failed or "synthetic" in scenario.asked:
        return None
    touched = trace.main.ranks[0].remark("touched")
    if not touched:
        return []
    why = "the step belongs to the loader, which may hand it to others"
    return [Finding("touched", "the tensors of the step as they were", (touched,), why)]


@device("DEVICE-14", "inference", floor=10)
def inference_is_the_bare_module(scenario: DeviceScenario, claims: Claims, trace: Trace) -> Verdict:
    if "infer" not in scenario.asked or not possible(scenario) or trace.main.failed or "synthetic" in scenario.asked:
        return None
    rank = trace.main.ranks[0]
    calls = range(scenario.calls)
    after = (difference(rank.value(f"weights {call}"), rank.value(f"right weights {call}")) for call in calls)
    changed = next((found for found in after if found), None)
    if changed:
        told = (f"before: {changed[1]}", f"after: {changed[0]}")
        return [Finding("trained", "the weights as they were", told, "inference trains nothing")]
    if "all" not in scenario.asked:
        return []
    found = (_other_than_bare(rank, call) for call in calls)
    return next(([each] for each in found if each), [])


def _other_than_bare(rank: RankRun, call: int) -> Finding | None:
    """The first sample of a call for which the module alone, with the weights of that time, gives something else."""
    right = _rows(rank.value(f"right output {call}.0"))
    for number, row in _rows(rank.value(f"output {call}.0")).items():
        # Of a sample that is none of the step's, DEVICE-1 tells.
        owed = right.get(number, row)
        if len(row) == len(owed) and not all(map(agree, row, owed)):
            ours = f"sample {number}: {_shown(row)}"
            return Finding("output", f"sample {number}: {_shown(owed)}", (ours,), "the module alone gives this")
    return None


def _outputs(rank: RankRun, name: str, call: int) -> list[Value]:
    return [value for value in rank.values if value.name.startswith(f"{name} {call}.")]


def _rows(value: Value | None) -> dict[int, tuple[float, ...]]:
    """Each sample's row without its number, by its number."""
    if value is None or len(value.shape) != 2 or any(isnan(number) for number in value.numbers):
        return {}
    width = value.shape[1]
    rows = [value.numbers[at : at + width] for at in range(0, len(value.numbers), width)]
    return {round(row[0]): row[1:] for row in rows}


def _shown(row: tuple[float, ...]) -> str:
    return " ".join(f"{number:.4f}" for number in row)
