"""The processes in which ranks run: decides where a task is carried out, how long it may take, and what its end means.

Two zygotes with different hash seeds, and members forked from them: rank r runs in a member of zygote r mod 2, so that
ranks differ in their hash seed, and in how many cores they may use, as the processes of a real job do. Members are
started once and used again; one that hangs or dies is ended and replaced, and the rank's run becomes a failure in the
trace.
"""

import contextlib
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import send_handle
from typing import Any, TypeVar

from conformance.contract import AdapterError, Claims
from conformance.processes import seen
from conformance.processes.busy import Extension
from conformance.processes.hangs import Hangs, TimeIsOver
from conformance.processes.origin import Origin
from conformance.processes.own_errors import Broken, Unusable, raise_broken
from conformance.processes.sources import END_SECONDS, START_SECONDS, Source, Zygote, connection, pair
from conformance.processes.task import Task
from conformance.trace import Failure, RankRun

T = TypeVar("T")

# The path of a socket may have 104 bytes (macOS; 108 on Linux). A loader's workers make some in the temporary folder of
# their member, which is this long with what Python adds: then they would hang, or fail, in a place that nobody knows.
_LONGEST_PATH = 103
_BELOW = len("/loaderspec-12345678/z0/m0-12/t/pymp-12345678/listener-12345678")


def _place() -> str | None:
    """The folder for a fleet's files: the usual one, or /tmp where that is too deep."""
    is_deep = len(os.fsencode(tempfile.gettempdir())) + _BELOW > _LONGEST_PATH
    return "/tmp" if is_deep and os.access("/tmp", os.W_OK) else None


@dataclass
class _Member:
    pid: int
    zygote: Zygote
    orders: Connection


class Lane:
    """Some members of a fleet, which carry out one run after the other while other lanes do the same."""

    def __init__(self, fleet: "Fleet", number: int) -> None:
        self.fleet = fleet
        self.number = number
        self.patience = fleet.patience
        self._members: dict[tuple[int, int], _Member] = {}

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

    def _answers(self, members: Sequence[_Member], patience: float, stage: float | None) -> dict[Connection, Any]:
        """What each member answers in time; None for one that ended. TimeIsOver where there was less time than that."""
        hangs, began, waits = self.fleet.hangs, time.monotonic(), 0.0
        last = began + patience
        answers: dict[Connection, Any] = {}
        waiting = {member.orders for member in members}

        def until(granted: float) -> float:
            # What is granted beside the patience is needed, however many have hung.
            return time.monotonic() + hangs.patience(self.patience) + granted - self.patience

        deadline = until(patience if stage is None else stage)
        late: Extension | None = None
        while waiting:
            ready = wait(list(waiting), max(0.0, min(deadline, hangs.end) - time.monotonic()))
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
        hangs.note(time.monotonic() - began, hung=bool(waiting), waits=waits)
        return answers

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

    def hang_up(self) -> None:
        """Release all members, whose zygote is about to end them."""
        for member in self._members.values():
            member.orders.close()
        self._members.clear()

    def _member(self, zygote: int, slot: int) -> _Member:
        key = (zygote, slot)
        if key not in self._members:
            self._members[key] = self.fleet.fork(zygote, f"m{self.number}-{slot}")
        return self._members[key]

    def _answer(self, member: _Member, task: Task, answers: Mapping[Connection, Any]) -> RankRun:
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


class Fleet:
    """The members of one implementation, in lanes. Use it as a context manager; nothing of it outlives the block.

    For one run at a time, use lane 0. Lanes may be used from a thread each.
    """

    def __init__(self, source: Source, patience: float = 10.0, lanes: int = 6) -> None:
        self.source = source
        self.patience = patience
        self.hangs = Hangs()
        self.lanes = tuple(Lane(self, number) for number in range(lanes))
        # A zygote answers one question after the other.
        self._asking = threading.Lock()
        self._root = tempfile.mkdtemp(prefix="loaderspec-", dir=_place())
        self._groups = 0
        self._prepared: set[tuple[int, str]] = set()
        self._learned: dict[str, Any] = {}
        self._learning = threading.RLock()
        self.zygotes: list[Zygote] = []
        try:
            for position, seed in enumerate(source.hash_seeds):
                self.zygotes.append(source.start(seed, self._folder(position)))
            for zygote in self.zygotes:
                zygote.expect_ready()
        except BaseException:
            self.close()
            raise

    @property
    def claims(self) -> Claims:
        """What the implementation promises."""
        return self.zygotes[0].claims

    @property
    def known_failures(self) -> Mapping[str, Mapping[str, Any]]:
        """The known failures that the adapter lists."""
        return self.zygotes[0].known_failures

    @property
    def beyond(self) -> Mapping[str, str]:
        """The clauses that can't be judged of a loader that is reached as this one is, and why."""
        return self.zygotes[0].beyond

    @property
    def origin(self) -> Origin:
        """Where the adapter came from."""
        return self.zygotes[0].origin

    def run(self, tasks: Sequence[Task], shift: int = 0, patience: float | None = None) -> tuple[RankRun, ...]:
        """Carry out one task a rank, in lane 0."""
        return self.lanes[0].run(tasks, shift, patience)

    @contextlib.contextmanager
    def whole_patience(self) -> Iterator[None]:
        """Wait for each run as long as for the first, however many have hung or left something behind."""
        before, self.hangs.whole = self.hangs.whole, True
        try:
            with seen.aside([self._folder(position) for position in range(len(self.zygotes))]):
                yield
        finally:
            self.hangs.whole = before

    def renew(self) -> None:
        """End all members; the next tasks run in new processes."""
        for lane in self.lanes:
            lane.renew()

    def close(self) -> None:
        """End everything that was started and remove every file."""
        for lane in self.lanes:
            lane.hang_up()
        for zygote in self.zygotes:
            zygote.close()
        self.zygotes = []
        shutil.rmtree(self._root, ignore_errors=True)

    def __enter__(self) -> "Fleet":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _folder(self, zygote: int) -> str:
        return os.path.join(self._root, f"z{zygote}")

    def with_process_group(self, tasks: Sequence[Task]) -> list[Task]:
        """The tasks with a place to meet at, if ranks need torch.distributed."""
        if not tasks[0].meets:
            return list(tasks)
        with self._asking:
            self._groups += 1
            path = os.path.join(self._root, f"rendezvous-{self._groups}")
        return [replace(task, process_group=(path, rank, len(tasks))) for rank, task in enumerate(tasks)]

    def learned(self, name: str, find_out: Callable[[], T]) -> T:
        """What is known of the implementation under a name; found out by the first that asks."""
        with self._learning:
            if name not in self._learned:
                self._learned[name] = find_out()
            known: T = self._learned[name]
            return known

    def prepare(self, zygote: int, performer: str) -> bool:
        """Let a zygote import a performer with what it needs, once; whether that was done now."""
        with self._asking:
            if (zygote, performer) in self._prepared:
                return False
            parent = self.zygotes[zygote]
            parent.ask("prepare", performer)
            parent.receive(START_SECONDS, "importing what the suite needs")
            self._prepared.add((zygote, performer))
            return True

    def fork(self, zygote: int, name: str) -> _Member:
        """Start a member."""
        parent = self.zygotes[zygote]
        with self._asking:
            ours, theirs = pair()
            parent.ask("fork", name)
            with contextlib.suppress(OSError):
                send_handle(parent.control, theirs.fileno(), None)
            theirs.close()
            return _Member(parent.receive(END_SECONDS, "forking"), parent, connection(ours))

    def end(self, member: _Member, *grace: float) -> str:
        """End a member; how it ended."""
        with self._asking:
            member.orders.close()
            member.zygote.ask("end", member.pid, *grace)
            return str(member.zygote.receive(END_SECONDS, "ending a process"))
