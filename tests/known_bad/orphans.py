"""Loaders whose workers don't see that the process that reads was killed (chapter 10, LEAK-6)."""

import os
import signal
from multiprocessing.connection import Connection

from tests.known_bad.correct import SHORT
from tests.known_bad.pool import BadPool
from tests.known_bad.workers import SEVERAL

KILLED = ("killed",)


class WaitsToBeEnded(BadPool):
    """A worker that has sent everything waits until the rank ends it."""

    claims, families, grace = SEVERAL, KILLED, SHORT
    clause, smallest = "LEAK-6", "n3,w1,b1,keep,k1,killed@1"
    report = "pytorch/pytorch#5736"

    def work(self, plan: list[list[int]], number: int, line: Connection) -> None:
        super().work(plan, number, line)
        signal.pause()


class HoldsItsOwnPipeOpen(BadPool):
    """A worker has the other end of its pipe too, so that it waits forever where that is full. (No public report.)"""

    claims, families, grace = SEVERAL, KILLED, SHORT
    clause, smallest = "LEAK-6", "n3,w1,b1,keep,k1,killed@1,kind=long"

    def work(self, plan: list[list[int]], number: int, line: Connection) -> None:
        os.open(f"/proc/self/fd/{line.fileno()}", os.O_RDONLY)
        super().work(plan, number, line)
