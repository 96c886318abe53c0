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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from multiprocessing.reduction import send_handle
from typing import Any, TypeVar

from conformance.contract import Claims
from conformance.processes import seen
from conformance.processes.hangs import Hangs
from conformance.processes.lane import Lane, Member
from conformance.processes.origin import Origin
from conformance.processes.sources import END_SECONDS, START_SECONDS, Source, Zygote, connection, pair
from conformance.processes.task import Task
from conformance.trace import RankRun

T = TypeVar("T")

# The path of a socket may have 104 bytes (macOS; 108 on Linux). A loader's workers make some in the temporary folder of
# their member, which is this long with what Python adds: then they would hang, or fail, in a place that nobody knows.
_LONGEST_PATH = 103
_BELOW = len("/loaderspec-12345678/z0/m11-12/t/pymp-12345678/listener-12345678")

# Lanes whose runs need a processor, and lanes whose runs wait: for a time-out, or until a death is noticed. Of these as
# many are used as there are runs, or some: run after run in each of them would want more processors than there are.
_LANES, _PATIENT, _SOME = 6, 24, 8


def _place() -> str | None:
    """The folder for a fleet's files: the usual one, or /tmp where that is too deep."""
    is_deep = len(os.fsencode(tempfile.gettempdir())) + _BELOW > _LONGEST_PATH
    return "/tmp" if is_deep and os.access("/tmp", os.W_OK) else None


class Fleet:
    """The members of one implementation, in lanes. Use it as a context manager; nothing of it outlives the block.

    For one run at a time, use lane 0. Lanes may be used from a thread each. `lanes` run side by side what needs a
    processor, and are few therefore; `patient` are those of runs that wait, and may be busy at any time.
    """

    def __init__(self, source: Source, patience: float = 10.0) -> None:
        self.source = source
        self.patience = patience
        self.hangs = Hangs()
        self.lanes = tuple(Lane(self, number) for number in range(_LANES))
        self.patient = tuple(Lane(self, _LANES + number, is_patient=True) for number in range(_PATIENT))
        # Set once nothing that was given to a lane is to be begun any more.
        self.is_closing = threading.Event()
        # A zygote answers one question after the other.
        self._asking = threading.Lock()
        self._root = tempfile.mkdtemp(prefix="loaderspec-", dir=_place())
        self._groups = 0
        self._waiting = 0
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

    def least_busy(self, runs: int) -> tuple[Lane, ...]:
        """The patient lanes for this many runs: those that were given one longest ago."""
        first = self._waiting % _PATIENT
        lanes = runs if runs <= _PATIENT else _SOME
        self._waiting += lanes
        return (*self.patient[first:], *self.patient[:first])[:lanes]

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
        """End all members but those that may be waiting; the next tasks run in new processes."""
        for lane in self.lanes:
            lane.renew()

    def close(self) -> None:
        """End everything that was started and remove every file."""
        self.is_closing.set()
        for lane in (*self.lanes, *self.patient):
            lane.close()
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

    def fork(self, zygote: int, name: str) -> Member:
        """Start a member."""
        parent = self.zygotes[zygote]
        with self._asking:
            ours, theirs = pair()
            parent.ask("fork", name)
            with contextlib.suppress(OSError):
                send_handle(parent.control, theirs.fileno(), None)
            theirs.close()
            return Member(parent.receive(END_SECONDS, "forking"), parent, connection(ours))

    def end(self, member: Member, *grace: float) -> str:
        """End a member; how it ended."""
        with self._asking:
            member.orders.close()
            member.zygote.ask("end", member.pid, *grace)
            return str(member.zygote.receive(END_SECONDS, "ending a process"))
