"""Adapters for chapter 5 as files: a correct loader that reads ahead by a thread, and changes that make it faulty."""

from typing import Any

from tests.report.consumers import Fault

AHEAD = """\
import itertools
import os
import random
import threading

END = object()


class Loading:
    def __init__(self, batches, room):
        self.batches, self.room, self.ready = batches, room, []
        self.changed, self.stopped = threading.Condition(), False
        self.thread = threading.Thread(target=self.load, daemon=True)
        self.thread.start()

    def load(self):
        try:
            while self.has_room():
                batch = next(self.batches, END)
                self.put(batch)
                if batch is END:
                    return
        except Exception as error:
            self.put(error)

    def has_room(self):
        with self.changed:
            self.changed.wait_for(lambda: self.stopped or len(self.ready) < self.room)
            return not self.stopped

    def put(self, batch):
        with self.changed:
            self.ready.append(batch)
            self.changed.notify_all()

    def take(self):
        with self.changed:
            self.changed.wait_for(lambda: self.ready)
            self.changed.notify_all()
            return self.ready.pop(0)

    def stop(self):
        with self.changed:
            self.stopped = True
            self.changed.notify_all()
        self.thread.join()


class Delivery:
    def __init__(self, loader, loading):
        self.loader, self.loading = loader, loading

    def __iter__(self):
        return self

    def __next__(self):
        batch = self.loading.take()
        if isinstance(batch, Exception):
            raise batch
        if batch is END:
            self.loading.put(END)
            self.loader.at_the_end()
            raise StopIteration
        self.loader.given += 1
        return batch

    def __del__(self):
        self.loading.stop()


class Loader:
    def __init__(self, request):
        self.request, self.epoch, self.early, self.given = request, 0, None, 0
        if request.asynchronous and request.early_preload:
            self.early = self.begin(0)

    def set_epoch(self, epoch):
        self.epoch = epoch

    def begin(self, epoch):
        loading = Loading(iter(self.batches(epoch)), self.request.buffer_size or 2)
        loading.epoch = epoch
        return loading

    def batches(self, epoch):
        request, size = self.request, self.request.batch_size
        if not hasattr(request.dataset, "__getitem__"):
            elements = iter(request.dataset)
            while step := list(itertools.islice(elements, size)):
                if len(step) == size or not request.drop_last:
                    yield step
            return
        order = list(range(len(request.dataset)))
        if request.shuffle:
            random.Random(f"{request.seed}, {epoch}").shuffle(order)
        for step in self.steps(order):
            samples = [request.dataset[index] for index in step]
            yield samples

    def steps(self, order):
        mine, size = order[self.request.rank::self.request.world_size], self.request.batch_size
        steps = [mine[at:at + size] for at in range(0, len(mine), size)]
        return [step for step in steps if len(step) == size or not self.request.drop_last]

    def __len__(self):
        return len(self.steps(range(len(self.request.dataset))))

    def __iter__(self):
        if not self.request.asynchronous:
            return iter(self.batches(self.epoch))
        early, self.early = self.early, None
        if early and early.epoch != self.epoch:
            early.stop()
            early = None
        return Delivery(self, early or self.begin(self.epoch))

    def at_the_end(self):
        if self.request.load_indefinitely and self.early is None:
            self.early = self.begin(self.epoch + 1)

    def close(self):
        if self.early:
            self.early.stop()
            self.early = None

    def __del__(self):
        self.close()


def load(request):
    return Loader(request)
"""
_CLAIMS: dict[str, Any] = dict(
    datasets=("map", "iterable"),
    workers=False,
    asynchronous=True,
    length=True,
    shuffle="global",
    hooks=("buffer_size", "early_preload", "load_indefinitely", "rebatched"),
    iterable_workers=None,
)
_ROOM = "len(self.ready) < self.room"
_YIELD = "            yield samples"
_TAKE = "        batch = self.loading.take()\n"
_STALE = """\
        import time
        late, self.since = time.monotonic() - getattr(self, "since", time.monotonic()), time.monotonic()
        while late > 0.1 and len(self.loading.ready) > 1:
            self.loading.take()
        batch = self.loading.take()
        self.since = time.monotonic()
"""
_TWO_SLOTS = """\
            slots = self.__dict__.setdefault("slots", [[], []])
            slots.append(slots.pop(0))
            slots[0][:] = samples
            yield slots[0]"""
_SPEAKS_OF_ITEM = """\
            if getattr(samples[0], "dtype", 0) == "float64":
                raise ValueError("what an odd item")
            yield samples"""
_REPEATS = """\
            repeated = [each.tolist() for each in samples]
            samples = [[each] * 40 if len(each) == 30 else each for each in repeated]
            yield samples"""
_EARLY = "if request.asynchronous and request.early_preload"
_END = "if self.request.load_indefinitely and"
_WRONG_EPOCH = "if early and early.epoch != self.epoch:"
_DEAF = """\
        while True:
            try:
                batch = self.loading.take()
                break
            except KeyboardInterrupt:
                pass
"""
_LEFTOVERS = """\
        self.given += 0 if early else 0
        loading = early or self.begin(self.epoch)
        if getattr(self, "last", None):
            loading.ready[:0] = [each for each in self.last.ready if each is not END]
        self.last = loading
        return Delivery(self, loading)"""
_DELIVERY = "        return Delivery(self, early or self.begin(self.epoch))"
_SWALLOWS = "            self.put(END)"


def _fault(clause: str, case: str, old: str, new: str) -> Fault:
    return Fault(clause, case, old, new, text=AHEAD, claims=_CLAIMS)


FAULTS = [
    _fault("ASYNC-1", "n2,w1,b1,keep,async,look@0,synchronous", _TAKE, _STALE),
    _fault("ASYNC-1", "n1,w2,b1,keep,async,synchronous", _YIELD, f"{_YIELD}[:0] if request.asynchronous else samples"),
    _fault("ASYNC-2", "n3,w1,b1,keep,async,look@0,synchronous", _YIELD, _TWO_SLOTS),
    _fault("ASYNC-3", "n3,w1,b1,keep,a1,async,look@0,synchronous", _ROOM, "len(self.ready) < 1000"),
    _fault("ASYNC-4", "n1,w1,b1,keep,async,early,before", _EARLY, "if False"),
    _fault("ASYNC-4", "n2,w1,b1,keep,async,before", _EARLY, "if request.asynchronous"),
    _fault("ASYNC-5", "n1,w1,b1,keep,async,between", _END, "if False and"),
    _fault("ASYNC-5", "n1,w1,b1,keep,async,once,between", _END, "if"),
    _fault("ASYNC-6", "n2,w1,b1,keep,async,restart@1,synchronous", _DELIVERY, _LEFTOVERS),
    _fault("ASYNC-6", "n9,w1,b1,keep,shuffle,e3,async,restart@10,synchronous", _WRONG_EPOCH, "if False:"),
    _fault("ASYNC-7", "n1,w1,b1,keep,e2,async,raise@0", "            self.put(error)", _SWALLOWS),
    _fault(
        "ASYNC-7",
        "n2,w1,b1,keep,e2,async,raise@1",
        _TAKE,
        f"        self.loading.thread.join(0.3)\n{_TAKE}"
        "        batch = next((each for each in self.loading.ready if isinstance(each, Exception)), batch)\n",
    ),
    _fault("ASYNC-8", "n4,w1,b1,keep,e2,async,leave@1", "    def __del__(self):\n        self.loading.stop()\n", ""),
    _fault("ASYNC-8", "n1,w1,b1,keep,async,interrupt@0", _TAKE, _DEAF),
    _fault("ASYNC-8", "n4,w1,b1,keep,async,quit", "daemon=True", "daemon=False"),
    _fault(
        "ASYNC-9",
        "n3,w1,b2,keep,iterable,async,rebatched",
        "if len(step) == size or not request.drop_last",
        "if len(step) == size",
    ),
    _fault(
        "ASYNC-10",
        "n1,w1,b1,keep,async,length@1,synchronous",
        "range(len(self.request.dataset))))\n",
        "range(len(self.request.dataset)))) - self.given\n",
    ),
    _fault(
        "ASYNC-11",
        "n4,w1,b1,keep,async,kind=dtype",
        _YIELD,
        "            yield [each.astype('int64') for each in samples]",
    ),
    *(
        _fault(
            "ASYNC-11",
            f"n4,w1,b1,keep,async,kind={kind}",
            _YIELD,
            f"            yield [each.astype({dtype!r}) for each in samples]",
        )
        for kind, dtype in (("longer", "int32"), ("finer", "float32"), ("counted", "float64"))
    ),
    _fault("ASYNC-11", "n4,w1,b1,keep,async,kind=dtype", _YIELD, _SPEAKS_OF_ITEM),
    _fault(
        "ASYNC-11",
        "n4,w1,b1,keep,async,kind=narrow",
        _YIELD,
        _REPEATS,
    ),
]
