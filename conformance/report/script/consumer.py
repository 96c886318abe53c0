"""A consumer that does more than read and close: decides what is noted of it, and what it leaves behind.

As `conformance.loader.member` does. What a library opens once for good is no leak: only what a second round of the same
reading adds to the first is one.
"""

import contextlib
import gc
import os
import time
import traceback
from pathlib import Path
from typing import Any

from conformance.report.script.ending import read_in_a_process_that_ends
from conformance.report.script.watch import logged_reads, write_log

SAMPLES = 0
LEFT = ""
GRACES = (1.0, 5.0)


def consume(loader: Any, decode: Any, numbers: Any, noted: dict[str, Any]) -> None:
    """Stands for the conduct of the case."""
    raise NotImplementedError


def count_held() -> set[Any]:
    """Stands for what is counted in the case."""
    raise NotImplementedError


class Unfit(Exception):
    """What comes can't be noted."""


def read_as_consumer(load: Any, decode: Any, request: Any, numbers: Any) -> dict[str, Any]:
    """Build one rank's loader, read it as the case says, close it, and note what comes or how it fails."""
    noted: dict[str, Any] = {"epochs": [], "failure": None, "remark": ""}
    Path(os.environ["WATCH"], "reads").write_text("")  # only: log
    Path(os.environ["WATCH"], "broken").unlink(missing_ok=True)  # only: fault
    loader = None
    try:
        loader = load(request)
        consume(loader, decode, numbers, noted)
        close_loader(loader)  # only: closed
        close_loader(loader)  # only: ended
    except (Exception, SystemExit) as error:
        traceback.print_exc()
        noted["failure"] = failure_of(error)
        with contextlib.suppress(Exception):
            close_loader(loader)
    noted["broken"] = Path(os.environ["WATCH"], "broken").exists()  # only: fault
    noted["reads"] = logged_reads()  # only: log
    return noted


def close_loader(loader: Any) -> None:
    """Close the loader by whichever name it has for that."""
    for name in [name for name in ("close", "shutdown", "terminate") if hasattr(loader, name)][:1]:
        getattr(loader, name)()


def failure_of(error: BaseException) -> dict[str, str]:
    """An exception in words: its type, and the line that the probe wrote, or the first one."""
    # Its frames hold the iterator, which must be gone when the consumer releases it.
    traceback.clear_frames(error.__traceback__)
    name, lines = type(error).__name__, str(error).strip().splitlines() or [""]
    text = next((line for line in lines if line.endswith("is broken on purpose")), lines[0])
    text = text.rpartition(f"{name}: ")[2]
    return {"kind": "unfit" if isinstance(error, Unfit) else "raised", "message": f"{name}: {text}"}


def begin_epoch(loader: Any, number: int, noted: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    """Begin an epoch: its note, and its iterator."""
    epoch: dict[str, Any] = {"number": number, "steps": [], "failure": None}
    noted["epochs"].append(epoch)
    if hasattr(loader, "set_epoch"):  # only: set_epoch
        loader.set_epoch(number)  # only: set_epoch
    write_log(number)  # only: log
    return epoch, iter(loader)


def take_step(epoch: dict[str, Any], iterator: Any, decode: Any) -> bool:
    """Take the next step of an epoch; False at its end."""
    nothing = object()
    batch = next(iterator, nothing)
    if batch is nothing:
        return False
    epoch["steps"].append(numbers_in(batch, decode))
    if len(epoch["steps"]) > 100 + 10 * SAMPLES:
        raise Unfit("far more steps than the dataset can fill")
    return True


def numbers_in(batch: Any, decode: Any) -> list[int]:
    """The samples in a batch, by their numbers in the dataset."""
    try:
        return [int(value) - 1000 for value in decode(batch)]
    except Exception as error:
        raise Unfit(f"a batch can't be read: {error}") from error


def finish_epoch(epoch: dict[str, Any], iterator: Any, decode: Any) -> None:
    """Read an epoch to its end, or to a failure, which is noted."""
    try:
        while take_step(epoch, iterator, decode):
            pass
    except (Exception, SystemExit) as error:
        epoch["failure"] = failure_of(error)


def read_twice(load: Any, decode: Any, request: Any, numbers: Any) -> dict[str, Any]:
    """Read the same twice in this process, and note what the second round leaves behind."""
    noted: dict[str, Any] = {}
    for grace in GRACES:
        before = count_held()
        noted = read_as_consumer(load, decode, request, numbers)  # only: stays
        noted = read_in_a_process_that_ends(load, decode, request, numbers)  # only: quits
        gc.collect()
        deadline = time.monotonic() + grace
        while (left := count_held() - before) and time.monotonic() < deadline:
            time.sleep(0.02)
        noted["remark"] = f"{len(left)} {LEFT} left" if left else ""
        if not left:
            break
    return noted
