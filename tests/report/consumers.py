"""Adapters for chapters 4 and 10 as files: a correct loader with worker processes, and changes that make it faulty."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.report.adapters import put

CORRECT = """\
import copy
import itertools
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import threading
import types

INFO = None
KEPT = []
# Stands for torch, which takes long to import.
sys.modules["torch.utils.data"] = types.SimpleNamespace(get_worker_info=lambda: INFO)


def serve(loader, worker, connection):
    global INFO
    request = loader.request
    seed = random.Random(f"{request.seed}, {loader.epoch}, {request.rank}, {worker}").getrandbits(32)
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed)
    INFO = types.SimpleNamespace(id=worker, num_workers=request.num_workers, seed=seed, dataset=request.dataset)
    try:
        if request.worker_init_fn:
            request.worker_init_fn(worker)
        for batch in loader.batches(worker, request.num_workers):
            connection.send(("batch", batch))
        connection.send(("end", None))
    except Exception as error:
        connection.send(("error", error))


class Loader:
    def __init__(self, request):
        self.request, self.epoch, self.going = request, 0, None

    def set_epoch(self, epoch):
        self.epoch = epoch

    def collate(self, samples):
        if self.request.collate_fn:
            return self.request.collate_fn(samples)
        return [copy.copy(sample) for sample in samples]

    def whole(self, steps):
        return [step for step in steps if len(step) == self.request.batch_size or not self.request.drop_last]

    def batches(self, worker, workers):
        request = self.request
        rank, ranks, size, dataset = request.rank, request.world_size, request.batch_size, request.dataset
        if not hasattr(dataset, "__getitem__"):
            mine = itertools.islice(iter(dataset), rank + ranks * worker, None, ranks * workers)
            while step := list(itertools.islice(mine, size)):
                if self.whole([step]):
                    yield self.collate(step)
            return
        shard = range(rank, len(dataset), ranks)
        for step in self.whole([shard[at:at + size] for at in range(0, len(shard), size)])[worker::workers]:
            samples = [dataset[index] for index in step]
            yield self.collate(samples)

    def __iter__(self):
        if not self.request.num_workers:
            yield from self.batches(0, 1)
            return
        workers, pipes = [], []
        for worker in range(self.request.num_workers):
            ours, theirs = multiprocessing.Pipe(False)
            workers.append(multiprocessing.get_context("fork").Process(target=serve, args=(self, worker, theirs)))
            workers[-1].start()
            theirs.close()
            pipes.append(ours)
        try:
            yield from self.received(list(pipes))
        finally:
            for worker, pipe in zip(workers, pipes):
                worker.kill()
                worker.join()
                worker.close()
                pipe.close()

    def received(self, pipes):
        for pipe in itertools.cycle(list(pipes)):
            if pipe in pipes:
                if not pipe.poll(self.request.timeout or None):
                    raise RuntimeError("a worker hangs")
                kind, value = pipe.recv()
                if kind == "error":
                    raise value
                if kind == "batch":
                    yield value
                else:
                    pipes.remove(pipe)
            if not pipes:
                return


def load(request):
    return Loader(request)
"""
_CLAIMS: dict[str, Any] = dict(
    datasets=("map", "iterable"),
    when_keeping="uneven",
    workers=True,
    iterable_workers="split",
    epochs="set_epoch",
    hooks=("collate_fn", "worker_init_fn", "timeout"),
)
_SEED = "{request.seed}, {loader.epoch}, {request.rank}, {worker}"
_SPLIT = "rank + ranks * worker, None, ranks * workers"
_READ = "samples = [dataset[index] for index in step]"
_MAIN = "            yield from self.batches(0, 1)\n"
_ITER = "    def __iter__(self):\n"
_COPY = "[copy.copy(sample) for sample in samples]"
_LOAD = "    return Loader(request)"
_RECEIVE = "                kind, value = pipe.recv()"


@dataclass(frozen=True)
class Fault:
    """A clause, the case in which it shows, and the change of the correct text that violates it.

    `mend` is what stands in place of `old` in the mended loader, if that is not the correct one.
    """

    clause: str
    case: str
    old: str
    new: str
    mend: str = ""
    claims: dict[str, Any] = field(default_factory=dict)
    text: str = CORRECT

    @property
    def all_claims(self) -> dict[str, Any]:
        """The claims of the loader, faulty or not."""
        return {**_CLAIMS, **self.claims}

    def write(self, path: Path, mended: bool = False) -> Path:
        """The adapter as a file, with the fault or without."""
        assert self.old in self.text
        return put(path, self.text.replace(self.old, (self.mend or self.old) if mended else self.new, 1), mended)


_UNEVEN_WORKERS = "[worker::workers][: 1 if workers > 1 else None]"
_RESUMES = """\
            self.going = self.going or self.batches(0, 1)
            for batch in self.going:
                yield batch
            self.going = None
"""
_SKIPS_STEPS = """\
try:
                samples = [dataset[index] for index in step]
            except ValueError:
                continue"""
_SKIPS_SAMPLES = """\
samples = []
            for index in step:
                try:
                    samples.append(dataset[index])
                except ValueError:
                    pass"""
_DEAD_IS_AT_ITS_END = """\
                try:
                    kind, value = pipe.recv()
                except EOFError:
                    kind, value = "end", None"""
_UNNAMED = """\
try:
                samples = self.collate([dataset[index] for index in step])
            except Exception as error:
                raise RuntimeError("no batch") from error"""
_HANGS_ON = _DEAD_IS_AT_ITS_END.replace('kind, value = "end", None', "threading.Event().wait()")
_ENDS_AT_ANY_ERROR = """\
            try:
                yield from self.batches(0, 1)
            except ValueError:
                return
"""
_SHARES_A_LIST = "KEPT.__setitem__(slice(None), samples) or KEPT"
_CLOSES_ONCE = "    def close(self):\n        del self.epoch\n\n"
_REVIVES = """\
    def __iter__(self):
        return self

    def __next__(self):
        self.going = self.going or self.batches(0, 1)
        for batch in self.going:
            return batch
        self.going = None
        raise StopIteration

    def other(self):
"""
_FILE = "        os.close(tempfile.mkstemp()[0])\n"
_THREAD = "        threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
_PROCESS = '        KEPT.append(subprocess.Popen(["sleep", "30"]))\n'

FAULTS = [
    Fault("WORK-1", "n4,w1,b1,keep,k2,workers", "[worker::workers]", _UNEVEN_WORKERS),
    Fault("WORK-1", "n1,w1,b1,keep,k1,workers", _RECEIVE, '                raise RuntimeError("no pipe")'),
    Fault("WORK-2", "n2,w1,b1,keep,k1", _READ, "samples = [(dataset[index], dataset[index])[0] for index in step]"),
    Fault("WORK-3", "n1,w1,b1,keep,k2,iterable", _SPLIT, "None"),
    Fault("WORK-3", "n2,w2,b1,keep,iterable", _SPLIT, "2 * rank, None, 2"),
    Fault("WORK-4", "n1,w1,b1,keep,k2,iterable", _SPLIT, _SPLIT, "None", {"iterable_workers": "replicated"}),
    Fault("WORK-5", "n4,w1,b2,drop,k1,iterable", "                if self.whole([step]):", "                if 0:"),
    Fault("WORK-6", "n2,w1,b2,keep,iterable", "self.collate(step)", "self.collate(step[::-1])"),
    Fault("WORK-7", "n2,w1,b1,keep,k2", "id=worker", "id=0"),
    Fault("WORK-8", "n2,w1,b1,keep,k2", _SEED, "{request.seed}, {loader.epoch}, {request.rank}"),
    Fault("WORK-8", "n2,w1,b1,keep,k2", 'if "numpy" in', 'if "no numpy" in'),
    Fault("WORK-9", "n2,w2,b1,keep,k1", _SEED, "{request.seed}, {loader.epoch}, {worker}"),
    Fault("WORK-10", "n1,w1,b1,keep,k1,e2", _SEED, "{request.seed}, {request.rank}, {worker}"),
    Fault("WORK-11", "n1,w1,b1,keep,k1,again", f'random.Random(f"{_SEED}")', "random.SystemRandom()"),
    Fault("WORK-12", "n2,w1,b1,keep,e2,leave@1", _MAIN, _RESUMES),
    Fault("WORK-13", "n2,w1,b1,keep,e2,two@1", _MAIN, _RESUMES),
    Fault("WORK-14", "n2,w1,b1,keep,e2,raise@1", _MAIN, _RESUMES),
    Fault("WORK-15", "n1,w1,b1,keep,e2,ended", _ITER, _CLOSES_ONCE + _ITER),
    Fault("WORK-15", "n1,w1,b1,keep,ended", _ITER, _REVIVES),
    Fault("WORK-16", "n2,w1,b1,keep,e2,kept", _COPY, _SHARES_A_LIST),
    Fault("WORK-16", "n2,w1,b1,keep,e2,hold@1", _COPY, _SHARES_A_LIST),
    Fault("WORK-16", "n2,w1,b1,keep,e2,kept,kind=buffer", _COPY, '{"samples": samples}'),
    Fault("WORK-17", "n3,w1,b3,keep,kind=tuple", _COPY, "list(zip(*samples))"),
    Fault("WORK-17", "n3,w1,b3,keep,k1,kind=arrays", _COPY, "[str(sample) for sample in samples]"),
    Fault("ERROR-1", "n1,w1,b1,keep,k1,e2,raise@0", "raise value", "raise RuntimeError(str(value))"),
    Fault("ERROR-1", "n1,w1,b1,keep,e2,index@0", _READ, _UNNAMED.replace("self.collate", "list")),
    Fault("ERROR-1", "n1,w1,b1,keep,e2,raise@0,iterable", _MAIN, _ENDS_AT_ANY_ERROR),
    Fault("ERROR-2", "n2,w1,b1,keep,e2,raise@1", _MAIN, "            yield from list(self.batches(0, 1))\n"),
    Fault("ERROR-3", "n2,w1,b2,keep,e2,stop@1", _READ, "samples = list(map(dataset.__getitem__, step))"),
    Fault("ERROR-4", "n1,w1,b1,keep,k1,e2,kill@0", _RECEIVE, _DEAD_IS_AT_ITS_END),
    Fault("ERROR-4", "n1,w1,b1,keep,k1,e2,exit@0", _RECEIVE, _HANGS_ON),
    Fault("ERROR-5", "n1,w1,b1,keep,e2,collate@0", _READ, _UNNAMED),
    Fault("ERROR-6", "n1,w1,b1,keep,k1,e2,init@0", "raise value", "return"),
    Fault("ERROR-7", "n1,w1,b1,keep,k1,e2,hang@0", 'raise RuntimeError("a worker hangs")', "return"),
    Fault("ERROR-8", "n2,w1,b2,keep,e2,raise@0", _READ, _SKIPS_STEPS, _SKIPS_SAMPLES, {"errors": "skip"}),
    Fault("LEAK-1", "n1,w1,b1,keep,e2,dropped", _ITER, _ITER + _PROCESS),
    Fault("LEAK-2", "n1,w1,b1,keep,k1,e2,kill@0", _ITER, _ITER + "        KEPT.append(open(os.devnull))\n"),
    Fault("LEAK-3", "n1,w1,b1,keep,k2,e2,leave@1", _ITER, _ITER + _FILE),
    Fault("LEAK-4", "n1,w1,b1,keep,e2,two@1", _ITER, _ITER + _THREAD),
    Fault("LEAK-5", "n16,w1,b4,keep,kind=large", _COPY, "KEPT.append(list(map(copy.copy, samples))) or KEPT[-1]"),
]
