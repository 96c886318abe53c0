"""Interrupts that come at an instruction, and not at a time: the same place is hit however often it is run.

Python looks for signals at calls, at the begin of functions and at backward jumps. Here these checks are counted, in
the code of `reference/ahead` and in what that calls, and a signal is made to be found at some of them.
"""

import _thread
import dis
import os
import signal
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import reference as poptorch
from reference import DataLoaderMode, SharingStrategy
from reference.ahead import consumer
from tests.reference.loading.test_lifecycle import nothing_left
from tests.reference.reference_probes import Numbers, options

_AHEAD = str(Path(consumer.__file__).parent)
_CHECKS = {dis.opmap[name] for name in ("RESUME", "CALL", "CALL_FUNCTION_EX", "JUMP_BACKWARD")}
_SAMPLES, _BATCH = 6, 2


@dataclass
class Checks:
    """Counts the checks of this process, and interrupts at those whose numbers are in `at`.

    `since`: the file with the first one that counts; who waits for a worker before it checks any number of times.
    """

    at: tuple[int, ...] = ()
    since: str = ""
    count: int = 0
    hit: list[str] = field(default_factory=list)
    """Where it was, at each interrupt."""
    pid: int = field(default_factory=os.getpid)
    # A subscript is no check: the signal is found where the code that is looked at goes on.
    interrupt: defaultdict[int, None] = field(default_factory=lambda: defaultdict(_thread.interrupt_main))

    def entered(self, frame: FrameType, *_: Any) -> Any:
        """Look at a frame, as `sys.settrace` wants it, if it is of the ring or called by one that is looked at."""
        caller = frame.f_back
        is_looked_at = caller is not None and caller.f_trace is not None
        if os.getpid() != self.pid or not (is_looked_at or frame.f_code.co_filename.startswith(_AHEAD)):
            return None
        frame.f_trace_opcodes = True
        return self.looked_at

    def looked_at(self, frame: FrameType, event: str, _: Any) -> Any:
        """Count an instruction that checks for signals."""
        if event == "opcode" and frame.f_code.co_code[frame.f_lasti] in _CHECKS and os.getpid() == self.pid:
            self.count += bool(self.count or not self.since or frame.f_code.co_filename.endswith(self.since))
            if self.count in self.at:
                self.hit.append(f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}")
                self.interrupt[self.count]
        return self.looked_at


@contextmanager
def interrupted(*at: int, since: str = "") -> Iterator[Checks]:
    """Interrupt the block at these checks, counted from 1; a KeyboardInterrupt that leaves it is caught."""
    checks, before, handler = Checks(at, since), sys.gettrace(), signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        sys.settrace(checks.entered)
        yield checks
    except KeyboardInterrupt:
        assert checks.hit, "Nobody has interrupted here."
    finally:
        sys.settrace(before)
        signal.signal(signal.SIGINT, handler)


def outlives(at: tuple[int, ...], workers: int = 0, early_preload: bool = False, since: str = "") -> Checks:
    """Interrupt the life of an asynchronous loader at these checks; what was counted.

    AssertionError if it can't be iterated afterwards, or if anything is left once it was terminated.
    """
    made: list[Any] = []
    how = {"sharing_strategy": SharingStrategy.Fork, "buffer_size": 1, "early_preload": early_preload}
    with nothing_left():
        with interrupted(*at, since=since) as checks:
            dataset = Numbers(_SAMPLES)
            made.append(
                poptorch.DataLoader(
                    options(), dataset, _BATCH, num_workers=workers, mode=DataLoaderMode.Async, async_options=how
                )
            )
            assert _numbers(made[0]) == list(range(_SAMPLES))
            made[0].terminate()
        for loader in made:
            assert _numbers(loader) == list(range(_SAMPLES)), f"interrupted at {checks.hit}"
            loader.terminate()
        made.clear()
    return checks


def _numbers(loader: Any) -> list[int]:
    return [int(number) for step in loader for number in step.flatten()]
