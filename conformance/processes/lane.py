"""A lane: decides which process of it carries out the task of a rank, and how long all of them are waited for."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any, TypeVar

from conformance.contract import AdapterError, Claims
from conformance.processes.busy import Extension
from conformance.processes.hangs import TimeIsOver
from conformance.processes.own_errors import Broken, Unusable, raise_broken
from conformance.processes.sources import Zygote
from conformance.processes.task import Task
from conformance.trace import Failure, RankRun

if TYPE_CHECKING:
    from conformance.processes.fleet import Fleet

T = TypeVar("T")
# After so many seconds a lane that waits looks whether it still should.
_GLANCE = 0.5


@dataclass
class Member:
    """A process of one lane, the zygote that it was forked from, and the pipe on which it is told what to do."""

    pid: int
    zygote: Zygote
    orders: Connection


class Lane:
    """Some members of a fleet, which carry out one run after the other while other lanes do the same.

    `is_patient`: what hangs here costs nobody's time. It is waited for with the whole patience, and not counted.
    """

    def __init__(self, fleet: Fleet, number: int, is_patient: bool = False) -> None:
        self.fleet = fleet
        self.number = number
        self.is_patient = is_patient
        self.patience = fleet.patience
        self._members: dict[tuple[int, int], Member] = {}
        self._thread: ThreadPoolExecutor | None = None

    @property
    def claims(self) -> Claims:
        """What the implementation promises."""
        return self.fleet.claims

    def run(
        self, tasks: Sequence[Task], shift: int = 0, patience: float | None = None, stage: float | None = None
    ) -> tuple[RankRun, ...]:
        """Carry out one task a rank, all at the same time, each in its own process.

        `shift` = 1 uses other processes, with the other hash seed. The run of a rank that hangs or dies is a Failure.
        `patience` is that for the whole, `stage` that for each stage of a run that tells of them (`alive.py`).
        TimeIsOver if the whole run came to its end before that.
        """
        if time.monotonic() > self.fleet.hangs.end:
            raise TimeIsOver
        tasks = self.fleet.with_process_group(tasks)
        places = [((rank + shift) % len(self.fleet.zygotes), 2 * rank + shift) for rank in range(len(tasks))]
        for zygote in sorted({zygote for zygote, _ in places}):
            if self.fleet.prepare(zygote, tasks[0].performer):
                self._end_those_of(zygote)
        members = [self._member(*place) for place in places]
        for member, task in zip(members, tasks, strict=True):
            # A member that died between two tasks shows at the answer, like one that dies in this one.
            with contextlib.suppress(OSError):
                member.orders.send([task])
        try:
            answers = self._answers(members, self.patience if patience is None else patience, stage)
        except TimeIsOver:
            for key in {key for key, value in self._members.items() if value in members}:
                self._end(key, 0.0)
            raise
        return tuple(self._answer(member, task, answers) for member, task in zip(members, tasks, strict=True))

    def _answers(self, members: Sequence[Member], patience: float, stage: float | None) -> dict[Connection, Any]:
        """What each member answers in time; None for one that ended. TimeIsOver where there was less time than that."""
        hangs, began, waits = self.fleet.hangs, time.monotonic(), 0.0
        last = began + patience
        answers: dict[Connection, Any] = {}
        waiting = {member.orders for member in members}

        def until(granted: float) -> float:
            # What is granted beside the patience is needed, however many have hung.
            usual = self.patience if self.is_patient else hangs.patience(self.patience)
            return time.monotonic() + usual + granted - self.patience

        deadline = until(patience if stage is None else stage)
        late: Extension | None = None
        while waiting:
            ready = self._ready(waiting, min(deadline, hangs.end))
            if not ready and hangs.end < deadline:
                raise TimeIsOver
            if not ready:
                late = late or Extension([each.pid for each in members if each.orders in waiting], self.patience)
                if not (more := late.more()):
                    break
                last, deadline = last + more, time.monotonic() + more
            for line in ready:
                assert isinstance(line, Connection)
                try:
                    said = line.recv()
                except (EOFError, ConnectionError):
                    said = None
                if isinstance(said, float):
                    waits += said
                    deadline = min(last, max(deadline, until(self.patience if stage is None else stage) + said))
                else:
                    answers[line] = said
                    waiting.discard(line)
        if not self.is_patient:
            hangs.note(time.monotonic() - began, hung=bool(waiting), waits=waits)
        return answers

    def _ready(self, waiting: Iterable[Connection], until: float) -> list[Any]:
        """Those that answer, if any does before then. TimeIsOver if the fleet is closed meanwhile."""
        while not (ready := wait(list(waiting), max(0.0, min(_GLANCE, until - time.monotonic())))):
            if self.fleet.is_closing.is_set():
                raise TimeIsOver
            if time.monotonic() >= until:
                break
        return ready

    def learned(self, name: str, find_out: Callable[[], T]) -> T:
        """What is known of the implementation under a name; found out by the lane that asks first."""
        return self.fleet.learned(name, find_out)

    def renew(self) -> None:
        """End all members; the next tasks run in new processes."""
        for key in list(self._members):
            self._end(key)

    def _end_those_of(self, zygote: int) -> None:
        for key in [key for key in self._members if key[0] == zygote]:
            self._end(key)

    def later(self, act: Callable[..., T], *given: Any) -> Future[T]:
        """Act in this lane's own thread, after all that it was given before."""
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1)
        return self._thread.submit(act, *given)

    def close(self) -> None:
        """Wait for what runs in the lane's thread, and release all members, whose zygote is about to end them."""
        if self._thread is not None:
            self._thread.shutdown(cancel_futures=True)
        for member in self._members.values():
            member.orders.close()
        self._members.clear()

    def _member(self, zygote: int, slot: int) -> Member:
        key = (zygote, slot)
        if key not in self._members:
            self._members[key] = self.fleet.fork(zygote, f"m{self.number}-{slot}")
        return self._members[key]

    def _answer(self, member: Member, task: Task, answers: Mapping[Connection, Any]) -> RankRun:
        rank = task.rank
        answer = answers.get(member.orders)
        if answer is not None:
            (run,) = answer
            if isinstance(run, Broken):
                raise_broken(run, rank)
            if isinstance(run, Unusable):
                raise AdapterError(run.text)
            return run  # type: ignore[no-any-return]  # what the performer gave
        key = next(key for key, value in self._members.items() if value is member)
        if member.orders not in answers:
            self._end(key, 0.0)  # it had its time
            return RankRun(rank, (), Failure("hung", "step", f"no answer within {self.patience:g} s"))
        return RankRun(rank, (), Failure("died", "step", f"the process ended with {self._end(key)}"))

    def _end(self, key: tuple[int, int], *grace: float) -> str:
        return self.fleet.end(self._members.pop(key), *grace)
