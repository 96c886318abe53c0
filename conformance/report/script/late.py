"""A consumer that takes its time over a loader that reads ahead: decides each conduct, step by step."""

import os
import signal
import time
from pathlib import Path
from typing import Any

from conformance.report.script.conducts import read_whole
from conformance.report.script.consumer import begin_epoch, numbers_in, take_step
from conformance.report.script.kinds import infidelity, make_sample
from conformance.report.script.rank import length_of
from conformance.report.script.watch import count_reads

SAMPLES = AFTER = 0
AWAITED = (0, 0)
PATIENCE = 10.0


def settle(enough: int) -> int:
    """How often the dataset was read, once there are enough reads and no more come."""
    seen, since, begun = count_reads(), time.monotonic(), time.monotonic()
    while time.monotonic() < begun + min(8, PATIENCE / 2) and (seen < enough or time.monotonic() < since + 0.15):
        time.sleep(0.01)
        if count_reads() != seen:
            seen, since = count_reads(), time.monotonic()
    return seen


def some_steps(loader: Any, decode: Any, number: int, noted: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    """Begin an epoch, and take AFTER steps of it."""
    epoch, iterator = begin_epoch(loader, number, noted)
    while len(epoch["steps"]) < AFTER and take_step(epoch, iterator, decode):
        pass
    return epoch, iterator


def look_long(loader: Any, decode: Any, numbers: Any, noted: dict[str, Any]) -> None:
    """Hold a step of the first epoch until the loader is quiet, and look at it again."""
    epoch, iterator = some_steps(loader, decode, numbers[0], noted)
    batch = next(iterator, None)
    if batch is not None:
        came = numbers_in(batch, decode)
        epoch["steps"].append(came)
        noted["counted"] = settle(0)
        now = numbers_in(batch, decode)
        noted["remark"] = "" if now == came else f"step {AFTER} was {came} and became {now} while it was held"
        del batch
    while take_step(epoch, iterator, decode):
        pass
    read_whole(loader, decode, numbers[1:], noted)


def begin_late(loader: Any, decode: Any, numbers: Any, noted: dict[str, Any]) -> None:
    """Make the first iterator when the loader is quiet."""
    noted["counted"] = settle(AWAITED[0])
    read_whole(loader, decode, numbers, noted)


def go_on_late(loader: Any, decode: Any, numbers: Any, noted: dict[str, Any]) -> None:
    """Ask for the second epoch when the loader is quiet after the first."""
    read_whole(loader, decode, numbers[:1], noted)
    noted["counted"] = settle(AWAITED[1])
    read_whole(loader, decode, numbers[1:], noted)


def restart(loader: Any, decode: Any, numbers: Any, noted: dict[str, Any]) -> None:
    """Call iter() after some steps, while the first iterator is alive; or without it, if that is refused."""
    _, iterator = some_steps(loader, decode, numbers[0], noted)
    settle(0)
    try:
        epoch, anew = begin_epoch(loader, numbers[1], noted)
    except Exception:
        del iterator
        noted["epochs"].pop()
        epoch, anew = begin_epoch(loader, numbers[1], noted)
    iterator = anew
    while take_step(epoch, iterator, decode):
        pass


def ask_for_length(loader: Any, decode: Any, numbers: Any, noted: dict[str, Any]) -> None:
    """Ask for len() before an epoch, after some steps of it, and at its end."""
    noted["lengths"] = [length_of(loader)]
    epoch, iterator = some_steps(loader, decode, numbers[0], noted)
    noted["lengths"].append(length_of(loader))
    while take_step(epoch, iterator, decode):
        pass
    noted["lengths"].append(length_of(loader))


def look_at_each(loader: Any, decode: Any, numbers: Any, noted: dict[str, Any]) -> None:
    """Hold each step, of one sample, against what the dataset gave."""
    _, iterator = begin_epoch(loader, numbers[0], noted)
    for at in range(SAMPLES):
        batch = next(iterator, None)
        told = "the epoch ends before it" if batch is None else infidelity([make_sample(at)], batch)
        if told:
            noted["remark"] = f"item {at}: {told}"
            return


# --- an interrupt ---------------------------------------------------------------------------------------------------


def be_interrupted(loader: Any, decode: Any, numbers: Any, noted: dict[str, Any]) -> None:
    """Ask for a step whose read interrupts this process, and note what comes out of next()."""
    folder = Path(os.environ["WATCH"])
    for name in ("asks", "noticed", "struck"):
        (folder / name).unlink(missing_ok=True)
    epoch, iterator = some_steps(loader, decode, numbers[0], noted)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    came = "no error"
    try:
        (folder / "asks").touch()
        take_step(epoch, iterator, decode)
    except KeyboardInterrupt:
        came = ""
    except Exception as error:
        came = f"{type(error).__name__}: {error}"
    (folder / "noticed").touch()
    if came and (folder / "struck").exists():
        noted["ending"] = f"interrupted while it waits in next(), the consumer gets {came}"
