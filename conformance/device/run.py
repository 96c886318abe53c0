"""One rank's run of a model: decides which calls are made, and what is written down beside what plain torch gives."""

from typing import Any

import torch
from torch import Tensor

from conformance.contract import Implementation
from conformance.device import models as device_models
from conformance.device.models import Layout
from conformance.device.request import ModelRequest
from conformance.processes import calls
from conformance.processes.calls import Stopped
from conformance.processes.random_state import seed_all
from conformance.processes.task import Task
from conformance.subjects import MODES
from conformance.trace import Failure, RankRun, Value

EVERY = 2  # the period of "every_n"

# What is done before members are forked that run models.
prepare = device_models.warm_up


def perform(implementation: Implementation, task: Task, workdir: str) -> RankRun:
    """Build the model that the task asks for, call it as often as there are epochs, and write down what came."""
    seed_all(task.random_seed)
    values: list[Value] = []
    remarks: calls.Remarks = []
    failure: Failure | None = None
    try:
        _call(implementation, task, values, remarks)
    except Stopped as stopped:
        failure = stopped.failure
    return RankRun(task.arguments["rank"], (), failure, remarks=tuple(remarks), values=tuple(values))


def _call(implementation: Implementation, task: Task, values: list[Value], remarks: calls.Remarks) -> None:
    module = _module(task, task.arguments["rank"])
    trains = "infer" not in task.words
    times = _count(task) if "times" in task.words else 1
    optimizer = device_models.optimizer_of(module, _optimizer(task), times) if trains else None
    request = _request(task, module, optimizer)
    values.append(_weights("start", module))
    step = calls.called("model", None, lambda: implementation.offers["model"](request))
    ranks = [_stream(task, rank) for rank in range(request.world_size)]
    plain = _Plain(task, request)
    for number in task.epochs:
        mine = [_part(tensor, number, task.samples) for tensor in ranks[request.rank]][: 2 if trains else 1]
        given = [torch.full_like(each, torch.nan) if request.synthetic else each.clone() for each in mine]
        kept = [each.clone() for each in given]
        results = calls.called("step", number, lambda given=given: step(*given))  # type: ignore[misc]
        if not all(torch.equal(each, before) or request.synthetic for each, before in zip(given, kept, strict=True)):
            remarks.append(("touched", f"call {number}"))
        values += [_value(f"output {number}.{at}", each) for at, each in enumerate(_tensors(results))]
        values.append(_weights(f"weights {number}", module))
        values += plain.call(number, ranks)
    calls.close(step, names=("destroy", "close", "shutdown"))


class _Plain:
    """Plain torch beside the implementation, with weights of its own."""

    def __init__(self, task: Task, request: ModelRequest) -> None:
        self.task = task
        self.request = request
        self.module = _module(task)
        # To SGD, with momentum or without, adding gradients is a learning rate so many times as large (DEVICE-5).
        times = _count(task) if "sum" in task.words else 1
        self.optimizer = device_models.optimizer_of(self.module, _optimizer(task), times)
        self.layout = Layout(
            request.device_iterations, request.gradient_accumulation, request.replication_factor, request.batch_size
        )

    def call(self, number: int, ranks: list[tuple[Tensor, Tensor]]) -> list[Value]:
        """What must come of one call, if the request can be met."""
        request, samples = self.request, self.task.samples
        steps = [(_part(x, number, samples), _part(target, number, samples)) for x, target in ranks]
        if self.task.samples != self.task.step or (request.optimizer is None and request.gradient_accumulation > 1):
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


def _request(task: Task, module: Any, optimizer: Any) -> ModelRequest:
    words, arguments = task.words, task.arguments
    names = ("batch_size", "replication_factor", "device_iterations", "gradient_accumulation", "rank", "world_size")
    return ModelRequest(
        module=module,
        optimizer=optimizer,
        reduction="sum" if "sum" in words else "mean",
        output_mode=next((mode for word, mode in MODES.items() if word in words), "default"),
        output_period=EVERY if "every" in words else 1,
        synthetic="synthetic" in words,
        **{name: arguments[name] for name in names},
    )


def _module(task: Task, rank: int = 0) -> device_models.Module:
    words = task.words
    seed = task.arguments["seed"] + (rank if "apart" in words else 0)
    module = device_models.build(seed, layers=2 if "deep" in words else 1)
    return module.eval() if "infer" in words else module


def _optimizer(task: Task) -> str:
    return next((name for name in ("momentum", "adam") if name in task.words), "sgd")


def _count(task: Task) -> int:
    """The micro-batches of one update, over all ranks."""
    arguments = task.arguments
    return int(arguments["gradient_accumulation"] * arguments["replication_factor"] * arguments["world_size"])


def _stream(task: Task, rank: int) -> tuple[Tensor, Tensor]:
    return device_models.data(task.arguments["seed"], rank, task.samples * len(task.epochs))


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
