"""How a loader is read: decides what each conduct of a consumer is, call by call, and when a pass is given up.

Whatever the implementation does wrong becomes a `Failure`. In a scenario without a fault it ends the rank's run; where
a fault was asked for, or a second iterator, it ends that pass only, and the consumer goes on as a person would.
"""

import select
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from conformance.loader import datasets
from conformance.processes import alive
from conformance.processes.calls import Remarks, Stopped, _forget_frames, called, close, described
from conformance.trace import UNASKED, Epoch, Failure, Topic, Where

# After so many samples more the loader is said to be alive: who reads tens of thousands may take its time.
_TELLS = 1000


@dataclass
class Pass:
    """One iterator over the loader, and what it has given so far."""

    number: int
    length: int | str | None
    iterator: Iterator[Any]
    steps: list[tuple[int, ...]] = field(default_factory=list)
    batches: list[Any] = field(default_factory=list)
    failure: Failure | None = None
    delivered: int = 0  # samples, and steps without one

    def epoch(self, left: bool = False) -> Epoch:
        """The pass as it goes into the trace."""
        return Epoch(self.number, tuple(self.steps), self.length, left, self.failure)


@dataclass(frozen=True)
class Reader:
    """Reads one loader. More than `most` samples explain no padding; `before_epoch` is told each epoch's number."""

    loader: Any
    decode: Callable[[Any], Any] | None
    sets_epoch: bool
    most: int
    before_epoch: Callable[[int], None]
    keep_batches: bool = False
    decodes: bool = True
    stride: int = 1  # a sample is that many equal numbers
    measures: bool = True  # len() is asked for before each epoch
    when_held: Callable[[], None] | None = None  # called while the consumer has the first step of an epoch

    def begin(self, number: int) -> Pass:
        """Make an iterator for an epoch."""
        if self.sets_epoch and hasattr(self.loader, "set_epoch"):
            called("set_epoch", number, lambda: self.loader.set_epoch(number))
        # A worker that dies now may be told of at once, by a signal handler of the loader's.
        called("iter", number, lambda: self.before_epoch(number))
        length = length_of(self.loader) if self.measures else UNASKED
        return Pass(number, length, called("iter", number, lambda: iter(self.loader)))

    def step(self, going: Pass) -> bool:
        """Read one step; False at the end."""
        batch = called("step", going.number, lambda: _next(going.iterator))
        if batch is _END:
            return False
        going.steps.append(self.indices(batch, going.number) if self.decodes else ())
        if self.keep_batches:
            going.batches.append(_as_kept(batch, len(going.batches), is_decoded=self.decode is not None))
        before, going.delivered = going.delivered, going.delivered + max(1, len(going.steps[-1]))
        if before // _TELLS < going.delivered // _TELLS:
            alive.stage()
        steps = len(going.steps)
        if steps == 1 and self.when_held is not None:
            self.when_held()
        if steps > self.most or (steps % 16 == 0 and going.delivered > self.most):
            raise Stopped("endless", "step", f"after {steps} steps there are still more", going.number)
        return True

    def up_to(self, going: Pass, steps: int) -> bool:
        """Read until it has so many steps; False at the end."""
        more = True
        while more and len(going.steps) < steps:
            more = self.step(going)
        return more

    def rest(self, going: Pass) -> Pass:
        """Read to the end."""
        while self.step(going):
            pass
        return going

    def tolerant_step(self, going: Pass) -> None:
        """Read one step, or a failure, which is written down."""
        try:
            self.step(going)
        except Stopped as stopped:
            going.failure = stopped.failure

    def tolerant_epoch(self, number: int) -> Epoch:
        """A whole epoch, or as much of it as comes before a failure."""
        try:
            going = self.begin(number)
        except Stopped as stopped:
            return Epoch(number, (), failure=stopped.failure)
        return self.tolerant_rest(going).epoch()

    def tolerant_rest(self, going: Pass) -> Pass:
        """Read to the end, or to a failure, which is written down."""
        try:
            return self.rest(going)
        except Stopped as stopped:
            going.failure = stopped.failure
            return going

    def method(self, name: Where, *arguments: Any) -> Any:
        """What a method of the loader gives; a loader without it can't be used so."""
        if not hasattr(self.loader, name):
            raise Stopped("unusable", name, f"the loader has no {name}()")
        return called(name, None, lambda: getattr(self.loader, name)(*arguments))

    def decoded(self, batch: Any) -> Any:
        """The batch, or the samples that the adapter finds in it."""
        return batch if self.decode is None else list(self.decode(batch))

    def indices(self, batch: Any, number: int) -> tuple[int, ...]:
        """The indices of the samples in a batch."""
        try:
            return self._read_out(batch)
        except BaseException as error:
            failed = error
        try:
            self._read_out(batch)
        except BaseException as error:
            raise Stopped("undecodable", "step", described(error), number) from error
        # The batch is sound: a signal handler of the loader's has raised, as torch's does when a worker has died.
        raise Stopped("raised", "step", described(failed), number) from failed

    def _read_out(self, batch: Any) -> tuple[int, ...]:
        # What an adapter decodes are samples as the dataset gave them, which need not be numbers.
        values = datasets.decode(self.decoded(batch))
        return tuple(value - datasets.FIRST_SAMPLE for value in values[:: self.stride])


def read_epochs(reader: Reader, numbers: tuple[int, ...], epochs: list[Epoch]) -> None:
    """Read epoch after epoch; a failure ends the run, and what came before it is kept."""
    # What an epoch needs may be done where a loader is asked for its length: every third time it is not.
    silent = replace(reader, measures=False)
    for at, number in enumerate(numbers):
        going = (silent if at % 3 == 2 else reader).begin(number)
        try:
            epochs.append(reader.rest(going).epoch())
        except Stopped as stopped:
            going.failure = stopped.failure
            epochs.append(going.epoch())
            raise


def read_through_faults(reader: Reader, numbers: tuple[int, ...], epochs: list[Epoch]) -> None:
    """Read epoch after epoch, going on after a failure as a consumer does that tries again."""
    for number in numbers:
        epochs.append(reader.tolerant_epoch(number))
        # A hanging implementation would hang again.
        if epochs[-1].failure and epochs[-1].failure.kind == "endless":
            return


def leave_early(reader: Reader, numbers: tuple[int, ...], epochs: list[Epoch], after: int) -> None:
    """Leave the first epoch after some steps, then read the others whole."""
    going = reader.begin(numbers[0])
    reader.up_to(going, after)
    epochs.append(going.epoch(left=True))
    del going
    read_epochs(reader, numbers[1:], epochs)


def read_heads(reader: Reader, numbers: tuple[int, ...], epochs: list[Epoch]) -> None:
    """Leave each epoch after its first step."""
    for number in numbers:
        going = reader.begin(number)
        reader.step(going)
        epochs.append(going.epoch(left=True))
        del going


def hold_a_step(reader: Reader, numbers: tuple[int, ...], epochs: list[Epoch], seconds: float) -> None:
    """Read epoch after epoch, and hold the first step of each for so long."""
    for number in numbers:
        going = reader.begin(number)
        if reader.step(going):
            select.select([], [], [], seconds)
            reader.rest(going)
        epochs.append(going.epoch())


def close_early(reader: Reader, number: int, epochs: list[Epoch], after: int) -> None:
    """Close the loader after some steps, while the iterator is alive, and ask that for more: any answer is right."""
    going = reader.begin(number)
    reader.up_to(going, after)
    epochs.append(going.epoch(left=True))
    if close(reader.loader):
        reader.tolerant_rest(going)


def read_two(reader: Reader, number: int, epochs: list[Epoch], after: int) -> None:
    """Begin a second iterator after some steps of the first; read the second to its end, then the first."""
    first = reader.begin(number)
    ended = not reader.up_to(first, after)
    try:
        second = reader.begin(number)
    except Stopped as stopped:
        first = first if ended else reader.tolerant_rest(first)
        epochs += [first.epoch(), Epoch(number, (), failure=stopped.failure)]
        return
    reader.tolerant_rest(second)
    # What comes after an end is judged by WORK-15.
    if not ended:
        reader.tolerant_rest(first)
    epochs += [first.epoch(), second.epoch()]


def _as_kept(batch: Any, at: int, is_decoded: bool = False) -> Any:
    """The batch; of every second one what a user may keep of it: all of an array as a slice, or its memory alone.

    `is_decoded`: the adapter decodes its batches, and may need them to be of a class of its own.
    """
    if at % 2 == 0:
        return batch
    if type(batch) in (list, dict) and at % 4 == 3:
        return batch.copy()
    if getattr(batch, "ndim", 0) == 0:
        return batch
    if isinstance(batch, np.ndarray) and not is_decoded:
        # Also one of a class of its own is an array to whoever takes a part of it.
        return np.asarray(batch)[:]
    if type(batch).__module__ == "torch" and at % 4 == 3:
        # Nothing refers to the batch any more, and its memory is still in use.
        return batch.detach()
    return batch[:] if type(batch).__module__ in ("numpy", "torch") else batch


def read_beyond_the_end(reader: Reader, numbers: tuple[int, ...], epochs: list[Epoch], remarks: Remarks) -> None:
    """After the end of each epoch, ask for more, twice."""
    for number in numbers:
        going = reader.rest(reader.begin(number))
        epochs.append(going.epoch())
        for _ in range(2):
            try:
                if reader.step(going) and not has_remark(remarks, "after-end"):
                    remarks.append(("after-end", f"after the end of epoch {number} came {step_text(going.steps[-1])}"))
            except Stopped as stopped:
                remarks.append(("after-end", f"after the end of epoch {number}: {stopped.failure.sentence()}"))


_END = object()


def _next(iterator: Iterator[Any]) -> Any:
    try:
        return next(iterator)
    except StopIteration as end:
        _forget_frames(end)
        return _END


def length_of(loader: Any) -> int | str | None:
    """What len() gives, the exception that it raises, or None where there is no len()."""
    if not hasattr(type(loader), "__len__"):
        return None
    try:
        return len(loader)
    except BaseException as error:
        return described(error)


def has_remark(remarks: Remarks, topic: Topic) -> bool:
    """Whether something was remarked about a topic."""
    return any(about == topic for about, _ in remarks)


def step_text(step: tuple[int, ...]) -> str:
    """The samples of a step, for a remark."""
    return " ".join(map(str, step)) or "an empty step"
