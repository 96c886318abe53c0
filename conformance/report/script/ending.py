"""The end of a process, and an interrupt: decides how both come about, as `loader/endings.py` does. Linux only.

The process that ends is forked from the rank's. What an interpreter does at its end is done by hand: threads that are
no daemons are joined, exit handlers run, what is alive is released.
"""

import atexit
import contextlib
import ctypes
import gc
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from conformance.report.script.resources import children_of, text_of

AFTER = STEP = 0


def interrupt_once(index: int) -> None:
    """The first read of the step that the consumer is to wait for interrupts it, once it sleeps in its wait."""
    folder, consumer = Path(os.environ["WATCH"]), int(os.environ["CONSUMER"])
    if index != AFTER * STEP or (folder / "struck").exists():
        return
    if within(3, (folder / "asks").exists):
        if threading.get_native_id() != consumer:
            time.sleep(0.1)
            within(1, lambda: text_of(f"/proc/{consumer}/task/{consumer}/stat").rpartition(")")[2].split()[:1] == ["S"])
        (folder / "struck").touch()
        os.kill(consumer, signal.SIGINT)
        within(3, (folder / "noticed").exists)


def within(seconds: float, happened: Callable[[], Any]) -> bool:
    """Whether something happens in this many seconds."""
    deadline = time.monotonic() + seconds
    while not (there := bool(happened())) and time.monotonic() < deadline:
        time.sleep(0.005)
    return there


def read_in_a_process_that_ends(load: Any, decode: Any, request: Any, numbers: Any) -> dict[str, Any]:
    """Fork a process that reads a step and ends without closing, and note what is wrong with its end."""
    noted: dict[str, Any] = {"epochs": [], "failure": None, "remark": "", "ending": ""}
    has_read = Path(os.environ["WATCH"], "has_read")
    has_read.unlink(missing_ok=True)
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # orphans below this process become its own children
    child = os.fork()
    if child == 0:
        read_and_end(load, request, has_read)
    within(8, lambda: has_read.exists() or has_ended(child))
    if not within(5, lambda: has_ended(child)):
        noted["ending"] = "a process that reads a step and ends without closing does not end"
        os.kill(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if not has_read.exists():
        noted["failure"] = {"kind": "raised", "message": "in a process that was to read one step"}
    elif code and not noted["ending"]:
        noted["ending"] = f"a process that reads a step and ends without closing ends with {code}"
    within(1, lambda: [each for each in children_of(os.getpid()) if not has_ended(each)] == [])
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return noted


def read_and_end(load: Any, request: Any, has_read: Path) -> None:
    """What that process does."""
    code = 1
    try:
        loader = load(request)
        kept = [loader, iter(loader)]
        kept.append(next(kept[1], None))
        del loader
        has_read.touch()
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        kept.clear()
        gc.collect()
        code = 0
    except Exception:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def has_ended(process: int) -> bool:
    """Whether a process has ended, waited for or not."""
    return text_of(f"/proc/{process}/stat").rpartition(")")[2].split()[:1] in ([], ["Z"], ["X"])
