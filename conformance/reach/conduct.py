"""How a consumer reads in chapter 11, in a rank's process."""

import os
import pickle
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

from conformance.loader import reading
from conformance.loader.member import Reading, read
from conformance.loader.scenario import simpler
from conformance.processes.calls import Stopped, called
from conformance.reach import scenario
from conformance.trace import Saved

# What launchers tell an instance of itself.
_LAUNCHED = {
    **dict.fromkeys(("RANK", "LOCAL_RANK", "GLOBAL_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "PMI_RANK"), "1"),
    **dict.fromkeys(("WORLD_SIZE", "LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS", "PMI_SIZE"), "2"),
}
# With these a library would wait for the other rank.
_MEETING = ("MASTER_ADDR", "MASTER_PORT")


def _whole(going: Reading) -> None:
    reading.read_epochs(going.reader, going.task.epochs, going.epochs)


def _peek(going: Reading) -> None:
    """Read one epoch, and note after each step how many reads there were."""
    watch = going.watch
    assert watch is not None
    before = watch.count()
    under_way = going.reader.begin(going.task.epochs[0])
    reads = []
    while going.reader.step(under_way):
        reads.append(watch.count() - before)
    going.epochs.append(under_way.epoch())
    going.remarks.append(("peeked", " ".join(map(str, reads))))


def _launched(going: Reading) -> None:
    """Read a loader as ever, then another one while the environment tells of another rank, or torch does too."""
    _read_plainly(going)
    with _environment(), _process_group() if "met" in going.scenario.words else nullcontext():
        try:
            _read_plainly(going)
        except Stopped as stopped:
            going.remarks.append(("launched", stopped.failure.sentence()))


def _read_plainly(going: Reading) -> None:
    plain = simpler(going.scenario, conduct="")
    again = Reading(going.implementation, replace(going.task, conducts=""), plain, going.request, going.watch)
    read(again)
    going.epochs += again.epochs


def _read_passes(going: Reading) -> None:
    """Read so many steps of one iterator; take a state on the way, or begin with one."""
    going.reader = replace(going.reader, most=sys.maxsize)
    loader, steps = going.reader.loader, scenario.steps_to_read(going.scenario)
    place = going.place if going.scenario.conduct.startswith("stopped") else -1
    if going.task.saved:
        mine = going.task.saved[going.task.rank]
        called("load_state_dict", None, lambda: loader.load_state_dict(pickle.loads(mine.blob)))
        steps, place = steps - going.place, {"anew": 0, "again": 1}.get(going.scenario.details, -1)
        if going.scenario.details == "relayed":
            _save(going, loader)
    under_way = going.reader.begin(0)
    try:
        for at in range(steps + 1):
            if at == place:
                _save(going, loader)
            if at < steps and not going.reader.step(under_way):
                break
    finally:
        going.epochs.append(under_way.epoch(left=True))


def _save(going: Reading, loader: Any) -> None:
    going.saved.append(Saved(bytes(called("state_dict", None, lambda: pickle.dumps(loader.state_dict())))))


@contextmanager
def _environment() -> Iterator[None]:
    before = dict(os.environ)
    for name in _MEETING:
        os.environ.pop(name, None)
    os.environ.update(_LAUNCHED)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def _process_group() -> Iterator[None]:
    """This process is rank 1 of torch's group of two, whose rank 0 does nothing else; without torch there is none."""
    if "torch" not in sys.modules:
        yield
        return
    import torch.distributed as distributed

    meets = os.path.join(tempfile.mkdtemp(), "rendezvous")
    ended, ends = os.pipe()
    other = os.fork()
    join = partial(distributed.init_process_group, "gloo", init_method=f"file://{meets}", world_size=2)
    if other == 0:
        try:
            os.close(ends)
            join(rank=0)
            os.read(ended, 1)
        finally:
            os._exit(0)
    os.close(ended)
    try:
        join(rank=1)
        yield
    finally:
        if distributed.is_initialized():
            distributed.destroy_process_group()
        os.close(ends)
        os.waitpid(other, 0)
        shutil.rmtree(os.path.dirname(meets), ignore_errors=True)


# Imported, so that a process that only reads knows what these conducts need.
KNOWN = scenario
CONDUCTS: Mapping[str, Callable[[Reading], None]] = {
    "sharded": _whole,
    "weighted": _whole,
    "peeking": _peek,
    "endless": _read_passes,
    "stopped": _read_passes,
}
WITHOUT_LOADER: Mapping[str, Callable[[Reading], None]] = {"launched": _launched}
