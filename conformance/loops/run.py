"""One run of a training loop: decides what it is handed, and how what was seen goes into the trace."""

from conformance.contract import Implementation
from conformance.loops import watched
from conformance.loops.request import TrainRequest
from conformance.loops.scenario import VALIDATION, LoopScenario
from conformance.processes import calls
from conformance.processes.calls import Stopped
from conformance.processes.random_state import seed_all
from conformance.processes.task import Task
from conformance.trace import Failure, RankRun, Value

# What is done before members are forked that run loops.
prepare = watched.warm_up


def perform(implementation: Implementation, task: Task, workdir: str) -> RankRun:
    """Let the adapter's loop train, and write down what happened, in turn."""
    seed_all(task.random_seed)
    seen = watched.Seen()
    request = _request(task.scenario, seen)
    failure: Failure | None = None
    try:
        calls.called("train", None, lambda: implementation.offers["train"](request))
    except Stopped as stopped:
        failure = stopped.failure
    return RankRun(task.rank, (), failure, values=tuple(_value(what, given) for what, given in seen.events))


def _request(scenario: LoopScenario, seen: watched.Seen) -> TrainRequest:
    module = watched.Module(scenario.samples + VALIDATION, seen)
    return TrainRequest(
        loader=watched.Loader(scenario, seen),
        validation=watched.Validation(scenario, seen) if "validated" in scenario.asked else None,
        module=module,
        optimizer=watched.optimizer_of(module, seen),
        loss=watched.loss,
        accumulation=scenario.accumulation,
        epochs=scenario.epochs,
    )


def _value(what: str, given: object) -> Value:
    numbers = given if isinstance(given, list) else [] if given is None else [given]
    return Value(what, (len(numbers),), tuple(map(float, numbers)))
