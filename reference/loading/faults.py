"""Decides what becomes of an exception in the dataset, the collate function or the worker initialiser.

It reaches the consumer as it was raised: its own type, text and attributes, in place of the step in which it
happened, after every step before. In a worker it can't simply be raised, because torch would rebuild it from a text
(and turn it into a RuntimeError where the type wants more than a text) and would take a StopIteration for the end of
the epoch. So it travels as a value, a `Failure`, in place of the batch, and the loader raises it when it arrives.

    StopIteration    becomes a RuntimeError, as in a Python generator: raised further it would end the epoch in silence
    SystemExit       becomes a RuntimeError in a worker: exiting there must not look like the end of the data
    the rest         stays what it is; where the worker was is added as a note

An exception that can't be pickled, of a class inside a function for example, arrives as a RuntimeError that names its
type. The `__next__` of an iterable-style dataset is the exception to the first line: there StopIteration is how
Python says that the data has ended.
"""

import pickle
import traceback
from collections.abc import Callable, Iterator
from itertools import repeat
from multiprocessing.reduction import ForkingPickler
from typing import Any

from torch.utils.data import Dataset, get_worker_info

from ..rules.checks import show
from ..rules.sampler import MicroBatches
from .collate import own
from .join import join
from .rows import Rows, take, tensors_at_once


class Failure:
    """An exception on its way to the consumer."""

    def __init__(self, error: BaseException, where: str) -> None:
        self.error = error if isinstance(error, Exception) and not _is_end(error) else _no_end(error, where)
        info = get_worker_info()
        if info is not None:
            text = "".join(traceback.format_exception(self.error))
            self.error.add_note(f"Raised {where} in worker {info.id} of {info.num_workers}:\n{text}")

    def __reduce__(self) -> tuple[Callable[[bytes], "Failure"], tuple[bytes]]:
        return _unpack, (_pack(self.error),)


def _is_end(error: BaseException) -> bool:
    return isinstance(error, StopIteration | StopAsyncIteration)


def _no_end(error: BaseException, where: str) -> RuntimeError:
    # ERROR-3, ERROR-4: what would pass for the end of an epoch, or of the program, becomes an error.
    failed = RuntimeError(
        f"{type(error).__name__}({error}) was raised {where}, which is no way to end an epoch: let the length, or the "
        f"end of the iteration, say where the data ends."
    )
    failed.__cause__ = error
    return failed


def _pack(error: Exception) -> bytes:
    """Return the exception as bytes from which `_unpack` surely makes one."""
    parts = (type(error), error.args, error.__dict__)
    for candidate in (error, parts, parts[:2]):
        try:
            data = pickle.dumps(candidate)
            # Some types pickle but do not come back: their constructor wants other arguments.
            again = _unpack(data).error
            if type(again) is type(error) and str(again) == str(error):
                return data
        except Exception:
            continue
    failed = RuntimeError(f"{type(error).__name__}: {error} (the exception itself can't be pickled)")
    for note in getattr(error, "__notes__", []):
        failed.add_note(note)
    return pickle.dumps(failed)


def _unpack(data: bytes) -> Failure:
    packed = pickle.loads(data)
    failure = Failure.__new__(Failure)
    if isinstance(packed, tuple):
        kind, arguments, *attributes = packed
        # ERROR-1: built without its constructor, whose arguments are not known.
        failure.error = kind.__new__(kind, *arguments)
        failure.error.args = arguments
        failure.error.__dict__.update(*attributes)
    else:
        failure.error = packed
    return failure


def caught() -> tuple[type[BaseException], ...]:
    """Return what is caught here: exceptions, and in a worker also its own exit."""
    return (Exception,) if get_worker_info() is None else (Exception, SystemExit)


def death(codes: list[int | None]) -> RuntimeError:
    """Return what to say of worker processes that have ended with these exit codes."""
    told = ", ".join(str(code) for code in codes) or "0"
    # ERROR-4: one type and one sentence, however the death was noticed.
    return RuntimeError(
        f"A worker process ended within the epoch (exit code {told}; a negative one is the signal that killed it): see "
        f"what it printed, and whether memory ran out; num_workers=0 runs the dataset where it can be debugged."
    )


class Source(Dataset[Any]):
    """What torch reads in the place of the user's dataset: samples of the loader's own, or a failure."""

    def __init__(self, dataset: Any, collate_fn: Callable[[Any], Any] | None = None) -> None:
        """`collate_fn`: what makes batches of the samples, where `Collating` does."""
        self.dataset = dataset
        self._tensors = None if collate_fn is None else tensors_at_once(dataset, collate_fn)
        self.failure: Failure | None = None
        """A failure of the worker initialiser, which takes the place of the first step."""

    def __getitem__(self, index: Any) -> Any:
        sample = self.read(index)
        return sample if isinstance(sample, Failure) else own(sample)

    def read(self, index: Any) -> Any:
        """Return the sample as the dataset gives it, which may be the dataset's own buffer, or a failure."""
        if self.failure is not None:
            return self.failure
        try:
            return self.dataset[index]
        except caught() as error:
            # ERROR-1, ERROR-3
            return Failure(error, f"by sample {show(index)} of the dataset")

    def __getitems__(self, indices: list[Any] | MicroBatches) -> list[Any] | MicroBatches | Rows:
        if isinstance(indices, MicroBatches):
            return self._micro_batches(indices)
        if self.failure is None and self._tensors is not None:
            rows = take(self._tensors, indices)
            if rows is not None:
                return rows
        return self._samples(indices)

    def _samples(self, indices: list[Any]) -> list[Any]:
        """Return the samples of a batch; where one fails, the last of them is the failure."""
        read_all = getattr(self.dataset, "__getitems__", None)
        if self.failure is None and read_all is not None:
            try:
                return [own(sample) for sample in read_all(indices)]
            except caught() as error:
                return [Failure(error, f"by samples {show(indices)} of the dataset")]
        samples = []
        # WORK-2: each index is read once, and after a failure none: no sample of a failed step is delivered.
        for index in indices:
            samples.append(self[index])
            if isinstance(samples[-1], Failure):
                break
        return samples

    def _micro_batches(self, batches: MicroBatches) -> list[Any] | MicroBatches:
        """Return the samples of each batch of a step, or the failure of one."""
        read = []
        for batch in batches:
            read.append(self._samples(batch))
            if read[-1] and isinstance(read[-1][-1], Failure):
                # WORK-2: after it, no sample of the step is read.
                return read[-1]
        return MicroBatches(read)

    def __iter__(self) -> Iterator[Any]:
        failure = self.failure
        try:
            if failure is None:
                yield from map(own, self.dataset)
                return
        except caught() as error:
            failure = Failure(error, "by the dataset")
        # ERROR-2: a failed step must reach its full size, or drop_last would drop the failure with it.
        yield from repeat(failure)


class Collating:
    """What torch calls in the place of the collate function."""

    def __init__(self, function: Callable[[Any], Any], sends: bool = True) -> None:
        """`sends`: what a worker collates leaves its process by torch's queue, pickled."""
        self.function = function
        self.sends = sends

    def __call__(self, samples: Any) -> Any:
        last = samples[-1] if isinstance(samples, list) and samples else samples
        if isinstance(last, Failure):
            return last
        try:
            # ERROR-5
            batch = samples.batch if isinstance(samples, Rows) else self._batch(samples)
            return _Sent(batch) if self.sends and get_worker_info() is not None else batch
        except caught() as error:
            return Failure(error, "by the collate function")

    def _batch(self, samples: Any) -> Any:
        # BATCH-3: a micro-batch is the collate function's; only what it gives is joined.
        return join(list(map(self.function, samples))) if isinstance(samples, MicroBatches) else self.function(samples)


class _Sent:
    """A batch pickled already; the consumer's side receives the batch itself.

    torch pickles in a thread of the worker, where an error is printed and the batch lost, and the consumer waits for
    it forever. Here the error is still in time to become a failure.
    """

    def __init__(self, batch: Any) -> None:
        self.data = bytes(ForkingPickler.dumps(batch))

    def __reduce__(self) -> tuple[Callable[[bytes], Any], tuple[bytes]]:
        return pickle.loads, (self.data,)
