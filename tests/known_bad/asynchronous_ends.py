"""Loaders that read ahead and do not end with their consumer (chapter 5, ASYNC-8)."""

import atexit
import os
import threading
from signal import SIGKILL
from typing import Any

from tests.known_bad.ahead import BadAhead, Delivery, Loading
from tests.known_bad.asynchronous import FAMILY, PLAIN
from tests.known_bad.correct import SHORT
from tests.known_bad.faults import name_of_a_segment


class LeavesItsThread(BadAhead):
    """The thread of an epoch that was left waits for ever for room."""

    claims, families, grace = PLAIN, FAMILY, SHORT
    clause, smallest = "ASYNC-8", "n2,w1,b1,keep,async,restart@0,synchronous"
    report = "libffcv/ffcv#345"

    def deliver(self, loading: Loading) -> Delivery:
        return Careless(self, loading)


class Careless(Delivery):
    """Goes without a word."""

    def __del__(self) -> None:
        pass


class ClosesWhatIsClosed(BadAhead):
    """Closing a second time raises. (No public report.)"""

    claims, families = PLAIN, FAMILY
    clause, smallest = "ASYNC-8", "n1,w1,b1,keep,async,ended"
    closed = False

    def close(self) -> None:
        if self.closed:
            raise ValueError("this loader is closed already")
        super().close()
        self.closed = self.is_asynchronous

    def __del__(self) -> None:
        super().close()


class GoesOnAfterItsEnd(BadAhead):
    """An iterator that has ended gives the next epoch when it is asked once more. (No public report.)"""

    claims, families = PLAIN, FAMILY
    clause, smallest = "ASYNC-8", "n1,w1,b1,keep,async,ended"

    def deliver(self, loading: Loading) -> Delivery:
        return Endless(self, loading)


class Endless(Delivery):
    """Begins again."""

    def __next__(self) -> Any:
        if self.ended:
            self.ended, self.loading = False, self.loader.begin(self.loading.epoch + 1)
        return super().__next__()


class WaitsThroughAnInterrupt(BadAhead):
    """The wait for a step begins again when it is interrupted. (No public report.)"""

    claims, families = PLAIN, FAMILY
    clause, smallest = "ASYNC-8", "n1,w1,b1,keep,async,interrupt@0"

    def deliver(self, loading: Loading) -> Delivery:
        return Deaf(self, loading)


class Deaf(Delivery):
    """Hears of no interrupt."""

    def __next__(self) -> Any:
        while True:
            try:
                return super().__next__()
            except KeyboardInterrupt:
                continue


class NamesTheInterrupt(BadAhead):
    """An interrupt comes out as a RuntimeError, which a training loop may catch and go on. (No public report.)"""

    claims, families = PLAIN, FAMILY
    clause, smallest = "ASYNC-8", "n1,w1,b1,keep,async,interrupt@0"

    def deliver(self, loading: Loading) -> Delivery:
        return Naming(self, loading)


class Naming(Delivery):
    """Wraps an interrupt."""

    def __next__(self) -> Any:
        try:
            return super().__next__()
        except KeyboardInterrupt as interrupt:
            raise RuntimeError("reading ahead was interrupted") from interrupt


class KeepsItsProcess(BadAhead):
    """The thread that reads is no daemon, so that a process with an open loader does not end."""

    claims, families, grace = PLAIN, FAMILY, SHORT
    clause, smallest = "ASYNC-8", "n3,w1,b1,keep,async,quit"
    report = "google/grain#1196"

    def begin(self, epoch: int) -> Loading:
        return Lasting(epoch, self.reader(epoch), self.room)


class Lasting(Loading):
    """Reads in a thread that a process waits for at its end."""

    daemon = False


class OutlivesItsRank(BadAhead):
    """The process that keeps the slots is ended by closing and by dropping, and not when the rank's process ends."""

    claims, families, grace = PLAIN, FAMILY, SHORT
    clause, smallest = "ASYNC-8", "n1,w1,b1,keep,async,quit"
    report = "pytorch/pytorch#72269"
    ending = False
    keeper = 0

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        atexit.register(setattr, OutlivesItsRank, "ending", True)
        self.keeper = os.fork()
        if not self.keeper:
            threading.Event().wait()

    def close(self) -> None:
        super().close()
        # A copy of the loader, which reads, has the number too.
        if self.keeper and not self.copied and not OutlivesItsRank.ending:
            os.kill(self.keeper, SIGKILL)
            os.waitpid(self.keeper, 0)
            self.keeper = 0


class LeavesASegmentAnEpoch(BadAhead):
    """A shared-memory segment for the slots is removed at the end of its epoch, and only there."""

    claims, families, grace = PLAIN, FAMILY, SHORT
    clause, smallest = "ASYNC-8", "n1,w1,b1,keep,async,leave@0"
    report = "mosaicml/streaming#573"

    def deliver(self, loading: Loading) -> Delivery:
        return InASegment(self, loading)


class InASegment(Delivery):
    """Has a segment until its epoch ends."""

    def __init__(self, loader: BadAhead, loading: Loading) -> None:
        super().__init__(loader, loading)
        self.path = name_of_a_segment()
        self.path.touch()

    def __next__(self) -> Any:
        try:
            return super().__next__()
        except StopIteration:
            self.path.unlink(missing_ok=True)
            raise
