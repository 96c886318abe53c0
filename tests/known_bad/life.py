"""Loaders that betray a user between two epochs, or change what the user holds (chapter 4, second part)."""

import threading
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

import numpy as np

from tests.known_bad.correct import KnownBad, claim
from tests.known_bad.order import SHUFFLING
from tests.known_bad.pool import BadPool

# An iterable dataset read by the rank itself: what is wrong here is wrong without workers, and so judged sooner.
STREAM = dict(datasets=("iterable",))
LIFE, SAMPLES = ("life",), ("samples",)

# --- left early, read twice at once, read again after an error ------------------------------------------------------


class DeliversLeftoversFirst(BadPool):
    """What an epoch that was left had loaded ahead comes first in the next epoch."""

    claims, families = STREAM, LIFE
    clause, smallest = "WORK-12", "n2,w1,b1,keep,e2,iterable,leave@1"
    report = "pytorch/pytorch#9655"
    left: Any = ()

    def __iter__(self) -> Iterator[Any]:
        left, self.left = self.left, ()
        batches = super().__iter__()
        for batch in chain(left, batches):
            try:
                yield batch
            except GeneratorExit:
                self.left = list(islice(batches, 1))
                raise


class GoesOnWhereItWasLeft(BadPool):
    """The position that a break leaves behind applies to every later epoch."""

    claims, families = STREAM, LIFE
    clause, smallest = "WORK-12", "n1,w1,b1,keep,e2,iterable,leave@1"
    report = "Lightning-AI/litData#770"
    position = 0

    def __iter__(self) -> Iterator[Any]:
        delivered = self.position
        try:
            for batch in islice(super().__iter__(), self.position, None):
                delivered += 1
                yield batch
        except GeneratorExit:
            self.position = delivered


class StoresOneGenerator(BadPool):
    """One generator is made for the loader, so that the second epoch is empty."""

    claims, families = STREAM, LIFE
    clause, smallest = "WORK-12", "n1,w1,b1,keep,e2,iterable,leave@1"
    related = ("WORK-13", "WORK-14")
    report = "pytorch/data#825"
    stored: Any = None

    def __iter__(self) -> Iterator[Any]:
        self.stored = self.stored or super().__iter__()
        return self.stored  # type: ignore[no-any-return]


class IsItsOwnIterator(BadPool):
    """__iter__ starts anew and returns the loader itself, so that a loop inside a loop ends both."""

    claims, families = STREAM, LIFE
    clause, smallest = "WORK-13", "n1,w1,b1,keep,iterable,two@0"
    report = "FluxML/Flux.jl#1227"
    reading: Any = None

    def __iter__(self) -> Iterator[Any]:
        self.reading = super().__iter__()
        return self

    def __next__(self) -> Any:
        return next(self.reading)


class SharesOnePosition(BadPool):
    """Iterators that are alive at once share one position."""

    claims, families = STREAM, LIFE
    clause, smallest = "WORK-13", "n1,w1,b1,keep,iterable,two@1"
    report = "apache/mxnet#15195"
    alive = 0
    shared: Any = None

    def __iter__(self) -> Iterator[Any]:
        if not self.alive:
            self.shared = super().__iter__()
        self.alive += 1
        try:
            # The list comes from outside the generator that is shared, so that no iterator ends the other's.
            while batch := next(self.shared, None):
                yield batch
        finally:
            self.alive -= 1


class ShufflesWhatItReads(KnownBad):
    """The order lies on the loader, and each iter() shuffles it anew under the feet of an older iterator."""

    claims, families = claim(SHUFFLING, epochs="automatic"), LIFE
    clause, smallest = "WORK-13", "n4,w1,b1,keep,shuffle,two@1"
    report = "FluxML/Flux.jl#1227"
    laid_out: Any = ()

    def __iter__(self) -> Iterator[Any]:
        self.laid_out = self.steps()
        self.epoch += 1
        return (self.fetch(self.laid_out[number]) for number in range(len(self.laid_out)))


class RefusesOnce(BadPool):
    """After an error the next epoch is refused, and the one after that is empty. (No public report.)"""

    claims, families = STREAM, LIFE
    clause, smallest = "WORK-14", "n1,w1,b1,keep,e3,iterable,raise@0"
    failed = 0

    def __iter__(self) -> Iterator[Any]:
        if self.failed:
            self.failed += 1
            return iter(()) if self.failed > 2 else self.refuse()
        return self.noticing()

    def refuse(self) -> Any:
        raise RuntimeError("this loader has failed")

    def noticing(self) -> Iterator[Any]:
        try:
            yield from super().__iter__()
        except Exception:
            self.failed = 1
            raise


class EndsAfterTheFailingStep(BadPool):
    """After an error the next epoch begins behind the step that failed."""

    claims, families = STREAM, LIFE
    clause, smallest = "WORK-14", "n1,w1,b1,keep,e2,iterable,raise@0"
    report = "huggingface/accelerate#1451"
    failed = 0

    def __iter__(self) -> Iterator[Any]:
        start, self.failed = self.failed, 0
        for number, batch in enumerate(self.counted(super().__iter__())):
            if number >= start:
                yield batch

    def counted(self, batches: Iterator[Any]) -> Iterator[Any]:
        for number in range(10**6):
            try:
                batch = next(batches)
            except StopIteration:
                return
            except Exception:
                self.failed = number + 1
                raise
            yield batch


class TakesAnErrorForTheLastEpoch(BadPool):
    """After an error the loader is spent, and every later epoch is empty."""

    claims, families = STREAM, LIFE
    clause, smallest = "WORK-14", "n1,w1,b1,keep,e2,iterable,raise@0"
    report = "pytorch/pytorch#48370"
    spent = False

    def __iter__(self) -> Iterator[Any]:
        if self.spent:
            return
        try:
            yield from super().__iter__()
        except Exception:
            self.spent = True
            raise


class HangsAfterAnError(BadPool):
    """After an error the next epoch waits for a reader that is gone. (No public report.)"""

    claims, families, patience, grace = STREAM, LIFE, 2.0, 0.3
    clause, smallest = "WORK-14", "n1,w1,b1,keep,e2,iterable,raise@0"
    failed = False

    def __iter__(self) -> Iterator[Any]:
        if self.failed:
            threading.Event().wait()
        try:
            yield from super().__iter__()
        except Exception:
            self.failed = True
            raise


# --- the end --------------------------------------------------------------------------------------------------------


class RevivesAfterItsEnd(BadPool):
    """An iterator that has ended begins again when it is asked once more."""

    claims, families = STREAM, LIFE
    clause, smallest = "WORK-15", "n1,w1,b1,keep,iterable,ended"
    report = "pytorch/pytorch#59312"

    def __iter__(self) -> Iterator[Any]:
        return Reviving(self)


class Reviving(Iterator[Any]):
    """An iterator that makes a new one of itself at the end."""

    def __init__(self, loader: BadPool) -> None:
        self.loader = loader
        self.batches = BadPool.__iter__(loader)

    def __next__(self) -> Any:
        for batch in self.batches:
            return batch
        self.batches = BadPool.__iter__(self.loader)
        raise StopIteration


class ClosesOnlyOnce(BadPool):
    """Closing a second time raises. (No public report.)"""

    claims, families = STREAM, LIFE
    clause, smallest = "WORK-15", "n1,w1,b1,keep,iterable,ended"
    closed = False

    def close(self) -> None:
        if self.closed:
            raise ValueError("this loader is closed already")
        self.closed = True


class WaitsWhenItIsDropped(BadPool):
    """A loader that nobody has closed waits for its reader when it is let go of. (No public report.)"""

    claims, families, patience, grace = STREAM, LIFE, 2.0, 0.3
    clause, smallest = "WORK-15", "n1,w1,b1,keep,iterable,dropped"
    closed = False

    def close(self) -> None:
        self.closed = True
        super().close()

    def __del__(self) -> None:
        if not self.closed:
            threading.Event().wait()


# --- what the user holds --------------------------------------------------------------------------------------------


class ReusesItsBuffer(BadPool):
    """Every batch is the same array with new numbers in it."""

    claims, families = STREAM, LIFE
    clause, smallest = "WORK-16", "n2,w1,b1,keep,iterable,kept"
    report = "NVIDIA/DALI#2968"
    depth = 1
    number = 0
    ring: Any = None

    def collate(self, samples: list[Any]) -> Any:
        if self.ring is None:
            self.ring = [np.zeros(self.request.batch_size, dtype=np.int64) for _ in range(self.depth)]
        self.number += 1
        batch = self.ring[self.number % self.depth][: len(samples)]
        batch[:] = np.ravel(samples)
        return batch


class ReusesARingOfTwo(ReusesItsBuffer):
    """Batches are views of a ring of two buffers, enough for who keeps one only."""

    clause, smallest = "WORK-16", "n3,w1,b1,keep,iterable,kept"
    report = "pytorch/rl#4270"
    depth = 2


class ViewsTheDatasetsArray(BadPool):
    """A step of one sample is a view of the array that the dataset gave, and not a copy."""

    claims, families = STREAM, LIFE
    clause, smallest = "WORK-16", "n2,w1,b1,keep,iterable,kept,kind=buffer"
    report = "NVIDIA/DALI#3239"

    def own(self, sample: Any) -> Any:
        return sample if self.request.batch_size == 1 else super().own(sample)

    def collate(self, samples: list[Any]) -> Any:
        return np.asarray(samples[0]).reshape(-1) if len(samples) == 1 else samples


# --- types ----------------------------------------------------------------------------------------------------------


class BadColumns(BadPool):
    """Collates in columns, as torch does, and does it right; each bad one changes one method."""

    def collate(self, samples: list[Any]) -> Any:
        return self.columns(samples)

    def columns(self, values: list[Any]) -> Any:
        """A batch of any values."""
        first = values[0]
        if isinstance(first, dict):
            return {key: self.columns([value[key] for value in values]) for key in first}
        if isinstance(first, tuple):
            return self.tuples(values)
        if isinstance(first, str | bytes) or first is None:
            return self.others(values)
        return self.numbers(values)

    def tuples(self, values: list[Any]) -> Any:
        """A batch of tuples, named or not."""
        columns = [self.columns(list(column)) for column in zip(*values, strict=True)]
        return type(values[0])(*columns) if hasattr(values[0], "_fields") else tuple(columns)

    def others(self, values: list[Any]) -> Any:
        """A batch of texts, of bytes, or of None."""
        return values

    def numbers(self, values: list[Any]) -> Any:
        """A batch of numbers, arrays or tensors."""
        return np.stack([np.asarray(value) for value in values])


class MakesListsOfTuples(BadColumns):
    """A batch of tuples is a list of columns."""

    claims, families = STREAM, SAMPLES
    clause, smallest = "WORK-17", "n3,w1,b3,keep,iterable,kind=tuple"
    report = "pytorch/pytorch#48419"

    def tuples(self, values: list[Any]) -> Any:
        return list(super().tuples(values))


class ForgetsTheNames(BadColumns):
    """A batch of named tuples is a plain tuple."""

    claims, families = STREAM, SAMPLES
    clause, smallest = "WORK-17", "n3,w1,b3,keep,iterable,kind=named"
    report = "pytorch/data#1085"

    def tuples(self, values: list[Any]) -> Any:
        return tuple(super().tuples(values))


class ReadsBytesAsText(BadColumns):
    """Bytes become text."""

    claims, families = STREAM, SAMPLES
    clause, smallest = "WORK-17", "n3,w1,b3,keep,iterable,kind=text"
    report = "pytorch/pytorch#2914"

    def others(self, values: list[Any]) -> Any:
        return [value.decode() if isinstance(value, bytes) else value for value in values]


class ShortensFloats(BadColumns):
    """Numbers of double precision become single precision. (No public report.)"""

    claims, families = STREAM, SAMPLES
    clause, smallest = "WORK-17", "n3,w1,b3,keep,iterable,kind=tensors"

    def numbers(self, values: list[Any]) -> Any:
        numbers = super().numbers(values)
        return numbers.astype(np.float32) if numbers.dtype == np.float64 else numbers


class CountsNothingAsZero(BadColumns):
    """None becomes 0. (No public report.)"""

    claims, families = STREAM, SAMPLES
    clause, smallest = "WORK-17", "n3,w1,b3,keep,iterable,kind=none"

    def others(self, values: list[Any]) -> Any:
        return [0 if value is None else value for value in values]


class LosesEmptyParts(BadColumns):
    """Empty dicts and tuples are left out of a batch. (No public report.)"""

    claims, families = STREAM, SAMPLES
    clause, smallest = "WORK-17", "n3,w1,b3,keep,iterable,kind=empty"

    def columns(self, values: list[Any]) -> Any:
        found = super().columns(values)
        if not isinstance(found, dict):
            return found
        return {key: part for key, part in found.items() if not isinstance(part, dict | tuple) or len(part)}


class CutsZerosOff(BadColumns):
    """Text and bytes go through an array, which cuts the zeros at their end off. (No public report.)"""

    claims, families = STREAM, SAMPLES
    clause, smallest = "WORK-17", "n3,w1,b3,keep,iterable,kind=text"

    def others(self, values: list[Any]) -> Any:
        are_text = isinstance(values[0], str | bytes)
        return list(np.array(values).tolist()) if are_text else super().others(values)
