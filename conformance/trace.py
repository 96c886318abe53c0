"""What was delivered: decides the plain data that every judge reads.

A trace is what a run of an implementation left behind: rank by rank, epoch by epoch, step by step, the indices of
the samples. It goes to JSON and back, so that a judge can't tell a live run from a file.
"""

import dataclasses
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

# raised: an exception; hung: no answer within the patience; died: the process ended; endless: far more samples than the
# dataset holds; undecodable: a batch that holds no sample ids; unusable: `load` gave something that can't be iterated.
FailureKind = Literal["raised", "hung", "died", "endless", "undecodable", "unusable"]
Where = Literal[
    "load", "set_epoch", "len", "iter", "step", "close", "state_dict", "load_state_dict", "model", "launch", "train"
]
# What a remark is about, in a word of the one that wrote it down; the judges of the same chapter read it.
Topic = str


class Scenario(Protocol):
    """One case: frozen plain data, which its code alone replays. What else it has, its own chapter knows."""

    @property
    def code(self) -> str:
        """The case as a short word without spaces, for file names and `--case`."""
        ...

    @property
    def size(self) -> tuple[Any, ...]:
        """What cases are compared by when the smallest is looked for."""
        ...

    @property
    def waits(self) -> int:
        """How long a run waits, 0 if it does not: those that wait run side by side, the longest first."""
        ...

    def describe(self) -> str:
        """The case in the words of a report: ``1 sample, 2 ranks, micro-batch 1, drop_last=False``."""
        ...

    def fields(self) -> dict[str, Any]:
        """The case as JSON stores it, under the names of FIELDS."""
        ...


# The names under which JSON stores a scenario (schema 1), whatever it is about, and the value of those that it lacks.
FIELDS: Mapping[str, Any] = {
    "samples": 0,
    "world_size": 1,
    "batch_size": 1,
    "gradient_accumulation": 1,
    "replication_factor": 1,
    "device_iterations": 1,
    "drop_last": False,
    "shuffle": False,
    "num_workers": 0,
    "epochs": 1,
    "seed": 0,
    "variant": "none",
    "refusal": "",
    "seeds": 1,
    "dataset": "map",
    "fault": "",
    "conduct": "",
    "kind": "",
    "asynchronous": False,
    "buffer_size": 0,
    "early_preload": False,
    "load_indefinitely": True,
    "rebatched": False,
    "persistent_workers": False,
    "subject": "",
    "details": "",
}
# By the field `subject`: what makes a scenario of stored fields. Each kind of scenario puts its own maker here.
SUBJECTS: dict[str, Callable[[Mapping[str, Any]], Scenario]] = {}


@dataclass(frozen=True)
class Failure:
    """How a rank's run ended before its time, and in which call."""

    kind: FailureKind
    where: Where
    message: str
    epoch: int | None = None

    def sentence(self) -> str:
        """The failure in the words of the report, for example ``raised ValueError: bad rank (in load)``."""
        # "raised ValueError: bad rank" has its colon; "hung: no answer within 10 s" needs one.
        told = f"{'' if self.kind == 'raised' else ':'} {self.message}" if self.message else ""
        return f"{self.kind}{told} (in {self.where})"


UNASKED = "unasked"  # the length of an epoch for which nobody has asked


@dataclass(frozen=True)
class Epoch:
    """One pass of one rank: its number, `len(loader)` just before it, and the sample indices of each step.

    `length` is an int, or the name of the exception that `len` raised, or None where the loader has no length; UNASKED
    where it was not asked for.
    `left`: the consumer left it early. `failure`: how it ended, where a scenario goes on after that.
    """

    number: int
    steps: tuple[tuple[int, ...], ...]
    length: int | str | None = None
    left: bool = False
    failure: Failure | None = None

    def is_as_long_as(self, other: "Epoch") -> bool:
        """Whether `len()` was the same before both, as far as it was asked for."""
        return self.length == other.length or UNASKED in (self.length, other.length)

    @property
    def samples(self) -> tuple[int, ...]:
        """All sample indices of the epoch, in the order of delivery."""
        return tuple(index for step in self.steps for index in step)


@dataclass(frozen=True)
class Read:
    """One read of one sample, as the dataset saw it.

    `process` numbers the processes of a rank, 0 is the one that iterates. `worker` is (id, number of workers, seed,
    whether the worker's dataset is this one), or None. `draws` are random numbers, one a library, drawn at the read.
    """

    epoch: int
    index: int
    process: int
    worker: tuple[int, int, int, bool] | None = None
    draws: tuple[int, ...] = ()


@dataclass(frozen=True)
class RandomState:
    """Digests of one library's global generator before a rank's run and after it, or while it holds a step."""

    library: str
    before: str
    after: str
    held: bool = False


@dataclass(frozen=True)
class Value:
    """What a model holds or gives, and what it should be: a name, a shape, and the numbers, last axis fastest."""

    name: str
    shape: tuple[int, ...]
    numbers: tuple[float, ...]


@dataclass(frozen=True)
class Saved:
    """A state of a loader, pickled, and whether the epoch in which it was taken had come to its end.

    `later`, where a scenario asks for that, is the same state pickled when the loader had gone on to the end, one of
    the next epoch, or the one that was taken just before. `workdir` is the folder of the process: a job that is
    started again finds its files where they were.
    """

    blob: bytes
    at_the_end: bool = False
    later: bytes = b""
    workdir: str = ""


@dataclass(frozen=True)
class RankRun:
    """What one rank delivered, and how it ended. `values` are those of a model, `epochs` those of a loader.

    `saved` is for the next run of the same scenario, and does not go into a trace.
    """

    rank: int
    epochs: tuple[Epoch, ...]
    failure: Failure | None = None
    random_states: tuple[RandomState, ...] = ()
    reads: tuple[Read, ...] = ()
    remarks: tuple[tuple[Topic, str], ...] = ()
    values: tuple[Value, ...] = ()
    saved: Saved | None = None

    @property
    def is_gone(self) -> bool:
        """Whether its process hung or died, so that nothing is known of what came before."""
        return self.failure is not None and self.failure.kind in ("hung", "died")

    def value(self, name: str) -> Value | None:
        """The value of this name, if there is one."""
        return next((value for value in self.values if value.name == name), None)

    def remark(self, topic: Topic) -> str:
        """What was remarked about a topic, or ""."""
        return next((text for about, text in self.remarks if about == topic), "")


@dataclass(frozen=True)
class Run:
    """All ranks of one request. `name` tells what was changed against the scenario ("main": nothing)."""

    name: str
    ranks: tuple[RankRun, ...]

    @property
    def failed(self) -> bool:
        """Whether any rank ended before its time."""
        return any(rank.failure for rank in self.ranks)

    @property
    def saved(self) -> tuple[Saved, ...]:
        """The states that were taken, if one was taken on each rank and none failed."""
        saved = tuple(rank.saved for rank in self.ranks if rank.saved is not None)
        return saved if len(saved) == len(self.ranks) and not self.failed else ()

    def epoch(self, position: int) -> tuple[Epoch, ...]:
        """The epoch at `position` of every rank, rank 0 first."""
        return tuple(rank.epochs[position] for rank in self.ranks)


@dataclass(frozen=True)
class Trace:
    """Everything observed of one scenario: the main run first, then its variants."""

    scenario: Any  # a Scenario; a judge knows which kind
    runs: tuple[Run, ...]
    # The families whose runs are among them that a clause in doubt wants to see before it accuses.
    doubted: frozenset[str] = frozenset()

    @property
    def main(self) -> Run:
        """The run of the scenario as it stands."""
        return self.runs[0]

    @property
    def hung(self) -> bool:
        """Whether any rank of any run gave no answer."""
        return any(rank.failure and rank.failure.kind == "hung" for run in self.runs for rank in run.ranks)

    def variant(self, name: str) -> Run | None:
        """The run that changed what `name` says, if the scenario asked for it."""
        return next((run for run in self.runs[1:] if run.name == name), None)


def to_json(trace: Trace) -> str:
    """The trace as one line of JSON."""
    runs = [dataclasses.asdict(run) for run in trace.runs]
    return json.dumps({"scenario": trace.scenario.fields(), "runs": runs}, separators=(",", ":"))


def from_json(text: str) -> Trace:
    """The trace that `to_json` wrote. ValueError if the text is not one."""
    try:
        data = json.loads(text)
        runs = tuple(Run(run["name"], tuple(_rank(rank) for rank in run["ranks"])) for run in data["runs"])
        return Trace(_scenario(data["scenario"]), runs)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"this text is not a trace ({error}); write one with conformance.trace.to_json") from error


def _scenario(fields: dict[str, Any]) -> Scenario:
    subject = fields.get("subject", "")
    if subject not in SUBJECTS:
        known = ", ".join(map(repr, SUBJECTS)) or "none"
        raise ValueError(f"its subject is {subject!r}, and known are {known}: import conformance.clauses first")
    return SUBJECTS[subject](fields)


def _rank(data: dict[str, Any]) -> RankRun:
    return RankRun(
        data["rank"],
        tuple(_epoch(epoch) for epoch in data["epochs"]),
        _failure(data["failure"]),
        tuple(RandomState(**state) for state in data["random_states"]),
        tuple(_read(read) for read in data["reads"]),
        tuple((topic, text) for topic, text in data["remarks"]),
        tuple(Value(each["name"], tuple(each["shape"]), tuple(each["numbers"])) for each in data["values"]),
    )


def _epoch(data: dict[str, Any]) -> Epoch:
    steps = tuple(tuple(step) for step in data["steps"])
    return Epoch(data["number"], steps, data["length"], data["left"], _failure(data["failure"]))


def _failure(data: dict[str, Any] | None) -> Failure | None:
    return Failure(**data) if data else None


def _read(data: dict[str, Any]) -> Read:
    worker = tuple(data["worker"]) if data["worker"] else None
    return Read(data["epoch"], data["index"], data["process"], worker, tuple(data["draws"]))
