"""One rank's run of a loader: how it is built, which conduct reads it, and what is written down.

Nothing here judges. What takes the whole process down is seen from outside, by the fleet.
"""

import gc
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from math import prod
from typing import Any, Protocol, cast

from conformance.contract import Implementation, Request
from conformance.loader import keeping, kinds, probes, reading
from conformance.loader.asked import arguments_of
from conformance.loader.conducts import AGING_KINDS, BIG_KINDS, DAWDLES, FOREIGN, ODD_KINDS
from conformance.loader.drawing import Drawing
from conformance.loader.leaks import watching_leaks
from conformance.loader.reading import Reader
from conformance.loader.requests import request_of, watch_of
from conformance.loader.samples import BIG
from conformance.loader.scenario import Scenario, simpler
from conformance.processes import calls, random_state
from conformance.processes.calls import Remarks, Stopped
from conformance.processes.task import Task
from conformance.trace import Epoch, Failure, RandomState, RankRun, Saved
from conformance.trial.words import place_of

# What none of the loaders is that are read first in a process "after other loaders" (the variant `after`).
_PLAIN: Mapping[str, Any] = dict(dataset="map", fault="", conduct="", kind="", details="")

Performer = Callable[[Implementation, Task, str], RankRun]


@dataclass
class Reading:
    """The reading of one loader: what is asked for, what watches it, and what has come of it so far.

    `reader` is there once the loader is. A conduct reads by it, and adds to `epochs`, `remarks` and `saved`.
    """

    implementation: Implementation
    task: Task
    scenario: Scenario
    request: Request
    watch: probes.Watch | None
    epochs: list[Epoch] = field(default_factory=list)
    remarks: Remarks = field(default_factory=list)
    saved: list[Saved] = field(default_factory=list)
    when_held: Callable[[], None] | None = None
    reader: Reader = field(init=False)

    @property
    def place(self) -> int:
        """The number after the conduct's @, or 0."""
        return place_of(self.scenario.conduct) if "@" in self.scenario.conduct else 0

    def load(self, **others: Any) -> Any:
        """A loader of the request, or of one that asks for something else here."""
        request = replace(self.request, **others)
        return calls.called("load", None, lambda: self.implementation.load(request))


class Conducts(Protocol):
    """What the module that a task names knows: what a consumer does with a loader, and what it does without ours."""

    CONDUCTS: Mapping[str, Callable[[Reading], None]]
    WITHOUT_LOADER: Mapping[str, Callable[[Reading], None]]


def perform(implementation: Implementation, task: Task, workdir: str) -> RankRun:
    """Read the loader that a task asks for; where something happens, also look for what it leaves behind."""
    # A scenario asks what its conduct needs, which this process may not know yet.
    _conducts(task)
    if task.scenario.is_troubled:
        return watching_leaks(
            lambda: read_once(implementation, task, workdir), workdir, deadly=task.scenario.kills_a_worker
        )
    return read_once(implementation, task, workdir)


def read_once(implementation: Implementation, task: Task, workdir: str) -> RankRun:
    """Build the loader that the task asks for, read it as its conduct says, and write down what came."""
    scenario: Scenario = task.scenario
    _read_other_loaders(implementation, task, workdir)
    # Reads are logged in a folder of this process's own: each rank empties its log, and reads it.
    watch = watch_of(scenario, workdir) if scenario.is_watched else None
    # A job that is started again finds its files where they were. A rank that was not there before has none, and must
    # not write where another one does.
    if task.saved and task.rank < len(task.saved):
        workdir = task.saved[task.rank].workdir
    going = Reading(implementation, task, scenario, request_of(task, workdir, watch), watch)
    failure = None
    drawing = Drawing()
    if scenario.variant == "random-state":
        going.when_held = drawing.hold
    before = random_state.seed_all_and_tell(task.random_seed)
    try:
        read(going)
    except Stopped as stopped:
        failure = stopped.failure
    except RuntimeError as error:
        # torch raises a worker's death from its signal handler, wherever the main thread is at that moment.
        failure = Failure("raised", "step", calls.described(error))
    after = random_state.last_digests()
    due = drawing.states(task.random_seed) if drawing.times else [before]
    going.remarks += drawing.undone(due, before, after)
    # A library that is imported on the way has a state only afterwards: nothing can be said about it.
    states = [RandomState(name, due[-1][name], after[name]) for name in before if name in after]
    states += [
        RandomState(name, before[name], drawing.held[name], held=True) for name in before if name in drawing.held
    ]
    if watch is not None and watch.fired:
        going.remarks.append(("fired", scenario.fault))
    if watch is not None and scenario.asynchronous:
        going.remarks.append(("read", str(watch.count())))
    return RankRun(
        task.rank,
        tuple(going.epochs),
        failure,
        tuple(states),
        watch.reads() if watch is not None else (),
        tuple(going.remarks),
        saved=replace(going.saved[-1], workdir=workdir) if going.saved else None,
    )


def _conducts(task: Task) -> Conducts | None:
    """The chapter's own conducts, imported where a task names them."""
    return cast(Conducts, import_module(task.conducts)) if task.conducts else None


def read(going: Reading) -> None:
    """Make the loader, and do with it what the scenario's conduct says; raises Stopped where that can't go on."""
    name = going.scenario.conduct.partition("@")[0]
    module = _conducts(going.task)
    if module is not None and name in module.WITHOUT_LOADER:
        module.WITHOUT_LOADER[name](going)
        return
    if name == "refused":
        _refuse(going)
    loader = going.load()
    if loader is None or not (hasattr(loader, "__iter__") or hasattr(loader, "__getitem__")):
        what = f"load(request) gives {_short(loader)}, which can't be iterated; return the loader"
        raise Stopped("unusable", "load", what)
    if going.watch is not None and going.scenario.asynchronous:
        going.remarks.append(("loaded", str(going.watch.count())))
    going.reader = _reader(going, loader)
    if going.task.epochs[0] > 0 and not hasattr(loader, "set_epoch"):
        going.remarks.append(("counts", "epochs are counted by the loader"))
    try:
        (module.CONDUCTS if module is not None else _CONDUCTS)[name](going)
    except Stopped:
        # What stopped the reading is told, and not what closing makes of it.
        with suppress(Stopped):
            calls.close(loader)
        raise
    if name in ("dropped", "forgotten"):
        del loader, going.reader, going.request
        gc.collect()
    else:
        calls.close(loader, times=_CLOSES.get(name, 1))


def _refuse(going: Reading) -> None:
    """Ask for what no loader can be; one that is made nevertheless is judged by BATCH-4, and closed."""
    for _ in range(_REFUSALS):
        with suppress(Stopped):
            calls.close(going.load(batch_size=0))


def _whole(going: Reading) -> None:
    scenario, reader = going.scenario, going.reader
    numbers = going.task.epochs
    if scenario.kind == "large":
        kinds.watch_memory(reader, going.remarks)
    elif scenario.is_slow:
        reading.read_epochs(reader, numbers, going.epochs)
    elif scenario.kind in ODD_KINDS:
        kinds.read_odd(reader, scenario.kind, scenario.samples, numbers[0], going.remarks)
    elif scenario.kind not in ("", FOREIGN, "buffer", *AGING_KINDS, *BIG_KINDS):
        in_order = going.implementation.claims.in_order
        kinds.watch_types(reader, scenario.kind, scenario.samples, numbers, going.remarks, in_order)
    elif scenario.fault:
        reading.read_through_faults(reader, numbers, going.epochs)
    else:
        reading.read_epochs(reader, numbers, going.epochs)


def _keep(going: Reading) -> None:
    dataset = going.request.dataset
    keeping.keep_everything(
        going.reader, going.task.epochs, going.epochs, going.remarks, lambda: getattr(dataset, "buffer", None)
    )


def _hold(going: Reading) -> None:
    # An epoch in which something fails ends there.
    after = None if going.scenario.fault else going.place
    keeping.hold_what_came(going.reader, going.task.epochs, going.epochs, going.remarks, after)


def _leave(going: Reading) -> None:
    if going.scenario.kind == "large":
        kinds.watch_memory(going.reader, going.remarks, leaves_after=going.place)
    else:
        reading.leave_early(going.reader, going.task.epochs, going.epochs, going.place)


# What a consumer may do with any loader. What it does in a chapter of its own, that chapter's module says.
_CONDUCTS: Mapping[str, Callable[[Reading], None]] = {
    "": _whole,
    "dropped": _whole,
    "far": _whole,
    "back": _whole,
    "head": lambda going: reading.read_heads(going.reader, going.task.epochs, going.epochs),
    **dict.fromkeys(("unread", "forgotten", "refused"), lambda going: None),
    "untold": lambda going: reading.read_epochs(
        replace(going.reader, sets_epoch=False), going.task.epochs, going.epochs
    ),
    "dawdle": lambda going: reading.hold_a_step(going.reader, going.task.epochs, going.epochs, DAWDLES),
    "closed": lambda going: reading.close_early(going.reader, going.task.epochs[0], going.epochs, going.place),
    "leave": _leave,
    "two": lambda going: reading.read_two(going.reader, going.task.epochs[0], going.epochs, going.place),
    "kept": _keep,
    "hold": _hold,
    "ended": lambda going: reading.read_beyond_the_end(going.reader, going.task.epochs, going.epochs, going.remarks),
}

# How often it is asked for in vain: more than what may be left of one.
_REFUSALS = 3

# How often a loader is closed behind a conduct, if not once: one closes it by itself.
_CLOSES = {"ended": 2, "hold": 0}


def _reader(going: Reading, loader: Any) -> Reader:
    arguments, watch = arguments_of(going.scenario, going.task.rank), going.watch
    factors = ("batch_size", "gradient_accumulation", "replication_factor", "device_iterations", "world_size")
    step = 4 * prod(max(1, _number(arguments[name])) for name in factors)
    copies = max(1, going.scenario.num_workers)
    return Reader(
        loader,
        going.implementation.decode,
        sets_epoch=going.implementation.claims.epochs not in ("automatic", "endless"),
        most=8 + 2 * copies * going.scenario.samples + step,
        before_epoch=watch.begin_epoch if watch is not None else lambda number: None,
        # Megabytes are read where they are kept.
        decodes=going.scenario.kind not in BIG_KINDS or going.scenario.conduct.startswith(("kept", "hold")),
        stride=BIG if going.scenario.kind in BIG_KINDS else 1,
        when_held=going.when_held,
    )


def _read_other_loaders(implementation: Implementation, task: Task, workdir: str) -> None:
    """Two epochs of each of the loaders that are to be read before."""
    for changes in task.others:
        other = simpler(task.scenario, **{**_PLAIN, **changes})
        asked = replace(task, scenario=other, epochs=(0, 1), conducts="")
        # What such a loader does wrong is found by its own scenario.
        with suppress(Stopped):
            read(Reading(implementation, asked, other, request_of(asked, workdir, None), None))


def _number(value: Any) -> int:
    return int(value) if isinstance(value, int | float) else 1


def _short(value: Any) -> str:
    return "None" if value is None else f"a {type(value).__name__}"
