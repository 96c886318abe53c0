"""One process of the fleet: decides how one rank's loader is built, which conduct reads it, and what is written down.

Nothing here judges. What takes the whole process down is seen from outside, by the fleet.
"""

import gc
import os
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from conformance.ahead.conduct import Late
from conformance.contract import Implementation, Request
from conformance.loader import datasets, endings, leaks, probes
from conformance.loader import kinds as conduct_kinds
from conformance.loader import reading as conduct
from conformance.loader.probes import Watch, WatchedIterable, WatchedMap
from conformance.loader.reading import Reader
from conformance.loader.scenario import DEADLY, ODD_KINDS
from conformance.processes import calls, random_state
from conformance.processes.calls import Remarks, Stopped
from conformance.processes.task import Task
from conformance.restarts.conduct import Restarts
from conformance.trace import Epoch, Failure, RandomState, RankRun, Saved
from conformance.trial.words import place_of

# The loader that is read first in a process "after other loaders" (the variant `after`): nothing like the scenario's.
_OTHER_SAMPLES = 7
_OTHER_ARGUMENTS = {"batch_size": 2, "seed": 99, "drop_last": False}

# What loaders of this process have left behind, round after round; and how often is enough to believe it.
_seen_left: Counter[str] = Counter()
_OFTEN = 3

Performer = Callable[[Implementation, Task, str], RankRun]


@dataclass
class Findings:
    """What a reading leaves: the epochs, remarks, and states that were taken."""

    epochs: list[Epoch]
    remarks: Remarks
    saved: list[Saved] = field(default_factory=list)


def perform(implementation: Implementation, task: Task, workdir: str) -> RankRun:
    """Build the loader that the task asks for, read it as its conduct says, and write down what came."""
    if task.after_others:
        _read_another_loader(implementation, task, workdir)
    if task.saved:
        workdir = task.saved[task.arguments["rank"] % len(task.saved)].workdir
    found = Findings([], [])
    watch = _watch(task, workdir)
    failure = None
    before = random_state.seed_all_and_tell(task.random_seed)
    try:
        _read(implementation, task, workdir, watch, found)
    except Stopped as stopped:
        failure = stopped.failure
    except RuntimeError as error:
        # torch raises a worker's death from its signal handler, wherever the main thread is at that moment.
        failure = Failure("raised", "step", calls.described(error))
    after = random_state.last_digests()
    # A library that is imported on the way has a state only afterwards: nothing can be said about it.
    states = tuple(RandomState(name, before[name], after[name]) for name in before if name in after)
    if watch is not None and watch.fired:
        found.remarks.append(("fired", task.fault))
    if watch is not None and task.arguments["asynchronous"]:
        found.remarks.append(("read", str(watch.count())))
    reads = watch.reads() if watch is not None else ()
    return RankRun(
        task.arguments["rank"],
        tuple(found.epochs),
        failure,
        states,
        reads,
        tuple(found.remarks),
        saved=replace(found.saved[-1], workdir=workdir) if found.saved else None,
    )


def perform_watching_leaks(
    implementation: Implementation, task: Task, workdir: str, perform: Performer = perform
) -> RankRun:
    """The same, again and again in this process: what later rounds leave behind goes into the remarks."""
    # LEAK-3 says nothing of what a worker had made that died at once: waiting for it to go would be in vain.
    deadly = task.fault.partition("@")[0] in DEADLY
    temporary = None if deadly else os.environ.get("TMPDIR", workdir)
    once = partial(perform, implementation, task, workdir)
    run, left = _round(once, temporary, leaks.SHORT_GRACE)
    # Who has left as much three times, and long after, will do it again: to wait for it each time would take minutes.
    if left and all(_seen_left[about] >= _OFTEN for about, _ in left):
        return replace(run, remarks=(*run.remarks, *left))
    # What a library opens once for good is no leak: only what a later round adds is. A segment of shared memory may be
    # a neighbour's, left in that very moment, so it must come three times.
    for _ in range(2):
        if not left:
            return run
        run, left = _round(once, temporary, leaks.GRACE)
        if not all("shared-memory" in told for _, told in left):
            break
    _seen_left.update(about for about, _ in left)
    return replace(run, remarks=(*run.remarks, *left))


def _round(once: Callable[[], RankRun], temporary: str | None, grace: float) -> tuple[RankRun, Remarks]:
    before = leaks.held(temporary)
    run = once()
    return run, _left_behind(before, temporary, grace)


def _left_behind(before: leaks.Resources, temporary: str | None, grace: float) -> Remarks:
    try:
        return leaks.left_behind(before, temporary, grace)
    except RuntimeError:  # a death that is raised only now, by a signal handler of the loader's
        return leaks.left_behind(before, temporary, grace)


def _read(
    implementation: Implementation, task: Task, workdir: str, watch: probes.Watch | None, found: Findings
) -> None:
    request = _request(task, workdir, watch)
    if task.conduct == "quit" and watch is not None:
        _end_a_process(implementation, request, watch, found)
        return
    loader = calls.called("load", None, lambda: implementation.load(request))
    if loader is None or not (hasattr(loader, "__iter__") or hasattr(loader, "__getitem__")):
        what = f"load(request) gives {_short(loader)}, which can't be iterated; return the loader"
        raise Stopped("unusable", "load", what)
    if watch is not None and task.arguments["asynchronous"]:
        found.remarks.append(("loaded", str(watch.count())))
    reader = _reader(implementation, task, loader, watch)
    try:
        if task.conduct.startswith("save"):
            _save_or_go_on(implementation, task, reader, found, request)
        else:
            _conducts(task, reader, found, request, watch)[task.conduct.partition("@")[0]]()
    except Stopped:
        # What stopped the reading is told, and not what closing makes of it.
        with suppress(Stopped):
            calls.close(loader)
        raise
    if task.conduct == "dropped":
        del loader, reader, request
        gc.collect()
    else:
        calls.close(loader, times=2 if task.conduct == "ended" else 1)


def _save_or_go_on(
    implementation: Implementation, task: Task, reader: Reader, found: Findings, request: Request
) -> None:
    restarts = Restarts(
        reader,
        lambda: calls.called("load", None, lambda: implementation.load(request)),
        task.epochs,
        frozenset(task.words),
        found.epochs,
        found.saved.append,
        implementation.offers.get("merge"),
        goes_on=implementation.claims.end_of_epoch == "next",
    )
    if task.saved:
        restarts.go_on(task.saved, task.arguments["rank"])
    else:
        restarts.save(place_of(task.conduct))


def _end_a_process(implementation: Implementation, request: Request, watch: probes.Watch, found: Findings) -> None:
    def read() -> Any:
        loader = implementation.load(request)
        iterator = iter(loader)
        return loader, iterator, next(iterator, None)

    told = endings.end_a_process(read, watch.folder)
    if told is not None:
        found.remarks.append(("quit", told))


def _conducts(
    task: Task, reader: Reader, found: Findings, request: Request, watch: probes.Watch | None
) -> dict[str, Callable[[], None]]:
    epochs, remarks = found.epochs, found.remarks

    def whole() -> None:
        if task.kind == "large":
            conduct_kinds.watch_memory(reader, remarks)
        elif task.kind in ODD_KINDS:
            conduct_kinds.read_odd(reader, task.kind, task.samples, task.epochs[0], remarks)
        elif task.kind not in ("", "buffer"):
            conduct_kinds.watch_types(reader, task.kind, task.samples, task.epochs, remarks)
        elif task.fault:
            conduct.read_through_faults(reader, task.epochs, epochs)
        else:
            conduct.read_epochs(reader, task.epochs, epochs)

    late = {}
    if watch is not None and task.conduct:
        place = place_of(task.conduct) if "@" in task.conduct else 0
        late = Late(reader, watch, task.epochs, epochs, remarks, *task.awaited).conducts(place)
    return {
        **late,
        "": whole,
        "dropped": whole,
        "leave": lambda: conduct.leave_early(reader, task.epochs, epochs, place_of(task.conduct)),
        "two": lambda: conduct.read_two(reader, task.epochs[0], epochs, place_of(task.conduct)),
        "kept": lambda: conduct.keep_everything(
            reader, task.epochs, epochs, remarks, lambda: getattr(request.dataset, "buffer", None)
        ),
        "ended": lambda: conduct.read_beyond_the_end(reader, task.epochs, epochs, remarks),
    }


def _reader(implementation: Implementation, task: Task, loader: Any, watch: probes.Watch | None) -> Reader:
    arguments = task.arguments
    factors = ("batch_size", "gradient_accumulation", "replication_factor", "device_iterations", "world_size")
    step = 4
    for name in factors:
        step *= max(1, _number(arguments[name]))
    copies = max(1, arguments["num_workers"])
    return Reader(
        loader,
        implementation.decode,
        sets_epoch=implementation.claims.epochs != "automatic",
        most=8 + 2 * copies * task.samples + step,
        before_epoch=watch.begin_epoch if watch is not None else lambda number: None,
    )


def _watch(task: Task, workdir: str) -> probes.Watch | None:
    if not task.watch:
        return None
    folder = os.path.join(workdir, "watch")
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
    draws = task.arguments["num_workers"] > 0
    interrupts = place_of(task.conduct) * task.step if task.conduct.startswith("interrupt") else None
    return probes.Watch(folder, task.fault, task.kind, draws, os.getpid(), interrupts)


def _request(task: Task, workdir: str, watch: probes.Watch | None) -> Request:
    # One folder a dataset and a process: ranks never write over each other's files.
    folder = os.path.join(workdir, f"{task.dataset}-{task.samples}")
    os.makedirs(folder, exist_ok=True)
    if watch is None:
        return Request(dataset=datasets.MapDataset(task.samples), workdir=folder, **task.arguments)
    hooks = dict(task.hooked)
    if task.fault.startswith("collate"):
        hooks["collate_fn"] = probes.BreakingCollate(watch)
    if task.fault.startswith("init"):
        hooks["worker_init_fn"] = probes.BreakingInitialiser(watch)
    dataset = watched(task.dataset, task.samples, watch)
    return Request(dataset=dataset, workdir=folder, **{**task.arguments, **hooks})


def _read_another_loader(implementation: Implementation, task: Task, workdir: str) -> None:
    other = Task(_OTHER_SAMPLES, {**task.arguments, **_OTHER_ARGUMENTS}, epochs=(0, 1))
    try:
        _read(implementation, other, workdir, None, Findings([], []))
    except Stopped:
        return  # what this loader does wrong is found by its own scenario


def _number(value: Any) -> int:
    return int(value) if isinstance(value, int | float) else 1


def _short(value: Any) -> str:
    return "None" if value is None else f"a {type(value).__name__}"


def watched(dataset: str, length: int, watch: Watch) -> Any:
    """The probe of a style; an iterable one is torch's kind of iterable where torch is loaded."""
    if dataset == "map":
        return WatchedMap(length, watch)
    if "torch" in sys.modules:
        from conformance.loader.torch_probe import TorchIterable

        return TorchIterable(length, watch)
    return WatchedIterable(length, watch)
