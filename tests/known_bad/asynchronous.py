"""Loaders that read ahead and let their consumer feel it (chapter 5): what comes, how far, and how errors arrive."""

from collections.abc import Iterator
from time import monotonic
from typing import Any

import numpy as np

from tests.known_bad.ahead import AheadInAProcess, BadAhead, Delivery, Loading
from tests.known_bad.pool import Worker

# Map-style and without workers: what is wrong here is wrong without them.
PLAIN = dict(asynchronous=True, epochs="set_epoch")
SHUFFLED = dict(PLAIN, shuffle="global")
POOLED = dict(PLAIN, workers=True)
STREAMED = dict(asynchronous=True, datasets=("iterable",), workers=True, iterable_workers="split", hooks=("rebatched",))
FAMILY = ("async",)


def with_hook(name: str, **claims: Any) -> dict[str, Any]:
    """The plain claims and a hook."""
    return dict(PLAIN, hooks=(name,), **claims)


# --- the same steps -------------------------------------------------------------------------------------------------


class LosesItsLastFullStep(BadAhead):
    """Reading ahead, the last step is taken for an incomplete one under drop_last."""

    claims, families = PLAIN, FAMILY
    clause, smallest = "ASYNC-1", "n1,w1,b1,drop,async,synchronous"
    report = "ray-project/ray#18266"

    def cut(self, shard: list[int]) -> list[list[int]]:
        steps = super().cut(shard)
        return steps[:-1] if self.is_asynchronous and self.request.drop_last else steps


class ForgetsItsRank(BadAhead):
    """What reads ahead is made before the rank is known, and reads that of rank 0. (No public report.)"""

    claims, families = PLAIN, FAMILY
    clause, smallest = "ASYNC-1", "n1,w2,b1,keep,async,synchronous"

    def shard(self, order: list[int]) -> list[int]:
        ranks = self.request.world_size
        return order[::ranks] if self.is_asynchronous else super().shard(order)


class ThrowsAwayWhatIsStale(BadAhead):
    """A step that has waited for a tenth of a second is not what the consumer wants any more."""

    claims, families = PLAIN, FAMILY
    clause, smallest, related = "ASYNC-1", "n2,w1,b1,keep,async,look@0,synchronous", ("ASYNC-7",)
    report = "OpenRLHF/OpenRLHF#1320"

    def deliver(self, loading: Loading) -> Delivery:
        return Impatient(self, loading)


class Impatient(Delivery):
    """Forgets what is ready when its consumer was away for long."""

    since = 0.0

    def __next__(self) -> Any:
        away = monotonic() - self.since if self.since else 0.0
        with self.loading.changed:
            while away > 0.1 and self.loading.ready and self.loading.ready[0][0] == "batch":
                self.loading.ready.popleft()
            self.loading.changed.notify_all()
        batch = super().__next__()
        self.since = monotonic()
        return batch


class ReadsTheEpochThatEnded(BadAhead):
    """What is begun at the end of an epoch has that one's shuffle, not the next one's. (No public report.)"""

    claims, families = SHUFFLED, FAMILY
    clause, smallest = "ASYNC-1", "n4,w1,b1,keep,shuffle,e2,async,synchronous"

    def at_the_end(self, epoch: int) -> None:
        self.early = self.begin(epoch)
        self.early.epoch += 1


# --- what is held, and how far it reads -----------------------------------------------------------------------------


class FreesASlotOnReading(BadAhead):
    """A slot is free once its step was handed over, and is filled while the consumer looks at it."""

    claims, families = dict(PLAIN, aliases=True), FAMILY
    clause, smallest = "ASYNC-2", "n3,w1,b1,keep,async,kill@0,look@0"
    report = "scitix/InstantTensor#9"

    def read(self) -> Iterator[Any]:
        # One more would do: for the step that is held.
        slots: list[list[Any]] = [[] for _ in range(self.room)]
        for number, step in enumerate(super().read()):
            slot = slots[number % self.room] if isinstance(step[0], int) else []
            slot[:] = step
            yield slot


class ReadsOn(BadAhead):
    """The queue has no bound."""

    claims, families = with_hook("buffer_size"), FAMILY
    clause, smallest = "ASYNC-3", "n3,w1,b1,keep,e2,a1,async,look@0,synchronous"
    report = "facebookresearch/detectron2#3847"

    @property
    def room(self) -> int:
        return 1000


class CountsWhatIsReadyOnly(BadAhead):
    """A step that was read waits beside the full queue. (No public report.)"""

    claims, families = with_hook("buffer_size"), FAMILY
    clause, smallest = "ASYNC-3", "n4,w1,b1,keep,a1,async,look@0,synchronous"

    @property
    def room(self) -> int:
        return super().room + 1


class LetsItsWorkersReadOn(BadAhead):
    """The queue has a bound, and the pipes from the workers have none. (No public report.)"""

    claims, families = dict(POOLED, hooks=("buffer_size",)), FAMILY
    clause, smallest = "ASYNC-3", "n4,w1,b1,keep,k1,e2,a1,async,look@0,synchronous"

    def may_read(self, worker: int) -> bool:
        return True


class IsNeverEarly(BadAhead):
    """early_preload is accepted and forgotten. (No public report.)"""

    claims, families, awaits = with_hook("early_preload"), FAMILY, 1.0
    clause, smallest = "ASYNC-4", "n1,w1,b1,keep,async,early,before"

    @property
    def preloads(self) -> bool:
        return False


class IsAlwaysEarly(BadAhead):
    """The buffer is filled when the loader is made, whether that is asked for or not. (No public report.)"""

    claims, families = with_hook("early_preload"), FAMILY
    clause, smallest = "ASYNC-4", "n3,w1,b1,keep,async,before"

    @property
    def preloads(self) -> bool:
        return True


class WaitsForTheNextEpoch(BadAhead):
    """load_indefinitely is accepted and forgotten. (No public report.)"""

    claims, families, awaits = with_hook("load_indefinitely"), FAMILY, 1.0
    clause, smallest = "ASYNC-5", "n1,w1,b1,keep,e2,async,between"

    def at_the_end(self, epoch: int) -> None:
        pass


class AlwaysGoesOn(BadAhead):
    """The next epoch is begun at the end of each, also where that is not wanted. (No public report.)"""

    claims, families = with_hook("load_indefinitely"), FAMILY
    clause, smallest = "ASYNC-5", "n1,w1,b1,keep,async,once,between"

    def at_the_end(self, epoch: int) -> None:
        self.early = self.begin(epoch + 1)


# --- begun again ----------------------------------------------------------------------------------------------------


class KeepsItsQueue(BadAhead):
    """What was ready when an epoch was left comes first in the next one."""

    claims, families = PLAIN, FAMILY
    clause, smallest = "ASYNC-6", "n2,w1,b1,keep,async,restart@1,synchronous"
    report = "pytorch/pytorch#9655"
    going: Any = None

    def wanted(self) -> Loading:
        left, loading = self.going, super().wanted()
        with loading.changed:
            loading.changed.wait_for(lambda: loading.ready)
            for word in reversed(left.ready if left and left.taken else ()):
                if word[0] == "batch":
                    loading.ready.appendleft(word)
        self.going = loading
        return loading


class TakesWhatWasBegunEarly(BadAhead):
    """The epoch that was begun at the end of the last one is given, whatever set_epoch has said. (No public report.)"""

    claims, families = SHUFFLED, FAMILY
    clause, smallest = "ASYNC-6", "n2,w1,b1,keep,shuffle,e3,async,restart@3,synchronous"

    def wanted(self) -> Loading:
        early, self.early = self.early, None
        return early or self.begin(self.epoch)


class GoesOnWhereItIs(BadAhead):
    """iter() in mid-epoch gives the iterator that there is."""

    claims, families = PLAIN, FAMILY
    clause, smallest = "ASYNC-6", "n1,w1,b1,keep,async,restart@1,synchronous"
    report = "FluxML/Flux.jl#1227"
    going: Any = None

    def reader(self, epoch: int) -> Iterator[Any]:
        # A copy that knew the iterator would keep it alive.
        going, self.going = self.going, None
        try:
            return super().reader(epoch)
        finally:
            self.going = going

    def deliver(self, loading: Loading) -> Delivery:
        if self.going is None or self.going.ended:
            self.going = super().deliver(loading)
        else:
            loading.stop()
        return self.going  # type: ignore[no-any-return]


class IsSpentAfterAnError(BadAhead):
    """After an error nothing is read any more, and every later epoch is empty."""

    claims, families = PLAIN, FAMILY
    clause, smallest = "ASYNC-6", "n1,w1,b1,keep,e2,async,raise@0"
    report = "pytorch/pytorch#48370"
    spent = False

    def deliver(self, loading: Loading) -> Delivery:
        return Spent(self, loading)


class Spent(Delivery):
    """Ends at once if an epoch of its loader has failed."""

    def __next__(self) -> Any:
        if self.loader.spent:
            raise StopIteration
        try:
            return super().__next__()
        except ValueError:
            self.loader.spent = True
            raise


# --- errors ---------------------------------------------------------------------------------------------------------


class EndsWithItsThread(BadAhead):
    """An error ends the thread that reads, and the consumer sees the end of the epoch."""

    claims, families = PLAIN, FAMILY
    clause, smallest = "ASYNC-7", "n1,w1,b1,keep,async,raise@0"
    report = "pytorch/pytorch#59312"

    def read(self) -> Iterator[Any]:
        try:
            yield from super().read()
        except ValueError:
            return


class WaitsForADeadThread(BadAhead):
    """An error ends the thread that reads, and the consumer waits for ever."""

    claims, families, patience, grace = PLAIN, FAMILY, 2.0, 0.3
    clause, smallest = "ASYNC-7", "n1,w1,b1,keep,async,raise@0"
    report = "pytorch/pytorch#24927"

    def deliver(self, loading: Loading) -> Delivery:
        return Patient(self, loading)


class Patient(Delivery):
    """Never hears of an error."""

    def __next__(self) -> Any:
        try:
            return super().__next__()
        except ValueError:
            return self.loading.take()


class RaisesBeforeItsTurn(BadAhead):
    """The first error among what is ready is raised at once, and the steps before it are lost."""

    claims, families = PLAIN, FAMILY
    clause, smallest = "ASYNC-7", "n2,w1,b1,keep,async,raise@1"
    report = "OpenRLHF/OpenRLHF#1320"

    def wanted(self) -> Loading:
        loading = super().wanted()
        with loading.changed:
            loading.changed.wait_for(lambda: len(loading.ready) >= self.room or self.is_over(loading))
            errors = [word for word in loading.ready if word[0] == "error"]
            if errors:
                loading.ready.clear()
                loading.ready.extend(errors)
        return loading

    def is_over(self, loading: Loading) -> bool:
        """Whether no more will come."""
        return bool(loading.ready) and loading.ready[-1][0] != "batch"


class QuotesErrors(BadAhead):
    """An error comes as a RuntimeError with its text."""

    claims, families = PLAIN, FAMILY
    clause, smallest = "ASYNC-7", "n1,w1,b1,keep,async,raise@0"
    report = "pytorch/pytorch#34130"

    def read(self) -> Iterator[Any]:
        try:
            yield from super().read()
        except ValueError as error:
            raise RuntimeError(f"while reading ahead: {error}") from error


class TakesADeadProcessForTheEnd(AheadInAProcess, BadAhead):
    """When the process that reads ahead is killed, the epoch is over."""

    claims, families = PLAIN, FAMILY
    clause, smallest = "ASYNC-7", "n1,w1,b1,keep,async,kill@0"
    report = "RolnickLab/ami-data-companion#140"

    def receive(self, worker: Worker) -> tuple[str, Any]:
        kind, value = super().receive(worker)
        return ("end", None) if isinstance(value, RuntimeError) and "died" in str(value) else (kind, value)


# --- rebatching, length, samples that differ ------------------------------------------------------------------------


class DropsInEachWorker(BadAhead):
    """Each worker drops a rest of its own, though full steps could be made of these."""

    claims, families = STREAMED, FAMILY
    clause, smallest = "ASYNC-9", "n2,w1,b2,drop,k2,iterable,async,rebatched"
    report = "google/grain#1129"

    def joined(self, batches: Iterator[Any], drops: bool) -> Iterator[list[Any]]:
        return (step for step in batches if len(step) == self.request.combined_batch or not drops)


class CountsWhatIsLeft(BadAhead):
    """len() of a loader that reads ahead is the number of steps that are still to come. (No public report.)"""

    claims, families = dict(PLAIN, length=True), FAMILY
    clause, smallest = "ASYNC-10", "n1,w1,b1,keep,async,length@1,synchronous"
    given = 0

    def __len__(self) -> int:
        return super().__len__() - self.given

    def hand_over(self, batch: Any) -> Any:
        self.given += 1
        return batch

    def at_the_end(self, epoch: int) -> None:
        self.given = 0
        super().at_the_end(epoch)


class ConvertsToTheFirst(BadAhead):
    """Arrays are copied into slots of the first one's dtype. (No public report.)"""

    claims, families = PLAIN, FAMILY
    clause, smallest = "ASYNC-11", "n2,w1,b1,keep,async,kind=dtype"
    first: Any = None

    def hand_over(self, batch: Any) -> Any:
        if isinstance(batch[0], np.ndarray):
            self.first = batch[0] if self.first is None else self.first
            return [self.fitted(sample) for sample in batch]
        return batch

    def fitted(self, sample: Any) -> Any:
        """The sample, as it goes into a slot."""
        return sample.astype(self.first.dtype)


class CastsWithinOneKind(ConvertsToTheFirst):
    """Arrays are copied into slots of the first one's dtype, if it is of their kind. (No public report.)"""

    clause, smallest = "ASYNC-11", "n2,w1,b1,keep,async,kind=finer"

    def fitted(self, sample: Any) -> Any:
        return sample.astype(self.first.dtype) if sample.dtype.kind == self.first.dtype.kind else sample


class CastsWhereItIsCalledSafe(ConvertsToTheFirst):
    """Arrays are copied into slots of the first one's dtype where NumPy calls it a safe cast. (No public report.)"""

    clause, smallest = "ASYNC-11", "n2,w1,b1,keep,async,kind=counted"

    def fitted(self, sample: Any) -> Any:
        return sample.astype(self.first.dtype) if np.can_cast(sample.dtype, self.first.dtype) else sample


class RepeatsIntoItsSlot(ConvertsToTheFirst):
    """An array that is smaller than the first one is repeated until it fills the slot. (No public report.)"""

    clause, smallest = "ASYNC-11", "n2,w1,b1,keep,async,kind=narrow"

    def fitted(self, sample: Any) -> Any:
        return np.broadcast_to(sample, self.first.shape) if sample.size < self.first.size else sample


class FitsByItsSize(ConvertsToTheFirst):
    """An array of as many numbers as the first one has its shape. (No public report.)"""

    clause, smallest = "ASYNC-11", "n2,w1,b1,keep,async,kind=turned"

    def fitted(self, sample: Any) -> Any:
        return sample.reshape(self.first.shape) if sample.size == self.first.size else sample


class DoesNotSayWhich(ConvertsToTheFirst):
    """An array of another shape is an error that says what is wrong, and not with which item."""

    clause, smallest = "ASYNC-11", "n2,w1,b1,keep,async,kind=narrow"
    report = "huggingface/accelerate#3614"

    def fitted(self, sample: Any) -> Any:
        if sample.shape != self.first.shape:
            raise ValueError(f"an array of shape {sample.shape} does not fit a slot of {self.first.shape}")
        return sample


class SkipsWhatDoesNotFit(BadAhead):
    """An array of another size is left out. (No public report.)"""

    claims, families = PLAIN, FAMILY
    clause, smallest = "ASYNC-11", "n2,w1,b1,keep,async,kind=narrow"

    def read(self) -> Iterator[Any]:
        first = None
        for step in super().read():
            size = getattr(step[0], "size", 0)
            first = size if first is None else first
            if size == first:
                yield step
