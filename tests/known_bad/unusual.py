"""Correct loaders of unusual kinds, of which a judge once accused most; each is read where that judge looks."""

import os
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from tests.known_bad.ahead import AHEAD, Ahead
from tests.known_bad.correct import Correct, claim
from tests.known_bad.order import SHUFFLING
from tests.known_bad.pool import POOL, Pool, Skipping
from tests.known_bad.resuming import STEADY, Resuming

FREE = dict(datasets=("map", "iterable"))
TROUBLE = ("life", "samples", "killed")


class InADictBesideNothing(Pool):
    """A batch is a dict of its samples and None, which the adapter knows how to read (WORK-16, WORK-17)."""

    claims: ClassVar[dict[str, Any]] = FREE
    families: ClassVar[tuple[str, ...]] = TROUBLE

    def collate(self, samples: list[Any]) -> Any:
        """A step, with a mask that says nothing."""
        return {"samples": samples, "mask": None}

    @staticmethod
    def decode(batch: Any) -> Any:
        """The samples of a batch."""
        return batch["samples"]


class WritesItsSamplesOnce(Correct):
    """All samples are written into the folder when they are first asked for, and read from there ever after."""

    claims: ClassVar[dict[str, Any]] = {}
    families: ClassVar[tuple[str, ...]] = TROUBLE

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        path = Path(request.workdir, "samples.pickle")
        if not path.exists():
            # ERROR-3: no comprehension, which a StopIteration of the dataset would leave as one.
            samples = [self.own(request.dataset[index]) for index in range(len(request.dataset))]
            unfinished = path.with_suffix(f".{os.getpid()}")
            unfinished.write_bytes(pickle.dumps(samples))
            unfinished.replace(path)
        self.path = path

    def policy(self) -> str:
        """What becomes of the rest, though nobody is told."""
        return "uneven"

    def fetch(self, step: list[int]) -> list[Any]:
        """The samples of a step, from the file."""
        samples = pickle.loads(self.path.read_bytes())
        return [samples[index] for index in step]


class DropsTheRestAlways(Correct):
    """The rest is dropped whatever is asked for, and nothing is claimed of an epoch that keeps it (WORK-12 to 14)."""

    claims: ClassVar[dict[str, Any]] = dict(when_dropping="drop")
    families: ClassVar[tuple[str, ...]] = TROUBLE

    def policy(self) -> str:
        """What becomes of the rest, though nobody is told."""
        return "drop"

    def cut(self, shard: list[int]) -> list[list[int]]:
        """Full steps, or one of all where there is no full one: something must come of three samples."""
        size = min(self.request.combined_batch, max(1, len(shard)))
        return [shard[start : start + size] for start in range(0, len(shard) - size + 1, size)]


class AsTheyAreReady(Pool):
    """Steps, and the samples in them, come in the order of completion, which is the reverse one (WORK-17)."""

    claims: ClassVar[dict[str, Any]] = dict(FREE, in_order=False)
    families: ClassVar[tuple[str, ...]] = TROUBLE

    def collate(self, samples: list[Any]) -> Any:
        """A step, its last sample first."""
        return samples[::-1]


class InTuples(Pool):
    """A batch is a tuple of its samples, unless these are tuples themselves (WORK-17)."""

    claims: ClassVar[dict[str, Any]] = FREE
    families: ClassVar[tuple[str, ...]] = TROUBLE

    def collate(self, samples: list[Any]) -> Any:
        """A step in a tuple, where nobody can take that for columns."""
        return samples if isinstance(samples[0], tuple) else tuple(samples)


class ReadsOnceMore(Skipping):
    """A sample that can't be read is read once more, and left out only then (ERROR-3, ERROR-8)."""

    claims: ClassVar[dict[str, Any]] = dict(errors="skip")
    families: ClassVar[tuple[str, ...]] = TROUBLE

    def fetch(self, step: list[int]) -> list[Any]:
        """The samples of a step that can be read, some at the second attempt."""
        found: list[Any] = []
        for index in step:
            found += super().fetch([index]) or super().fetch([index])
        return found


@dataclass(frozen=True, slots=True)
class Augmented:
    """A dataset around another one, without a `__dict__`."""

    inner: Any

    def __len__(self) -> int:
        return len(self.inner)

    def __getitem__(self, index: int) -> Any:
        return self.inner[index]


class WrapsItsDataset(Pool):
    """The dataset that workers are told of is a wrapper with slots (WORK-7)."""

    claims: ClassVar[dict[str, Any]] = claim(POOL, datasets=("map",), iterable_workers=None, hooks=None)
    families: ClassVar[tuple[str, ...]] = ("workers",)

    def inform(self, number: int) -> None:
        """Let torch's get_worker_info() know."""
        self.present(number, self.workers, self.worker_seed(number), Augmented(self.request.dataset))


class KeepsWhatItHasRead(Ahead):
    """Each sample is read once, and every later epoch is made of what was kept (ASYNC-5)."""

    claims: ClassVar[dict[str, Any]] = claim(
        AHEAD, datasets=("map",), iterable_workers=None, workers=None, hooks=("load_indefinitely",)
    )
    families: ClassVar[tuple[str, ...]] = ("async",)

    def __init__(self, request: Any) -> None:
        self.kept: dict[int, Any] = {}
        super().__init__(request)

    def fetch(self, step: list[int]) -> list[Any]:
        """The samples of a step, read if they were not before."""
        for index in step:
            if index not in self.kept:
                self.kept[index] = self.own(self.request.dataset[index])
        return [self.own(self.kept[index]) for index in step]


class ExplainsAtLength(Ahead):
    """What does not fit is an error of several lines, and the second one names the item (ASYNC-11)."""

    claims: ClassVar[dict[str, Any]] = claim(AHEAD, datasets=("map",), iterable_workers=None, workers=None, hooks=None)
    families: ClassVar[tuple[str, ...]] = ("async",)

    def read(self) -> Iterator[Any]:
        """The steps of an epoch, of which each sample is like the first."""
        first: Any = None
        for number, step in enumerate(super().read()):
            here = getattr(step[0], "dtype", None), getattr(step[0], "shape", None)
            first = first or here
            if here != first:
                raise ValueError(f"a sample can't be put into its slot:\n  item {number} of this epoch has {here}")
            yield step


class WantsItsLoopsFinished(Pool):
    """Once a loop was left early, another one is refused (WORK-12)."""

    claims: ClassVar[dict[str, Any]] = FREE
    families: ClassVar[tuple[str, ...]] = TROUBLE
    left = False

    def __iter__(self) -> Iterator[Any]:
        if self.left:
            raise RuntimeError("the last loop was left early; make a new loader")
        self.left = True
        yield from super().__iter__()
        self.left = False


class DropsTheRestAhead(Ahead):
    """Reads ahead, and drops the rest whatever is asked for (ASYNC-6)."""

    claims: ClassVar[dict[str, Any]] = dict(when_dropping="drop", asynchronous=True)
    families: ClassVar[tuple[str, ...]] = ("async",)

    def policy(self) -> str:
        """What becomes of the rest, though nobody is told."""
        return "drop"

    def cut(self, shard: list[int]) -> list[list[int]]:
        """Full steps, or one of all where there is no full one."""
        size = min(self.request.combined_batch, max(1, len(shard)))
        return [shard[start : start + size] for start in range(0, len(shard) - size + 1, size)]


class CallsEachStep:
    """A loader with `__getitem__` alone: Python's old protocol, which ends at an IndexError (ERROR-3)."""

    claims: ClassVar[dict[str, Any]] = {}
    families: ClassVar[tuple[str, ...]] = TROUBLE

    @classmethod
    def load(cls, request: Any) -> "CallsEachStep":
        """The adapter's function."""
        return cls(request)

    def __init__(self, request: Any) -> None:
        self.request = request
        order = range(len(request.dataset))[request.rank :: request.world_size]
        self.steps = [order[at : at + request.batch_size] for at in range(0, len(order), request.batch_size)]

    def __getitem__(self, number: int) -> list[Any]:
        step = self.steps[number]
        try:
            return [Correct.own(None, self.request.dataset[index]) for index in step]  # type: ignore[arg-type]
        except (IndexError, StopIteration) as error:
            raise LookupError(f"step {number} can't be read: {error}") from error


class TakesSeedsOfThirtyTwoBits(Correct):
    """A seed that NumPy would not take is refused (ORDER-7, COUNT-7)."""

    claims: ClassVar[dict[str, Any]] = SHUFFLING
    families: ClassVar[tuple[str, ...]] = ("map",)

    def check(self, request: Any) -> None:
        """Refuse what can't be asked for."""
        super().check(request)
        if request.seed >= 2**32:
            raise ValueError(f"the seed is {request.seed}, and must be below 2**32")


class IsSpentByAnError(Correct):
    """After an error `iter()` refuses, so that nobody asks for a length (WORK-14, WORK-21)."""

    claims: ClassVar[dict[str, Any]] = dict(length=True, when_dropping="drop", when_keeping="uneven", layout="strided")
    families: ClassVar[tuple[str, ...]] = ("lives",)
    failed = False

    def __iter__(self) -> Iterator[Any]:
        if self.failed:
            raise RuntimeError("a sample has failed: make another loader")
        return self.reading(super().__iter__())

    def reading(self, steps: Iterator[Any]) -> Iterator[Any]:
        """The steps, up to an error."""
        try:
            yield from steps
        except Exception:
            self.failed = True
            raise


class IsClosedForGood(Pool):
    """Once it is closed, its iterators raise, and so does iter() (WORK-15)."""

    claims: ClassVar[dict[str, Any]] = FREE
    families: ClassVar[tuple[str, ...]] = TROUBLE
    closed = False

    def __iter__(self) -> Iterator[Any]:
        for batch in super().__iter__():
            if self.closed:
                raise RuntimeError("this loader is closed")
            yield batch

    def close(self) -> None:
        """End all workers of all epochs."""
        self.closed = True
        super().close()


class RefusesStatesUnderWay(Resuming):
    """A state is refused while an epoch is being read (RESUME-9)."""

    claims: ClassVar[dict[str, Any]] = STEADY
    families: ClassVar[tuple[str, ...]] = ("resume",)

    def load_state_dict(self, state: Any) -> None:
        """Go on from there, if nothing else is going on."""
        if self.begun and not self.ended:
            raise RuntimeError("an epoch is being read; load the state before it, or after it")
        super().load_state_dict(state)


UNUSUAL: tuple[type[Any], ...] = (
    InADictBesideNothing,
    WritesItsSamplesOnce,
    DropsTheRestAlways,
    AsTheyAreReady,
    InTuples,
    ReadsOnceMore,
    WrapsItsDataset,
    KeepsWhatItHasRead,
    ExplainsAtLength,
    WantsItsLoopsFinished,
    DropsTheRestAhead,
    CallsEachStep,
    TakesSeedsOfThirtyTwoBits,
    IsClosedForGood,
    RefusesStatesUnderWay,
)
