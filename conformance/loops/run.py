"""One run of a training loop: decides what it is handed, and how what was seen goes into the trace."""

import pickle
from typing import Any

from conformance.contract import Implementation
from conformance.loops import watched
from conformance.loops.request import TrainRequest
from conformance.loops.scenario import VALIDATION, LoopScenario
from conformance.processes import calls
from conformance.processes.calls import Stopped
from conformance.processes.random_state import seed_all
from conformance.processes.task import Task
from conformance.trace import Failure, RankRun, Saved, Value

# What is done before members are forked that run loops.
prepare = watched.warm_up


def perform(implementation: Implementation, task: Task, workdir: str) -> RankRun:
    """Let the adapter's loop train, and write down what happened, in turn."""
    seed_all(task.random_seed)
    seen = watched.Seen()
    request = _request(task.scenario, seen, pickle.loads(task.saved[0].blob) if task.saved else None)
    failure: Failure | None = None
    saved: Saved | None = None
    try:
        state = calls.called("train", None, lambda: implementation.offers["train"](request))
        if task.scenario.stop:
            saved = Saved(calls.called("state_dict", None, lambda: pickle.dumps(state)))
    except Stopped as stopped:
        failure = stopped.failure
    seen.note("weights", [*request.module.weight.tolist(), *request.module.shared.tolist()])
    seen.note("buffer", request.module.met.tolist())
    values = tuple(_value(what, given) for what, given in seen.events)
    return RankRun(task.rank, (), failure, values=values, saved=saved)


def _request(scenario: LoopScenario, seen: watched.Seen, state: Any) -> TrainRequest:
    module = watched.Module(scenario.samples + VALIDATION, seen)
    return TrainRequest(
        loader=watched.Loader(scenario, seen),
        validation=watched.Validation(scenario, seen) if "validated" in scenario.asked else None,
        module=module,
        optimizer=watched.optimizer_of(module, seen),
        loss=watched.loss,
        accumulation=scenario.accumulation,
        epochs=scenario.epochs,
        stop_after=scenario.stop or None,
        state=state,
    )


def _value(what: str, given: object) -> Value:
    numbers = given if isinstance(given, list) else [] if given is None else [given]
    return Value(what, (len(numbers),), tuple(map(float, numbers)))
