"""The scripts of chapters 1 to 3 and 11, in brief: decides how their ranks read, and what is made of what they note.

A reader wants the loader, the loop and the assertion, so these stand first and all else at the end. A rank still has a
process of its own, as the fault may be a hang, a death, a hash seed or the state of a global generator.
"""

import contextlib
import faulthandler
import importlib
import multiprocessing
import os
import signal
import sys
import tempfile
import traceback
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from conformance.report.script.consumer import Unfit, numbers_in
from conformance.report.script.judge import give_up
from conformance.report.script.rank import (
    generator_states,
    join_group,
    leave_group,
    length_of,
    make_request,
    seed_generators,
)
from conformance.report.script.watch import count_reads, logged_reads, write_log

SAMPLES = RANDOM_SEED = 0
PATIENCE = 10.0
ATTEMPTS = 1
RANKS: list[Any] = []
RUNS: dict[str, dict[str, Any]] = {}
CASE = SimpleNamespace()


def implementation() -> tuple[Any, Any]:
    """Stands for one of the ways to an adapter."""
    raise NotImplementedError


def read(load: Any, decode: Any, request: Any, numbers: Any, epochs: list[Any]) -> None:
    """Stands for the loop."""
    raise NotImplementedError


def check(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """Stands for the check of the clause."""
    raise NotImplementedError


def read_in_brief(load: Any, decode: Any, request: Any, numbers: Any, epochs: list[Any]) -> None:
    """What one rank does: it reads its loader, epoch after epoch."""
    at_first = seen_by_the_caller(request)  # only: touched
    loader = load(request)
    if not hasattr(loader, "__iter__") and not hasattr(loader, "__getitem__"):  # only: failures
        raise Unfit("load does not return a loader")  # only: failures
    for number in numbers:
        if hasattr(loader, "set_epoch"):  # only: set_epoch
            loader.set_epoch(number)  # only: set_epoch
        write_log(number)  # only: log
        epochs.append(SimpleNamespace(number=number, steps=[]))
        epochs[-1].length = length_of(loader)  # only: length
        epochs[-1].counted, before = [], count_reads()  # only: peeks
        for batch in loader:
            epochs[-1].steps.append([int(value) - 1000 for value in decode(batch)])  # only: answers
            epochs[-1].steps.append(numbers_in(batch, decode))  # only: failures
            if len(epochs[-1].steps) > 100 + 10 * SAMPLES:  # only: failures
                raise Unfit("far more steps than the dataset can fill")  # only: failures
            epochs[-1].counted.append(count_reads() - before)  # only: peeks
            if len(epochs[-1].steps) >= CASE.steps:  # only: endless
                break  # only: endless
    for name in [name for name in ("close", "shutdown", "terminate") if hasattr(loader, name)][:1]:  # only: close
        getattr(loader, name)()  # only: close
    epochs[-1].touched = what_changed(at_first, seen_by_the_caller(request))  # only: touched


def seen_by_the_caller(request: Any) -> dict[str, Any]:
    """What the caller can see of its own list, and of its dataset."""
    own = {f"dataset.{name}": value for name, value in vars(request.dataset).items()}
    indices = None if request.indices is None else list(request.indices)
    return {"request.indices": indices, **{name: str(value) for name, value in own.items()}}


def what_changed(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """What the caller sees now that it did not see before."""
    names = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
    return [f"{name} was {before.get(name, 'not there')} and is {after.get(name, 'not there')}" for name in names]


def run_rank(position: int, folder: str, names: list[str], pipe: Any) -> None:
    """The process of a rank: it sends what each run delivers, or how it fails."""
    os.setsid()
    cores = sorted(os.sched_getaffinity(0))  # only: cores
    os.sched_setaffinity(0, cores[int(os.environ["PYTHONHASHSEED"]) - 1 :] or cores)  # only: cores
    os.makedirs(folder)  # only: log
    os.environ.update(WATCH=folder, CONSUMER=str(os.getpid()))  # only: log
    os.environ["STATE"] = f"{folder}/../state-{position}"  # only: stopped
    with contextlib.suppress(ImportError):  # only: numpy
        importlib.import_module("numpy")  # only: numpy
    try:
        load, decode = implementation()
    except (Exception, SystemExit) as error:
        pipe.send(f"{type(error).__name__}: {error}")
        os._exit(2)
    for name in names:
        run, noted = RUNS[name], SimpleNamespace(epochs=[], failure=None)
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        join_group(f"{folder}/../group-{name}", position)  # only: group
        seed_generators(run.get("random_seed", RANDOM_SEED))
        for other in run.get("others", ()):  # only: others
            samples, changed = other.get("samples", SAMPLES), {**run, **other}  # only: others
            with contextlib.suppress(Exception):  # only: others
                asked = make_request(samples, RANKS[position], folder, changed)  # only: others
                read(load, decode, asked, range(2), [])  # only: others
            seed_generators(RANDOM_SEED)  # only: others
        Path(folder, "reads").write_text("")  # only: log
        noted.before = SimpleNamespace(**generator_states())  # only: states
        try:
            request = make_request(SAMPLES, RANKS[position], folder, run)
            read(load, decode, request, run["epochs"], noted.epochs)  # only: epochs
            read(load, decode, request, run, noted.epochs)  # only: varied
        except (Exception, SystemExit) as error:
            traceback.print_exc()
            kind = "unfit" if isinstance(error, Unfit) else "raised"  # only: failures
            noted.failure = SimpleNamespace(kind=kind, message=f"{type(error).__name__}: {error}")  # only: failures
            noted.failure = SimpleNamespace(kind="raised", message=f"{type(error).__name__}: {error}")  # only: answers
        noted.reads = [SimpleNamespace(**each) for each in logged_reads()]  # only: log
        noted.after = SimpleNamespace(**generator_states())  # only: states
        pipe.send(noted)
        leave_group()  # only: group
    os._exit(0)  # a thread that a loader leaves behind must not keep the process


def run_all(root: str, names: list[str], shift: int = 0) -> dict[str, list[Any]]:
    """Start all ranks, with different hash seeds as in a real job, and gather what came, by run and rank."""
    started, spawning = [], multiprocessing.get_context("spawn")
    for position in range(len(RANKS)):
        os.environ.update(PYTHONHASHSEED=str(1 + (position + shift) % 2), OMP_NUM_THREADS="1")
        receiver, sender = spawning.Pipe(duplex=False)
        process = spawning.Process(target=run_rank, args=(position, f"{root}/rank-{position}-{shift}", names, sender))
        process.start()
        sender.close()
        started.append((process, receiver))
    noted = [gather_from(process, receiver, len(names)) for process, receiver in started]
    if isinstance(noted[0][0], str):
        give_up(noted[0][0])
    return {name: [runs[at] for runs in noted] for at, name in enumerate(names)}


def gather_from(process: Any, receiver: Any, expected: int) -> list[Any]:
    """What a rank noted of each run. One that did not come to its end died, or was stopped by its timer."""
    noted: list[Any] = []
    with contextlib.suppress(EOFError):
        while len(noted) < expected and receiver.poll(PATIENCE + 5):
            noted.append(receiver.recv())
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)  # and the workers that its loader leaves behind
    process.join()
    failure = SimpleNamespace(kind="died or hung", message=f"its process ended with code {process.exitcode}")
    return noted + [SimpleNamespace(epochs=[], failure=failure)] * (expected - len(noted))


def judge_in_brief() -> None:
    """Run all ranks, show what they deliver, and say whether the bug is there."""
    for _ in range(ATTEMPTS):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as root:
            runs = run_all(root, list(RUNS))  # only: once
            runs = run_all(root, [*RUNS][:1])  # only: again
            runs |= run_all(root, [*RUNS][1:], shift=2 if "after" in RUNS else 1)  # only: again
        for name, ranks in runs.items():
            for position, rank in enumerate(ranks):
                epochs = [" | ".join(" ".join(map(str, step)) for step in epoch.steps) for epoch in rank.epochs]
                print(f"{name}, rank {position}: {' || '.join(epochs)}"[:100], flush=True)
        failures = [rank.failure for ranks in runs.values() for rank in ranks if rank.failure]  # only: complete
        if failures:  # only: complete
            give_up(f"a rank {failures[0].kind} ({failures[0].message})")  # only: complete
        fault = check(CASE, runs)
        if fault:
            print(f"still violated: {fault}")
            sys.exit(1)
    print("fixed")
