"""How an asynchronous loader is read: decides what a consumer does that takes its time, and what is counted meanwhile.

A loader that reads ahead is looked at when it has become quiet: when the probe's log has not grown for a moment. No
verdict on a correct loader depends on how long that takes: what is held must not change at any time, an upper bound
must hold at any time, and what must have been read is waited for.
"""

import select
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from conformance.loader import leaks
from conformance.loader import reading as conduct
from conformance.loader.interrupts import first, said
from conformance.loader.probes import Watch
from conformance.loader.reading import Pass, Reader
from conformance.processes.calls import Remarks, Stopped
from conformance.trace import Epoch

_QUIET = 0.15  # seconds without a read after which a loader is taken to have read as far as it will
_BUSY = 1.0  # the same where a thread or a process of it still waits for a processor, on a busy machine
LONGEST = 8.0  # seconds that are waited for reads which must come: starting a process may take long


def quiet(watch: Watch, enough: int = 0) -> int:
    """The reads until now, once there are `enough` of them and no more come."""
    deadline = time.monotonic() + LONGEST
    seen, since = watch.count(), time.monotonic()
    while (now := time.monotonic()) < deadline and (
        seen < enough or now < since + _QUIET or (now < since + _BUSY and leaks.at_work())
    ):
        select.select([], [], [], 0.01)
        if (count := watch.count()) != seen:
            seen, since = count, time.monotonic()
    # Once more: what ran a moment ago may have read since.
    return watch.count()


@dataclass(frozen=True)
class Late:
    """A consumer that takes its time over the loader of `reader`: which epochs it reads, and what it writes down.

    `before` are the reads that must come before the first iterator, `between` those before the second one.
    """

    reader: Reader
    watch: Watch
    numbers: tuple[int, ...]
    epochs: list[Epoch]
    remarks: Remarks
    before: int
    between: int

    def conducts(self, place: int) -> dict[str, Callable[[], None]]:
        """What it may do, by the name of the conduct."""
        return {
            "look": lambda: self.look_long(place),
            "before": self.begin_late,
            "later": self.begin_late,
            "between": self.go_on_late,
            "restart": lambda: self.restart(place),
            "length": lambda: self.ask_for_length(place),
            "interrupt": lambda: self.be_interrupted(place),
        }

    def _rest(self) -> None:
        conduct.read_epochs(self.reader, self.numbers[1:], self.epochs)

    def _steps(self, number: int, count: int) -> tuple[Pass, bool]:
        """An iterator of which so many steps were read, and whether its end has not come yet."""
        going = self.reader.begin(number)
        more = True
        while more and len(going.steps) < count:
            more = self.reader.step(going)
        return going, more

    def look_long(self, at: int) -> None:
        """Hold a step of the first epoch until the loader has become quiet, and look at it again."""
        going, more = self._steps(self.numbers[0], at)
        if more and replace(self.reader, keep_batches=True).step(going):
            batch = going.batches.pop()
            self.remarks.append(("held", str(quiet(self.watch))))
            now = self.reader.indices(batch, going.number)
            if now != going.steps[at]:
                self.remarks.append(("changed", f"step {at}: {_told(going.steps[at])} became {_told(now)}"))
            del batch
            self.reader.rest(going)
        self.epochs.append(going.epoch())
        self._rest()

    def begin_late(self) -> None:
        """Make the first iterator when the loader has become quiet."""
        self.remarks.append(("before", str(quiet(self.watch, self.before))))
        conduct.read_epochs(self.reader, self.numbers, self.epochs)

    def go_on_late(self) -> None:
        """Ask for the second epoch when the loader has become quiet after the first."""
        self.epochs.append(self.reader.rest(self.reader.begin(self.numbers[0])).epoch())
        self.remarks.append(("between", str(quiet(self.watch, self.between))))
        self._rest()

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
        # Whoever asks anew is done with the first one.
        going = anew
        self.epochs.append(self.reader.rest(going).epoch())

    def ask_for_length(self, after: int) -> None:
        """Ask for len() before the epoch, after some steps of it and at its end."""
        lengths = [conduct.length_of(self.reader.loader)]
        going, _ = self._steps(self.numbers[0], after)
        lengths.append(conduct.length_of(self.reader.loader))
        self.epochs.append(self.reader.rest(going).epoch())
        lengths.append(conduct.length_of(self.reader.loader))
        self.remarks.append(("lengths", ", ".join(map(str, lengths))))
        self._rest()

    def be_interrupted(self, at: int) -> None:
        """Ask for a step whose read interrupts this process, and write down what comes out of next()."""
        going, _ = self._steps(self.numbers[0], at)
        # Whoever started the suite in the background has taken this handler away.
        usual = signal.signal(signal.SIGINT, signal.default_int_handler)
        came = "no error"
        try:
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


def _told(step: tuple[int, ...]) -> str:
    return " ".join(map(str, step)) or "an empty step"
