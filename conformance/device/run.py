"""One rank's run of a model: decides which calls are made, and what is written down beside what plain torch gives."""

from contextlib import suppress
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from conformance.contract import Implementation
from conformance.device import models as device_models
from conformance.device.models import Layout
from conformance.device.request import ModelRequest
from conformance.device.scenario import MODES, DeviceScenario
from conformance.processes import calls
from conformance.processes.calls import Stopped
from conformance.processes.random_state import seed_all
from conformance.processes.task import Task
from conformance.trace import Failure, RankRun, Value

EVERY = 2  # the period of "every_n"
# By a word of the scenario, what is no usual module.
_KINDS = {
    "failed": device_models.FailingModule,
    "lends": device_models.LendingModule,
    "tied": device_models.TiedModule,
    "headed": device_models.HeadedModule,
}

# What is done before members are forked that run models.
prepare = device_models.warm_up


def perform(implementation: Implementation, task: Task, workdir: str) -> RankRun:
    """Build the model that the task asks for, call it as often as there are epochs, and write down what came."""
    seed_all(task.random_seed)
    values: list[Value] = []
    remarks: calls.Remarks = []
    failure: Failure | None = None
    try:
        _call(implementation, task.scenario, task.rank, values, remarks)
    except Stopped as stopped:
        failure = stopped.failure
    return RankRun(task.rank, (), failure, remarks=tuple(remarks), values=tuple(values))


def _call(
    implementation: Implementation, scenario: DeviceScenario, rank: int, values: list[Value], remarks: calls.Remarks
) -> None:
    module = _module(scenario, rank)
    trains = "infer" not in scenario.asked
    times = _count(scenario) if "times" in scenario.asked else 1
    optimizer = _optimizer(scenario, module, times) if trains else None
    request = _request(scenario, rank, module, optimizer)
    values.append(_weights("start", module))
    step = calls.called("model", None, lambda: implementation.offers["model"](request))
    ranks = [_stream(scenario, each) for each in range(scenario.ranks)]
    plain = _Plain(scenario, request)
    for number in range(scenario.calls):
        mine = [_part(tensor, number, scenario.samples) for tensor in ranks[rank]][: 2 if trains else 1]
        given = [torch.full_like(each, torch.nan) if request.synthetic else each.clone() for each in mine]
        kept = [each.clone() for each in given]
        if {"refused", "failed"} & scenario.asked:
            _in_vain(scenario, step, mine, number)
            plain.begin_with(module)
        if number and "moved" in scenario.asked:
            device_models.take_weights(module, _module(replace(scenario, seed=scenario.seed + number)))
            plain.begin_with(module)
        try:
            results = calls.called("step", number, lambda given=given: step(*given))  # type: ignore[misc]
        except Stopped as stopped:
            if "failed" not in scenario.asked or stopped.failure.kind != "raised":
                raise
            # It may be of no use once the user's own module has failed.
            break
        if not (request.synthetic or all(map(torch.equal, given, kept))):
            remarks.append(("touched", f"call {number} changed them"))
        elif any(each.requires_grad for each in given):
            # It stays so, and numpy() and what is done in place raise from then on.
            remarks.append(("touched", f"after call {number} they require a gradient"))
        values += [_value(f"output {number}.{at}", each) for at, each in enumerate(_tensors(results))]
        values.append(_weights(f"weights {number}", module))
        values += plain.call(number, ranks)
    calls.close(step, names=("destroy", "close", "shutdown"))


class _Plain:
    """Plain torch beside the implementation, with weights of its own."""

    def __init__(self, scenario: DeviceScenario, request: ModelRequest) -> None:
        self.scenario = scenario
        self.request = request
        self.module = _module(scenario)
        # To SGD, with momentum or without, adding gradients is a learning rate this many times as large (DEVICE-5).
        times = _count(scenario) if "sum" in scenario.asked else 1
        self.optimizer = _optimizer(scenario, self.module, times)
        self.layout = Layout(
            request.device_iterations, request.gradient_accumulation, request.replication_factor, request.batch_size
        )

    def begin_with(self, module: torch.nn.Module) -> None:
        """Take the weights that are there before a call: which these are after one that failed, is open."""
        device_models.take_weights(self.module, module)

    def call(self, number: int, ranks: list[tuple[Tensor, Tensor]]) -> list[Value]:
        """What must come of one call, if the request can be met."""
        request, samples = self.request, self.scenario.samples
        steps = [(_part(x, number, samples), _part(target, number, samples)) for x, target in ranks]
        if samples != self.scenario.combined_batch or (request.optimizer is None and request.gradient_accumulation > 1):
            return []
        if request.optimizer is None:
            with torch.no_grad():
                results = [self.layout.parted(self.module(steps[request.rank][0]))]
        else:
            results = list(device_models.train_plainly(self.module, self.optimizer, self.layout, steps, request.rank))
        mode = request.output_mode
        if mode == "default":
            mode = "all" if request.optimizer is None else "final"
        told = [device_models.returned(each, mode, request.output_period) for each in results]
        found = [_value(f"right output {number}.{at}", each) for at, each in enumerate(told)]
        return [*found, _weights(f"right weights {number}", self.module)]


def _in_vain(scenario: DeviceScenario, step: Any, tensors: list[Tensor], number: int) -> None:
    """A call before the one of this number that can't succeed: a sample is too many, or missing, or broken."""
    given = [tensor.clone() for tensor in tensors]
    if "failed" in scenario.asked:
        # The last one first, after all others have been seen; then the first one, before any has.
        given[0][0 if number % 2 else -1, 0] = -1
    elif number % 2 or len(given[0]) == 1:
        given = [torch.cat([tensor, tensor[:1]]) for tensor in given]
    else:
        given = [tensor[:-1] for tensor in given]
    # Whether it must fail is judged by itself (DEVICE-7).
    with suppress(Stopped):
        calls.called("step", number, lambda: step(*given))


def _request(scenario: DeviceScenario, rank: int, module: Any, optimizer: Any) -> ModelRequest:
    words = scenario.asked
    names = ("batch_size", "replication_factor", "device_iterations", "gradient_accumulation")
    return ModelRequest(
        module=module,
        optimizer=optimizer,
        reduction="sum" if "sum" in words else "mean",
        output_mode=next((mode for word, mode in MODES.items() if word in words), "default"),
        output_period=EVERY if "every" in words else 1,
        synthetic="synthetic" in words,
        rank=rank,
        world_size=scenario.ranks,
        **{name: getattr(scenario, name) for name in names},
    )


def _module(scenario: DeviceScenario, rank: int = 0) -> device_models.Module:
    words = scenario.asked
    seed = scenario.seed + (rank if "apart" in words else 0)
    kind = next((_KINDS[word] for word in _KINDS if word in words), device_models.Module)
    module = device_models.build(seed, layers=2 if "deep" in words else 1, kind=kind)
    if "frozen" in words:
        module.freeze()
    return module.eval() if "infer" in words else module


def _optimizer(scenario: DeviceScenario, module: torch.nn.Module, times: int) -> torch.optim.Optimizer:
    name = next((name for name in ("momentum", "adam") if name in scenario.asked), "sgd")
    return device_models.optimizer_of(module, name, times, "groups" in scenario.asked)


def _count(scenario: DeviceScenario) -> int:
    """The micro-batches of one update, over all ranks."""
    return scenario.gradient_accumulation * scenario.replication_factor * scenario.ranks


def _stream(scenario: DeviceScenario, rank: int) -> tuple[Tensor, Tensor]:
    return device_models.data(scenario.seed, rank, scenario.samples * scenario.calls)


def _part(tensor: Tensor, number: int, samples: int) -> Tensor:
    return tensor[number * samples : (number + 1) * samples]


def _tensors(results: Any) -> list[Tensor]:
    """The tensors of a result, in order, however they are held."""
    if isinstance(results, Tensor):
        return [results]
    if isinstance(results, dict):
        results = results.values()
    if isinstance(results, list | tuple) or hasattr(results, "__iter__"):
        return [each for result in results for each in _tensors(result)]
    return []


def _value(name: str, tensor: Tensor) -> Value:
    plain = tensor.detach().to(torch.float64).cpu()
    return Value(name, tuple(plain.shape), tuple(plain.flatten().tolist()))


def _weights(name: str, module: torch.nn.Module) -> Value:
    return _value(name, torch.cat([parameter.detach().flatten() for parameter in module.parameters()]))
