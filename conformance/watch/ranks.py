"""The ranks of `check`: decides how a target is read in as many processes as there are ranks.

`python -m conformance.watch.ranks` imports torch once, and takes a set-up a line from its input: a JSON object with
`target`, `folder`, `port`, `patience` in seconds and the fields of SetUp. It forks a process a rank, which imports the
target, makes its loaders and reads each to its end in each epoch, and answers with a line: a list of the reasons why
ranks failed, the parameters of the target, and how many samples its first loader's dataset has (None if that can't be
made less).
"""

import json
import os
import signal
import sys
import tempfile
import time
import traceback
from typing import Any

from conformance.records.wrapper import FOLDER as RECORD
from conformance.watch.options import FOLDER, OPTIONS
from conformance.watch.targets import SetUp, Unfit, imported, loaders, parameters, shortable, shorten
from conformance.watch.watching import unwatched

# After its deadline a rank is given this many seconds to leave its loop, before it is killed.
_GRACE = 10.0
_LOOK = 0.02


def main() -> None:
    """Take set-ups until there are no more."""
    import torch.distributed
    import torch.utils.data  # noqa: F401

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the target prints is no answer
    for line in sys.stdin:
        asked = json.loads(line)
        where = {name: asked.pop(name) for name in ("target", "folder", "port", "patience")}
        print(json.dumps(_run(where, SetUp(**asked))), file=answers, flush=True)


def _run(where: dict[str, Any], setup: SetUp) -> dict[str, Any]:
    """Read the target on all ranks, and say what it is, and why those failed that did."""
    where["deadline"] = time.time() + where["patience"]
    with tempfile.TemporaryDirectory() as meeting:
        started = {}
        for rank in range(setup.world_size):
            pid = os.fork()
            if pid == 0:
                _rank(rank, where, setup, meeting)  # does not come back
            started[pid] = rank
        ends = _waited(started, meeting, where["deadline"] + _GRACE)
        # The first reason is not that another rank has gone.
        failed = [reason for _, reason, _ in sorted(ends, key=lambda end: end[0]) if reason]
        about = next((about for _, _, about in ends if about), {})
        return {"failed": failed, **about}


End = tuple[float, str, dict[str, Any]]  # when, why it failed or "", about the target


def _waited(started: dict[int, int], meeting: str, until: float) -> list[End]:
    ends = []
    while started:
        for pid, rank in list(started.items()):
            if time.time() > until:
                os.kill(pid, signal.SIGKILL)
            if os.waitpid(pid, os.WNOHANG)[0]:
                del started[pid]
                ends.append(_end(rank, meeting))
                if ends[-1][1]:
                    # The others may wait for this one in a collective forever.
                    until = min(until, time.time() + _GRACE)
        time.sleep(_LOOK)
    return ends


def _end(rank: int, meeting: str) -> End:
    path = os.path.join(meeting, f"end-{rank}")
    if not os.path.exists(path):
        return time.time(), f"rank {rank} was killed, or did not end", {}
    with open(path) as file:
        when, reason, about = json.load(file)
    return when, reason, about


def _rank(rank: int, where: dict[str, Any], setup: SetUp, meeting: str) -> None:
    """Be one rank, to its end."""
    reason = ""
    about: dict[str, Any] = {}
    try:
        _become(rank, where, setup, meeting)
        _read(where["target"], rank, setup, about)
    except Unfit as error:
        reason = str(error)
    except SystemExit:
        pass  # enough was seen
    except BaseException as error:
        traceback.print_exc()
        reason = f"rank {rank}: {type(error).__name__}: {error}{_hint(error)}"
    finally:
        _leave(rank, meeting, reason, about)


def _hint(error: BaseException) -> str:
    """What helps against an error that `check` itself brings about."""
    if "process group twice" not in str(error):
        return ""
    return ". check has made a process group already: let the function make one only `if not dist.is_initialized()`"


def _leave(rank: int, meeting: str, reason: str, about: dict[str, Any]) -> None:
    draft = os.path.join(meeting, f"draft-{rank}")
    with open(draft, "w") as file:
        json.dump([time.time(), reason, about], file)
    from conformance.records.writer import open_record
    from conformance.watch.delivery import end_all

    end_all()
    open_record(os.environ[FOLDER]).close()
    os.rename(draft, os.path.join(meeting, f"end-{rank}"))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _become(rank: int, where: dict[str, Any], setup: SetUp, meeting: str) -> None:
    """Have the place of a rank in a job, as torchrun gives it, and a process group."""
    import torch.distributed as dist

    place = {
        "RANK": rank,
        "LOCAL_RANK": rank,
        "WORLD_SIZE": setup.world_size,
        "LOCAL_WORLD_SIZE": setup.world_size,
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": where["port"],
        FOLDER: where["folder"],
        RECORD: where["folder"],
        OPTIONS: json.dumps(
            {
                **json.loads(os.environ.get(OPTIONS) or "{}"),
                "deadline": where["deadline"],
                "seconds": where["patience"],
            }
        ),
    }
    os.environ.update({name: str(value) for name, value in place.items()})
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    if dist.is_available():
        store = f"file://{meeting}/store"
        dist.init_process_group("gloo", init_method=store, rank=rank, world_size=setup.world_size)


def _read(target: str, rank: int, setup: SetUp, about: dict[str, Any]) -> None:
    found, name = imported(target)
    if setup.length is not None:
        with unwatched():
            shorten(loaders(found, name, rank, 0, setup)[0], setup.length)
    made = loaders(found, name, rank, 0, setup)
    # What was made when its module was imported can't be made again with less.
    about |= {"parameters": parameters(found), "length": shortable(made[0]) if callable(found) else None}
    for epoch in range(setup.epochs):
        if epoch and "epoch" in about["parameters"]:
            made = loaders(found, name, rank, epoch, setup)
        for loader in made:
            _set_epoch(loader, epoch)
            for _ in loader:
                pass


def _set_epoch(loader: Any, epoch: int) -> None:
    """What a training loop does before an epoch, wherever the loader wants it."""
    batches = getattr(loader, "batch_sampler", None)
    holders = [loader, getattr(loader, "sampler", None), batches, getattr(batches, "sampler", None)]
    holders.append(getattr(loader, "dataset", None))
    told: list[int] = []
    for each in holders:
        if each is not None and id(each) not in told and callable(getattr(each, "set_epoch", None)):
            told.append(id(each))
            each.set_epoch(epoch)


if __name__ == "__main__":
    main()
