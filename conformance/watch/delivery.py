"""One epoch as it is delivered: decides which index came, when it came, and from which worker.

What a sampler draws is not what comes: with workers, some batches are drawn ahead and never delivered. An index is
noted when it is sent to a worker, and counts when that worker's answer is given to the loop; a worker answers in order.
"""

import atexit
import os
import sys
import weakref
from collections import deque
from types import FrameType
from typing import Any

from conformance.records.crash import Place, ending, place_in, place_of
from conformance.watch import facts
from conformance.watch.cycling import is_cycled
from conformance.watch.datasets import base_indices
from conformance.watch.held import Kept, tensors_of
from conformance.watch.identity import ids_of
from conformance.watch.keys import leave_keys
from conformance.watch.lines import users_frame
from conformance.watch.rows import Rows
from conformance.watch.stepping import follow, scaled
from conformance.watch.taps_checkpoint import checkpoints
from conformance.watch.taps_join import is_joined
from conformance.watch.watching import tapped, watching

# Under this name a tapped iterator holds its Delivery, and a loader that is read ahead what was read but not yet taken.
HERE = "_loaderspec"
HELD = "_loaderspec_held"
_open: "weakref.WeakSet[Delivery]" = weakref.WeakSet()
_latest: list[tuple[int, int, set[str]]] = []
_ends_in: set[int] = set()


class Held:
    """Batches that a library has read of a loader and not yet handed to the loop; the first `skips` never are."""

    def __init__(self, skips: int = 0) -> None:
        self._skips = skips
        self._waiting: deque[tuple[Any, int | None]] = deque()
        self._delivery: Delivery | None = None
        self._how = ""

    def begin(self, delivery: "Delivery") -> None:
        """The library reads the loader: this is the epoch."""
        self._delivery = delivery

    def add(self, ids: Any, worker: int | None) -> None:
        """A batch was read."""
        self._waiting.append((ids, worker))

    def take(self) -> None:
        """The oldest one is handed to the loop."""
        if self._delivery is None:
            return
        while self._waiting and self._skips:
            self._skips -= 1
            ids, worker = self._waiting.popleft()
            if ids is None and worker is not None:
                self._delivery.skipped(worker)
        if self._waiting:
            self._delivery.came(*self._waiting.popleft())

    def end(self, how: str) -> None:
        """The loader has no more, but perhaps the library has."""
        self._how = how

    def close(self, whole: bool) -> None:
        """The library hands out no more: all was taken (`whole`), or the loop was left."""
        if self._delivery is not None:
            self._delivery.finish(self._how or "whole" if whole else "left")


class Delivery:
    """What was drawn, sent and delivered in one epoch of one iterator."""

    def __init__(self, loader: Any, generation: int, frame: FrameType | None) -> None:
        state = watching()
        state.hello()
        self.loader = state.number(loader, frame)
        about = {**facts.epoch(loader, frame), "loaded": checkpoints(), "joined": is_joined() or None}
        self.epoch = state.recorder.epoch(self.loader, about)
        self.key = state.recorder.iterator(self.loader, self.epoch)
        self.drawn: Any = None
        self._process = os.getpid()
        self._generation = generation
        self._by_content = getattr(loader, "_dataset_kind", 0) == 1 or state.identify is not None
        # A loop that asks for no more than len() has had all that the sampler has.
        self._whole_at = None if self._by_content else about["steps"]
        self._below = base_indices(loader.dataset)
        self._cycled = is_cycled(frame)
        self._sent: dict[int, deque[Any]] = {}
        self._came = 0
        self._over = False
        self._held: Held | None = loader.__dict__.get(HELD)
        if self._held is not None:
            self._held.begin(self)
        self._kept = Kept()
        self._rows = Rows()
        self._gathers: set[str] = set()
        self._stepped: list[int] = []
        self._scaled = False
        _open.add(self)
        _end_at_exit()
        follow(_note_step)

    def workers(self, started: list[Any]) -> None:
        """The workers of this epoch run: leave the key where each of them finds it."""
        leave_keys(watching().folder, [worker.pid for worker in started], self._generation, self.key)

    def sent(self, worker: int) -> None:
        """What was drawn last went to a worker."""
        self._sent.setdefault(worker, deque()).append(self.drawn)

    def answered(self, worker: int) -> Any:
        """The index of the batch that this worker made next."""
        waiting = self._sent.get(worker)
        return waiting.popleft() if waiting else None

    def delivered(self, index: Any, worker: int | None, made: list[Any] | None, batch: Any = None) -> None:
        """A batch leaves torch's loader. `made` has who is in it, where this process made it."""
        ids: Any = made if self._by_content else ids_of(index, self._below)
        tensors = tensors_of(batch)
        self._kept.came(self._came, tensors)
        self._rows.came(0 if ids is None else len(ids), tensors)
        if self._held is not None:
            self._held.add(ids, worker)
        else:
            self.came(ids, worker)

    def came(self, ids: Any, worker: int | None) -> None:
        """A batch is handed to the loop."""
        state = watching()
        if not self._came:
            state.hello()  # ranks are known by now
        state.recorder.batch(self.loader, self.epoch, ids, worker)
        state.count(self.loader)
        self._came += 1
        _latest[:] = [(self.loader, self.epoch, self._gathers)]

    def skipped(self, worker: int) -> None:
        """A worker's batch came and was thrown away by a library."""
        watching().recorder.say("skipped", {"loader": self.loader, "epoch": self.epoch, "worker": worker})

    def stepped(self) -> None:
        """An optimizer made a step. After how many batches the first two of them come says which ones are skipped."""
        if len(self._stepped) < 2 and self._came not in (0, *self._stepped) and self._process == os.getpid():
            self._stepped.append(self._came)
            self._scaled = self._scaled or scaled()

    def died(self, worker: int, why: str) -> None:
        """A worker is no more."""
        told = {"loader": self.loader, "epoch": self.epoch, "worker": worker, "why": why}
        watching().recorder.say("worker_died", told)

    def ended(self, how: str) -> None:
        """Torch's loader gives no more. `cycle` hears that when it is asked for the first batch of another pass."""
        if self._cycled and how == "whole":
            watching().recorder.say("cycled", {"loader": self.loader, "epoch": self.epoch})
        if self._held is not None:
            self._held.end(how)
        else:
            self.finish(how)

    def finish(self, how: str, place: Place | None = None) -> None:
        """The loop gets no more. A process that was forked from this one has no say in it."""
        if not self._over and self._process == os.getpid():
            self._over = True
            _open.discard(self)
            if how == "left" and self._came and self._came == self._whole_at:
                how = "whole"
            if how == "left":
                place = place or place_in(users_frame(sys._getframe(1)))
            if self._stepped:
                told = {"loader": self.loader, "epoch": self.epoch, "at": self._stepped, "scaled": self._scaled or None}
                watching().recorder.say("stepped", told)
            if self._rows.lacking:
                told = {"loader": self.loader, "epoch": self.epoch, "samples": self._rows.lacking}
                watching().recorder.say("lacking", told)
            if self._kept.written_over:
                told = {"loader": self.loader, "epoch": self.epoch, "steps": list(self._kept.written_over.items())}
                watching().recorder.say("written_over", told)
            watching().recorder.end_of_epoch(self.loader, self.epoch, how, place)

    def stops(self) -> bool:
        """Whether the job is to stop before its next batch."""
        return watching().stops(self.loader)

    def __del__(self) -> None:
        # The iterator is gone before its end.
        try:
            self.finish("left")
        except Exception:  # the interpreter is going, and the record with it
            return


@tapped
def note_gathering(how: str) -> None:
    """The ranks gather what has come of the batches of the epoch that gave the latest one, which may be over."""
    for loader, epoch, known in _latest:
        if how not in known:
            known.add(how)
            watching().recorder.say("gathered", {"loader": loader, "epoch": epoch, "how": how})


@tapped
def _note_step() -> None:
    for each in list(_open):
        each.stepped()


def end_all(how: str = "left") -> None:
    """Every epoch that was begun in this process is over: it leaves, or stops."""
    place = place_of(ending())
    for each in list(_open):
        each.finish(how, place)


def _end_at_exit() -> None:
    """Registered after the recorder, which closes its file: what is registered last runs first."""
    if os.getpid() in _ends_in:
        return
    _ends_in.add(os.getpid())
    atexit.register(end_all)
    util: Any = sys.modules.get("multiprocessing.util")
    if util is not None:
        util.Finalize(None, end_all, exitpriority=20)
