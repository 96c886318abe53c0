"""What the probe does besides giving samples: decides how its reads are logged, and how the fault of a case happens.

A read may happen in any process, so the log is a file, a line a read; and the fault happens in whichever process comes
to it first, once. Where these files are, and which process iterates, stands in the environment.
"""

import json
import os
import random
import signal
import sys
import threading
from pathlib import Path
from typing import Any

PLACE = 0


def fail(index: int) -> None:
    """Stands for what goes wrong at a read."""
    raise NotImplementedError


# --- the log --------------------------------------------------------------------------------------------------------


def write_log(entry: Any) -> None:
    """Add a line to the log, in one write: other processes write as well."""
    with open(f"{os.environ['WATCH']}/reads", "ab", buffering=0) as file:
        file.write(json.dumps(entry).encode() + b"\n")


def log_read(index: int, dataset: Any) -> None:
    """Log who reads a sample."""
    entry: dict[str, Any] = {"index": index, "process": os.getpid(), "main": str(os.getpid()) == os.environ["CONSUMER"]}
    entry["torch"] = "torch.utils.data" in sys.modules  # only: info
    entry["worker"] = worker_info(dataset)  # only: info
    entry["draws"] = draw_numbers()  # only: draws
    write_log(entry)


def worker_info(dataset: Any) -> dict[str, Any] | None:
    """What torch's get_worker_info() says here."""
    data = sys.modules.get("torch.utils.data")
    info = data.get_worker_info() if data else None
    if info is None:
        return None
    return {"id": info.id, "workers": info.num_workers, "seed": info.seed, "own": info.dataset is dataset}


def draw_numbers() -> list[int]:
    """A random number of each library, so large that two equal ones are no coincidence."""
    drawn = [random.randrange(2**53)]
    if "numpy" in sys.modules:
        drawn.append(int(sys.modules["numpy"].random.randint(2**53)))
    if "torch" in sys.modules:
        drawn.append(int(sys.modules["torch"].randint(2**53, ()).item()))
    return drawn


def count_reads() -> int:
    """How often the dataset was read until now, before the first epoch too."""
    return Path(os.environ["WATCH"], "reads").read_text().count('"index"')


def logged_reads() -> list[dict[str, Any]]:
    """The reads of every epoch. What is read before the first one is the adapter's own business."""
    epoch, reads = None, []
    for line in Path(os.environ["WATCH"], "reads").read_text().splitlines():
        entry = json.loads(line)
        if isinstance(entry, int):
            epoch = entry
        elif epoch is not None:
            reads.append({"epoch": epoch, **entry})
    return reads


# --- the fault ------------------------------------------------------------------------------------------------------


class BrokenSample(ValueError):
    """The dataset's own exception."""


def first_time() -> bool:
    """Whether the fault has not happened yet; then it has now."""
    try:
        os.close(os.open(f"{os.environ['WATCH']}/broken", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def break_once(index: int) -> None:
    """The fault happens at the first read of its sample (in a worker, if it would end the process)."""
    if str(os.getpid()) == os.environ["CONSUMER"]:  # only: spared
        return  # only: spared
    if index == PLACE and first_time():
        fail(index)


def raise_broken(index: int) -> None:
    """The sample raises the dataset's own exception."""
    raise BrokenSample(f"sample {index} is broken on purpose")


def raise_stop(index: int) -> None:
    """The sample raises StopIteration."""
    raise StopIteration(f"sample {index} is broken on purpose")


def raise_index(index: int) -> None:
    """The sample raises IndexError."""
    raise IndexError(f"sample {index} is broken on purpose")


def be_killed(index: int) -> None:
    """The worker is killed."""
    os.kill(os.getpid(), signal.SIGKILL)


def exit_at_once(index: int) -> None:
    """The worker exits."""
    os._exit(0)


def hang_for_ever(index: int) -> None:
    """The read never ends."""
    threading.Event().wait()


def breaking_collate(samples: list[Any]) -> list[Any]:
    """The samples as they are; but the step that holds the sample of the fault raises, the first time."""
    if 1000 + PLACE in samples and first_time():
        raise BrokenSample(f"collating sample {PLACE} is broken on purpose")
    return samples


def breaking_initialiser(worker: int) -> None:
    """The worker of the fault raises, the first time."""
    if worker == PLACE and first_time():
        raise BrokenSample(f"worker {PLACE} is broken on purpose")
