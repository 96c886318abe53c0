"""One rank's run of a loader that chooses: decides how it is read, and what is written down.

Nothing here judges. The reading itself is that of any loader.
"""

import os
from contextlib import suppress

from conformance.chosen import beside, restarted
from conformance.chosen.asked import Reading, request_of
from conformance.chosen.probes import heard
from conformance.chosen.scenario import LEAVING, has_own_epoch, stopped_after
from conformance.contract import Implementation
from conformance.loader import reading
from conformance.loader.probes import Watch, empty_folder
from conformance.processes import calls
from conformance.processes.calls import Remarks, Stopped
from conformance.processes.random_state import seed_all
from conformance.processes.task import Task
from conformance.trace import Epoch, Failure, RankRun

_STEPS = 2  # before an epoch is left


def perform(implementation: Implementation, task: Task, workdir: str) -> RankRun:
    """Read the loader that a task asks for, and write down what came."""
    fault = f"raise@{task.scenario.samples // 2}" if "failed" in task.scenario.words else ""
    watch = Watch(empty_folder(workdir, "watch"), consumer=os.getpid(), fault=fault)
    going = Reading(implementation, task, workdir, watch)
    seed_all(task.random_seed)
    failure: Failure | None = None
    try:
        _read(going)
    except Stopped as stopped:
        failure = stopped.failure
    except RuntimeError as error:
        # torch raises a worker's death from its signal handler, wherever the main thread is at that moment.
        failure = Failure("raised", "step", calls.described(error))
    remarks = (*going.remarks, *_told(going))
    return RankRun(task.rank, tuple(going.epochs), failure, reads=going.watch.reads(), remarks=remarks)


def _told(going: Reading) -> Remarks:
    """What the dataset was told of each epoch, where it has one of its own."""
    if not has_own_epoch(going.scenario) or not os.path.exists(going.watch.log):
        return []
    return [("heard", " ".join(map(str, (number, *told)))) for number, told in heard(going.watch)]


def _read(going: Reading) -> None:
    words = {*going.scenario.words}
    if going.scenario.about == "subset" and not words & LEAVING:
        beside.read(going, request_of(going))
        return
    if stopped_after(going.scenario):
        restarted.read(going, request_of(going))
        return
    reader = going.reader(request_of(going))
    try:
        _epochs(going, reader, words)
    except Stopped:
        # What stopped the reading is told, and not what closing makes of it.
        with suppress(Stopped):
            calls.close(reader.loader)
        raise
    calls.close(reader.loader)


def _epochs(going: Reading, reader: reading.Reader, words: set[str]) -> None:
    numbers = going.task.epochs
    if not words & LEAVING:
        reading.read_epochs(reader, numbers, going.epochs)
        return
    if not hasattr(reader.loader, "set_epoch"):
        going.remarks.append(("counts", "epochs are counted by the loader"))
    if "held" in words:
        _held(reader, numbers, going.epochs)
        return
    if "failed" in words:
        reading.read_through_faults(reader, numbers[:1], going.epochs)
        reading.read_epochs(reader, numbers[1:], going.epochs)
        return
    again = numbers if "left" in words else (numbers[0], *numbers)
    reading.leave_early(reader, again, going.epochs, _STEPS)


def _held(reader: reading.Reader, numbers: tuple[int, ...], epochs: list[Epoch]) -> None:
    """Read the later epochs while the first one is under way, and then its rest; an error ends no more than its own."""
    first = reader.begin(numbers[0])
    more = reader.up_to(first, _STEPS)
    beside: list[Epoch] = []
    reading.read_through_faults(reader, numbers[1:], beside)
    epochs += [(reader.tolerant_rest(first) if more else first).epoch(), *beside]
