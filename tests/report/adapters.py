"""Adapters as files: a correct loader in plain Python, and what is changed in its text to make it faulty."""

import os
from dataclasses import dataclass
from pathlib import Path

CORRECT = """\
import random

claims = dict(when_dropping="drop", when_keeping="uneven", layout="strided", shuffle="global", workers=True,
              epochs="set_epoch", length=True, device_options=True)
FACTORS = ["batch_size", "world_size", "gradient_accumulation", "replication_factor", "device_iterations"]


class Loader:
    def __init__(self, request):
        for name in FACTORS:
            if type(getattr(request, name)) is not int or getattr(request, name) < 1:
                raise ValueError(f"bad {name}")
        if not 0 <= request.rank < request.world_size:
            raise ValueError("bad rank")
        self.request, self.epoch = request, 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def order(self):
        order = list(range(len(self.request.dataset)))
        if self.request.shuffle:
            random.Random(f"{self.request.seed}, {self.epoch}").shuffle(order)
        return order

    def shard(self, order):
        ranks = self.request.world_size
        whole = len(order) - len(order) % ranks if self.request.drop_last else len(order)
        return order[:whole][self.request.rank::ranks]

    def steps(self):
        shard, size = self.shard(self.order()), self.request.combined_batch
        steps = [shard[at:at + size] for at in range(0, len(shard), size)]
        return [step for step in steps if len(step) == size or not self.request.drop_last]

    def __len__(self):
        return len(self.steps())

    def __iter__(self):
        for step in self.steps():
            yield [self.request.dataset[index] for index in step]


def load(request):
    return Loader(request)
"""
_SHUFFLE = 'random.Random(f"{self.request.seed}, {self.epoch}").shuffle(order)'
_RETURN = "return order[:whole][self.request.rank::ranks]"
_LOAD = "    return Loader(request)"
_STEP = "for step in self.steps():"
_YIELD = "yield [self.request.dataset[index] for index in step]"
_KEPT = "or not self.request.drop_last"
_SEED = "{self.request.seed}, {self.epoch}"
_CLAIMS = 'when_keeping="uneven", layout="strided"'


def put(path: Path, text: str, mended: bool) -> Path:
    """Write an adapter. A mended one is younger: Python takes a source of the same size and second for the same."""
    path.write_text(text)
    if mended:
        written = path.stat().st_mtime
        os.utime(path, (written + 2, written + 2))
    return path


@dataclass(frozen=True)
class Fault:
    """A clause, the case in which it shows, and the change of the correct text that violates it.

    `claims` replaces the claims of the faulty loader and of the mended one. `spawned`: it takes another hash seed.
    """

    name: str
    clause: str
    case: str
    old: str
    new: str
    claims: str = _CLAIMS
    spawned: bool = False

    def write(self, path: Path, mended: bool = False) -> Path:
        """The adapter as a file, with the fault or without."""
        text = CORRECT.replace(_CLAIMS, self.claims)
        assert self.old in text
        return put(path, text if mended else text.replace(self.old, self.new, 1), mended)


_REMEMBERS = """\
    if len(FACTORS) > 5:
        raise RuntimeError("one loader is enough")
    FACTORS.append("batch_size")
"""
_EARLY_DIVISION = "1 / len(request.dataset)\n        self.request, self.epoch ="
_TURNS = 'FACTORS.append("batch_size")\n        return order[len(FACTORS) % 4::ranks]'
_BY_HASH = "order.sort(key=lambda index: hash(str(index)))"
_NEARBY = "order.sort(key=lambda index: index + hash((self.epoch, index)) % 9)"
_REVERSED = "steps.reverse()\n        return [step for"
_BY_WORKERS = "return order[self.request.num_workers:] + [0, 1]"
_ROTATED = 'at = random.Random(f"{self.request.seed}, {self.epoch}").randrange(3); order = order[at:] + order[:at]'
_EACH_SHARD = """shards = order[::2], order[1::2]
            for shard in shards:
                random.Random(f"{self.request.seed}, {self.epoch}").shuffle(shard)
            order[::2], order[1::2] = shards"""

FAULTS = [
    Fault("large-step", "BATCH-1", "n2,w1,b1,keep", "self.request.combined_batch", "2"),
    Fault("short-step-first", "BATCH-2", "n3,w1,b2,keep", "return [step for", _REVERSED),
    Fault("reversed-step", "BATCH-3", "n2,w1,b1,keep,g2", "for index in step]", "for index in reversed(step)]"),
    Fault("any-rank", "BATCH-4", "n4,w2,b1,keep,rank=2", "if not 0 <= request.rank", "if not 0 <= 0"),
    Fault("true", "BATCH-5", "n4,w1,b1,keep,batch_size=True", "type(getattr(request, name)) is not int", "False"),
    Fault("rest-as-step", "COUNT-1", "n1,w1,b2,drop", _KEPT, "or True"),
    Fault("rest-dropped", "COUNT-2", "n1,w1,b2,keep", _KEPT, "or False"),
    Fault("rest-of-a-large-step", "COUNT-3", "n1,w1,b1,drop,i2", _KEPT, "or True"),
    Fault("length", "COUNT-4", "n2,w1,b2,keep", "return len(self.steps())", "return len(self.order())"),
    Fault("unequal", "COUNT-5", "n1,w2,b1,drop", "if self.request.drop_last else", "if False else"),
    Fault("empty-refused", "COUNT-6", "n0,w1,b1,keep", "self.request, self.epoch =", _EARLY_DIVISION),
    Fault("hang", "COUNT-7", "n1,w1,b1,keep", _LOAD, "    import threading\n    threading.Event().wait()"),
    Fault("death", "COUNT-7", "n1,w1,b1,keep", _LOAD, "    import os\n    os._exit(0)"),
    Fault("endless", "COUNT-7", "n1,w1,b1,keep", _STEP, "while True:\n            step = [0]"),
    Fault("no-loader", "COUNT-7", "n1,w1,b1,keep", _LOAD, "    return None"),
    Fault("no-numbers", "COUNT-7", "n1,w1,b1,keep", _YIELD, 'yield "1000"'),
    Fault("raises-after-others", "COUNT-7", "n1,w1,b1,keep,after", _LOAD, _REMEMBERS + _LOAD),
    Fault("duplicate", "PART-1", "n1,w2,b1,keep", _RETURN, "return order"),
    Fault("unsaid-duplicate", "DRAW-6", "n1,w2,b1,keep", _RETURN, "return order", 'layout="strided"'),
    Fault("loss", "PART-2", "n1,w1,b1,keep", _RETURN, "return order[1:]"),
    Fault("loss-when-dropping", "PART-3", "n2,w2,b1,drop", _RETURN, "return []"),
    Fault("padding", "PART-4", "n1,w1,b1,keep", _RETURN, "return order * 3", 'when_keeping="pad"'),
    Fault("foreign", "PART-5", "n1,w1,b1,keep", "self.request.dataset[index] for", "index for"),
    Fault("unbalanced", "PART-6", "n4,w2,b4,keep", _RETURN, "return order[:3] if self.request.rank else order[3:]"),
    Fault("history", "PART-7", "n3,w2,b1,keep,after", _RETURN, _TURNS),
    Fault("left-out", "PART-8", "n3,w1,b2,drop,shuffle,e64", _SHUFFLE, "del order[2:]\n            " + _SHUFFLE),
    Fault("backwards", "ORDER-1", "n2,w1,b1,keep", _RETURN, "return order[::-1]"),
    Fault("runs", "ORDER-2", "n4,w2,b1,keep", _RETURN, "return order[2 * self.request.rank:][:2]"),
    Fault("repeats", "ORDER-3", "n20,w1,b1,keep,shuffle", _SHUFFLE, "order = random.Random(1).choices(order, k=20)"),
    Fault("ranks-disagree", "ORDER-4", "n20,w2,b1,keep,shuffle", _SEED, "{self.request.rank}"),
    Fault("hash-seed", "ORDER-5", "n20,w1,b1,keep,shuffle,again", _SHUFFLE, _BY_HASH, spawned=True),
    Fault("clock", "ORDER-5", "n20,w1,b1,keep,shuffle,again", _SHUFFLE, "random.Random().shuffle(order)"),
    Fault("jump", "ORDER-5", "n20,w1,b1,keep,shuffle,e2,jump", "self.epoch = epoch", "self.epoch += 1"),
    Fault("epoch-forgotten", "ORDER-6", "n13,w1,b1,keep,shuffle,e2", "self.epoch = epoch", "pass"),
    Fault("seed-forgotten", "ORDER-7", "n13,w1,b1,keep,shuffle,seed+1", "{self.request.seed}, ", ""),
    Fault("workers", "ORDER-8", "n4,w1,b1,keep,k2,workers", _RETURN, _BY_WORKERS),
    Fault("global-state", "ORDER-9", "n20,w1,b1,keep,shuffle,random-state", _SHUFFLE, "random.shuffle(order)"),
    Fault("reseeds", "ORDER-10", "n0,w1,b1,keep,random-state", _LOAD, "    random.seed(7)\n" + _LOAD),
    Fault("draws", "ORDER-11", "n0,w1,b1,keep,random-state", _LOAD, "    random.random()\n" + _LOAD),
    Fault("uneven", "ORDER-12", "n3,w1,b1,keep,shuffle,e50,x4", _SHUFFLE, _ROTATED),
    Fault("local", "ORDER-12", "n64,w1,b8,keep,shuffle,e10,x2", _SHUFFLE, _NEARBY),
    Fault("in-its-shard", "ORDER-13", "n8,w2,b1,keep,shuffle,e100,x2", _SHUFFLE, _EACH_SHARD),
    Fault("added", "ORDER-14", "n13,w1,b1,keep,shuffle,e2,seed+1", _SEED, "{self.request.seed + self.epoch}"),
]
