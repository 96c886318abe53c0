"""The ranks of `check`: decides how a target is read on one of them.

`python -m conformance.watch.ranks` is one rank's program: each rank has one, as under a launcher each has an
interpreter of its own, in which hash() is another. It imports torch once, says "ready", and takes a set-up a line from
its input: a JSON object with `target`, `rank`, `folder`, `port`, `patience` in seconds and the `deadline` that follows
from it, `meeting` (a folder that all ranks share) and the fields of SetUp. It forks a process, which imports the
target, makes its loaders and reads each to its end in each epoch, and answers with a line: when that ended, the reason
why it failed, the parameters of the target, and how many samples its first loader's dataset has (None if that can't be
made less).
"""

import json
import os
import signal
import sys
import time
import traceback
from typing import Any

from conformance.records.wrapper import FOLDER as RECORD
from conformance.watch.options import FOLDER, OPTIONS
from conformance.watch.targets import SetUp, Unfit, imported, loaders, parameters, shortable, shorten
from conformance.watch.watching import unwatched

READY = "ready"
# After its deadline a rank is given this many seconds to leave its loop, before it is killed.
_GRACE = 10.0
_LOOK = 0.02


def main() -> None:
    """Take set-ups until there are no more."""
    import torch.distributed
    import torch.utils.data  # noqa: F401

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the target prints is no answer
    print(READY, file=answers, flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        names = ("target", "rank", "folder", "port", "patience", "deadline", "meeting")
        where = {name: asked.pop(name) for name in names}
        print(json.dumps(_run(where, SetUp(**asked))), file=answers, flush=True)


def _run(where: dict[str, Any], setup: SetUp) -> dict[str, Any]:
    """Read the target on this rank, and say how that ended."""
    pid = os.fork()
    if pid == 0:
        _rank(where["rank"], where, setup, where["meeting"])  # does not come back
    until = where["deadline"] + _GRACE
    while not os.waitpid(pid, os.WNOHANG)[0]:
        if time.time() > until:
            os.kill(pid, signal.SIGKILL)
        elif until > time.time() + _GRACE and _one_failed(where["meeting"]):
            # This one may wait for that one in a collective forever.
            until = time.time() + _GRACE
        time.sleep(_LOOK)
    return _end(where["rank"], where["meeting"])


def _one_failed(meeting: str) -> bool:
    """Whether a rank has ended that could not read the target."""
    return any(name.startswith("failed-") for name in os.listdir(meeting))


def _end(rank: int, meeting: str) -> dict[str, Any]:
    """How a rank ended, which it wrote down unless it was killed."""
    path = os.path.join(meeting, f"end-{rank}")
    if os.path.exists(path):
        with open(path) as file:
            ended: dict[str, Any] = json.load(file)
    else:
        ended = {"when": time.time(), "reason": f"rank {rank} was killed, or did not end", "about": {}}
    if ended["reason"]:
        with open(os.path.join(meeting, f"failed-{rank}"), "w"):
            pass
    return ended


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
        json.dump({"when": time.time(), "reason": reason, "about": about}, file)
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
