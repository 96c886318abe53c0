"""A loader that runs as a command and speaks the lines of specs/bridge.md. It imports nothing of loaderspec.

pytest conformance --impl="stdio:python specs/examples/bridge/loader.py"
"""

import hashlib
import json
import sys
from math import prod

CLAIMS = {
    "datasets": ["map", "iterable"],
    "when_dropping": "drop",
    "when_keeping": "uneven",
    "layout": "contiguous",
    "shuffle": "global",
    "length": True,
    "device_options": True,
    "iterable_workers": "split",
    "resume": True,
    "end_of_epoch": "next",
}
FACTORS = ("batch_size", "gradient_accumulation", "replication_factor", "device_iterations")


class Loader:
    """One rank's loader. `epoch` and `skip` say where the next iterator begins; `going` is the latest one."""

    def __init__(self, asked):
        for name in (*FACTORS, "world_size"):
            if type(asked[name]) is not int or asked[name] < 1:
                raise ValueError(f"{name} is {asked[name]}, but must be a whole number of at least 1")
        if type(asked["rank"]) is not int or not 0 <= asked["rank"] < asked["world_size"]:
            raise ValueError(f"rank is {asked['rank']}, but must be one of 0 to {asked['world_size'] - 1}")
        self.asked, self.step = asked, prod(asked[name] for name in FACTORS)
        self.epoch, self.skip, self.going = 0, 0, None

    def order(self):
        """The numbers of the samples; shuffled, by the hash of (seed, epoch, number)."""
        numbers, start = range(self.asked["samples"]), f"{self.asked['seed']} {self.epoch}"
        if not self.asked["shuffle"]:
            return numbers
        return sorted(numbers, key=lambda number: hashlib.sha256(f"{start} {number}".encode()).digest())

    def shard(self):
        """The samples of this rank: one run of the order."""
        n, ranks, rank = self.asked["samples"], self.asked["world_size"], self.asked["rank"]
        size, rest = divmod(n, ranks)
        if self.asked["drop_last"]:
            size, rest = n // (ranks * self.step) * self.step, 0
        start = rank * size + min(rank, rest)
        return self.order()[start : start + size + (rank < rest)]

    def length(self):
        """The steps of an epoch; None of a stream."""
        return None if self.asked["samples"] is None else -(-len(self.shard()) // self.step)

    def iterator(self):
        """An iterator over what is left of the epoch."""
        self.going = Steps(self, self.skip)
        self.skip = 0
        return self.going

    def set_epoch(self, epoch):
        """The epoch that is read next. That of a loaded state changes nothing."""
        if epoch != self.epoch:
            self.epoch, self.skip, self.going = epoch, 0, None

    def state(self):
        """Where it is, and of which request that is true."""
        names = ("samples", "batch_size", "world_size", "seed", "shuffle", "drop_last")
        taken = self.going.taken if self.going else self.skip
        return {"epoch": self.epoch, "taken": taken, "of": [self.asked[name] for name in names]}

    def restore(self, state):
        """Go on from a state of the same request."""
        if state["of"] != self.state()["of"]:
            raise ValueError(f"the state is of {state['of']}, but this loader of {self.state()['of']}")
        self.epoch, self.skip, self.going = state["epoch"], state["taken"], None


class Steps:
    """One iterator: which step comes next, and where that is read from."""

    def __init__(self, loader, taken):
        self.asked, self.step, self.taken = loader.asked, loader.step, taken
        if self.asked["samples"] is not None:
            self.shard = loader.shard()
            return
        self.stream = ask({"stream": True})["stream"]
        skipped = taken * self.step * self.asked["world_size"]
        if skipped:
            ask({"pull": self.stream, "count": skipped})

    def next(self):
        """The handles of the next step; [] at the end."""
        if self.asked["samples"] is not None:
            numbers = self.shard[self.taken * self.step : (self.taken + 1) * self.step]
            step = ask({"read": list(numbers)})["samples"] if numbers else []
        else:
            # A round is one element for each rank; this rank's own one is delivered.
            ranks, rank = self.asked["world_size"], self.asked["rank"]
            step = ask({"pull": self.stream, "count": self.step * ranks})["samples"][rank::ranks]
            step = [] if self.asked["drop_last"] and len(step) < self.step else step
        self.taken += bool(step)
        return step


class Raised(Exception):
    """A sample has raised. What it was the suite knows by its handle."""


def ask(question):
    """Ask the suite for samples, while an order of its own waits for an answer."""
    print(json.dumps(question), flush=True)
    answer = json.loads(sys.stdin.readline())
    if "raised" in answer:
        raise Raised(answer["raised"])
    return answer


loaders, iterators = {}, {}


def answered(order):
    """The answer to an order."""
    op, loader, it = order["op"], loaders.get(order.get("loader")), order.get("it")
    if op == "start":
        return {"version": 1, "name": "an example", "claims": CLAIMS, "has": ["len", "set_epoch", "state"]}
    if op == "open":
        loaders[order["loader"]] = Loader(order["request"])
    elif op == "len":
        return {"unknown": True} if loader.length() is None else {"len": loader.length()}
    elif op == "set_epoch":
        loader.set_epoch(order["epoch"])
    elif op == "iter":
        iterators[it] = loader.iterator()
    elif op == "next":
        step = iterators[it].next()
        return {"step": step} if step else {"end": True}
    elif op == "state":
        return {"state": loader.state()}
    elif op == "restore":
        loader.restore(order["state"])
    elif op == "drop":
        iterators.pop(it, None)
    elif op == "close":
        loaders.pop(order["loader"], None)
    return {}


for line in sys.stdin:
    try:
        answer = answered(json.loads(line))
    except Raised as error:
        answer = {"raised": error.args[0]}
    except Exception as error:
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), flush=True)
