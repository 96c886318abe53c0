"""How an asynchronous loader is read: decides what a consumer does that takes its time, and what is counted meanwhile.

A loader that reads ahead is looked at when it has become quiet: when the probe's log has not grown for a moment. No
verdict on a correct loader depends on how long that takes: what is held must not change at any time, an upper bound
must hold at any time, and what must have been read is waited for.
"""

import select
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from conformance.ahead import scenario
from conformance.loader import endings, leaks, patience
from conformance.loader.interrupts import LONGEST_INTERRUPT, first, said
from conformance.loader.member import Reading
from conformance.loader.probes import Watch
from conformance.loader.reading import Pass, hold_a_step, length_of, read_epochs, read_through_faults, step_text
from conformance.processes import alive
from conformance.processes.calls import Stopped

_OUTLASTS = 2.5  # seconds within which a read comes that somebody has waited five seconds for
_QUIET = 0.15  # seconds without a read after which a loader is taken to have read as far as it will
_BUSY = 1.0  # the same where a thread or a process of it still waits for a processor, on a busy machine


def quiet(watch: Watch, enough: int = 0, still: float = _QUIET) -> int:
    """The reads until now, once there are `enough` of them and for `still` seconds no more came."""
    alive.stage(patience.LONGEST)
    deadline = time.monotonic() + patience.LONGEST
    seen, since = watch.count(), time.monotonic()
    while (now := time.monotonic()) < deadline and (
        seen < enough or now < since + still or (now < since + _BUSY and leaks.at_work())
    ):
        select.select([], [], [], 0.01)
        if (count := watch.count()) != seen:
            seen, since = count, time.monotonic()
    alive.stage()
    # Once more: what ran a moment ago may have read since.
    return watch.count()


class Late:
    """A consumer that takes its time: what it does with the loader of a reading, and what it writes down there."""

    def __init__(self, going: Reading) -> None:
        assert going.watch is not None
        self.going = going
        self.reader = going.reader
        self.watch = going.watch
        self.numbers = going.task.epochs
        self.epochs = going.epochs
        self.remarks = going.remarks

    def _rest(self) -> None:
        read_epochs(self.reader, self.numbers[1:], self.epochs)

    def _steps(self, number: int, count: int) -> tuple[Pass, bool]:
        """An iterator of which this many steps were read, and whether its end has not come yet."""
        going = self.reader.begin(number)
        return going, self.reader.up_to(going, count)

    def look_long(self, at: int) -> None:
        """Hold a step of the first epoch, or the second, until the loader is quiet, and look at it again."""
        # Where something is to fail, that ends no more than its epoch.
        fails = bool(self.going.scenario.fault)
        *before, number = self.numbers[: 2 if "later" in self.going.scenario.words else 1]
        read_epochs(self.reader, tuple(before), self.epochs)
        # What those epochs have read is not ahead of this one.
        read = self._break_often(number) if "breaks" in self.going.scenario.words else 0
        going, more = self._steps(number, at)
        if more and replace(self.reader, keep_batches=True).step(going):
            batch = going.batches.pop()
            self.remarks.append(("held", str(quiet(self.watch) - read)))
            now = self.reader.indices(batch, going.number)
            if now != going.steps[at]:
                self.remarks.append(("changed", f"step {at}: {step_text(going.steps[at])} became {step_text(now)}"))
            del batch
            (self.reader.tolerant_rest if fails else self.reader.rest)(going)
        self.epochs.append(going.epoch())
        read_on = read_through_faults if fails else read_epochs
        read_on(self.reader, self.numbers[len(before) + 1 :], self.epochs)

    def _break_often(self, number: int) -> int:
        """Leave an epoch with the buffer full, many times; the reads of all of them."""
        for _ in range(scenario.BREAKS):
            held = self._steps(number, 1)
            quiet(self.watch, still=_QUIET / 5)
            del held
        return self.watch.count()

    def begin_late(self) -> None:
        """Make the first iterator when the loader has become quiet; a trainer asks for its length before that."""
        length_of(self.reader.loader)
        self.remarks.append(("before", str(quiet(self.watch, self.going.scenario.reads_before))))
        read_epochs(self.reader, self.numbers, self.epochs)

    def go_on_late(self) -> None:
        """Ask for the second epoch when the loader has become quiet after the first, read or left."""
        if "left" in self.going.scenario.words:
            self._leave_one(self.numbers[0])
        else:
            self.epochs.append(self.reader.rest(self.reader.begin(self.numbers[0])).epoch())
        self.remarks.append(("between", str(quiet(self.watch, self.going.scenario.reads_between))))
        self._rest()

    def _leave_one(self, number: int) -> None:
        going, _ = self._steps(number, 1)
        quiet(self.watch)
        self.epochs.append(going.epoch(left=True))

    def restart(self, after: int) -> None:
        """Call iter() after some steps, while the first iterator is alive; or without it, if that is refused."""
        going, _ = self._steps(self.numbers[0], after)
        quiet(self.watch)
        self.epochs.append(going.epoch(left=True))
        try:
            anew = self.reader.begin(self.numbers[1])
        except Stopped as stopped:
            if (stopped.failure.kind, stopped.failure.where) != ("raised", "iter"):
                raise
            del going
            anew = self.reader.begin(self.numbers[1])
        # A consumer that asks again is done with the first one.
        going = anew
        self.epochs.append(self.reader.rest(going).epoch())

    def outlast(self) -> None:
        """Leave an epoch while a read takes long, and hold the first step of the next one until that has come."""
        left, _ = self._steps(self.numbers[0], 1)
        self.epochs.append(left.epoch(left=True))
        del left
        alive.stage(_OUTLASTS)
        hold_a_step(self.reader, self.numbers[1:], self.epochs, _OUTLASTS)

    def ask_for_length(self, after: int) -> None:
        """Ask for len() before the epoch, after some steps of it and at its end."""
        lengths = [length_of(self.reader.loader)]
        going, _ = self._steps(self.numbers[0], after)
        lengths.append(length_of(self.reader.loader))
        self.epochs.append(self.reader.rest(going).epoch())
        lengths.append(length_of(self.reader.loader))
        self.remarks.append(("lengths", ", ".join(map(str, lengths))))
        self._rest()

    def be_interrupted(self, at: int) -> None:
        """Ask for a step whose read interrupts this process, and write down what comes out of next()."""
        going, _ = self._steps(self.numbers[0], at)
        # A shell that started the suite in the background has taken this handler away.
        usual = signal.signal(signal.SIGINT, signal.default_int_handler)
        came = "no error"
        try:
            alive.stage(LONGEST_INTERRUPT)
            first(self.watch.folder, "asks")
            self.reader.step(going)
        except Stopped as stopped:
            came = stopped.failure.message
        except KeyboardInterrupt:
            came = "KeyboardInterrupt"
        finally:
            first(self.watch.folder, "noticed")
            signal.signal(signal.SIGINT, usual)
        self.epochs.append(going.epoch(left=True))
        if said(self.watch.folder, "struck"):
            self.remarks.append(("interrupted", came))


def _end_a_process(going: Reading) -> None:
    """Let another process read the loader and end without closing it, and write down how it ends."""
    assert going.watch is not None

    def read() -> Any:
        loader = going.implementation.load(going.request)
        iterator = iter(loader)
        return loader, iterator, next(iterator, None)

    told = endings.end_a_process(read, going.watch.folder)
    if told is not None:
        going.remarks.append(("quit", told))


# Imported, so that a process that only reads knows what these conducts need.
KNOWN = scenario
CONDUCTS: Mapping[str, Callable[[Reading], None]] = {
    "look": lambda going: Late(going).look_long(going.place),
    "before": lambda going: Late(going).begin_late(),
    "later": lambda going: Late(going).begin_late(),
    "between": lambda going: Late(going).go_on_late(),
    "restart": lambda going: Late(going).restart(going.place),
    "length": lambda going: Late(going).ask_for_length(going.place),
    "interrupt": lambda going: Late(going).be_interrupted(going.place),
    "outlast": lambda going: Late(going).outlast(),
}
WITHOUT_LOADER: Mapping[str, Callable[[Reading], None]] = {"quit": _end_a_process}
