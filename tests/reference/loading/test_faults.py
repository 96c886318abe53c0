"""Exceptions in datasets, collate functions and worker initialisers, and workers that die or hang."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import pytest
import torch

import reference as poptorch
from tests.reference.reference_probes import Numbers, Stream, options

# torch warns where there are more workers than processors; the machine is no matter here.
pytestmark = [
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
    pytest.mark.filterwarnings("ignore:The last step of each epoch"),
]

HANG = threading.Event()


class NeedsTwo(Exception):
    """Can't be built from its text, as torch would like to."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(f"{code}: {text}")
        self.code = code


class Faulty(Numbers):
    """Does something when a certain sample is read."""

    def __init__(self, samples: int, bad: int, act: Callable[[], None]) -> None:
        super().__init__(samples)
        self.bad, self.act = bad, act

    def __getitem__(self, index: int) -> int:
        if index == self.bad:
            self.act()
        return index


class FaultyStream(torch.utils.data.IterableDataset[int]):
    """The same as a stream, whose __next__ is a generator's."""

    def __init__(self, *arguments: Any) -> None:
        self.dataset = Faulty(*arguments)

    def __iter__(self) -> Iterator[int]:
        return (self.dataset[index] for index in range(self.dataset.samples))


def throw(kind: Callable[..., BaseException], *arguments: object) -> None:
    """Raise an exception; partial(throw, kind, ...) is an act that can be pickled."""
    raise kind(*arguments)


def throw_local() -> None:
    """Raise an exception of a class that can't be pickled."""

    class Local(Exception):
        pass

    raise Local("of here")


def die() -> None:
    """Kill this process."""
    os.kill(os.getpid(), signal.SIGKILL)


def hang() -> None:
    """Wait for what never comes."""
    HANG.wait()


def loader(dataset: Any, batch_size: int | None = 2, **how: Any) -> poptorch.DataLoader:
    """Return a loader that keeps the rest."""
    how = {"drop_last": False, "persistent_workers": False, **how}
    return poptorch.DataLoader(options(), dataset, batch_size, **how)


def until_error(made: Any) -> tuple[list[list[int]], BaseException]:
    """Iterate until an error; return the steps before it, and it."""
    steps: list[list[int]] = []
    try:
        steps.extend(step.tolist() for step in made)
    except Exception as error:
        return steps, error
    pytest.fail(f"no error, but {steps}")


ERRORS = [
    (ValueError, ("a text",)),
    (KeyError, ("a key",)),
    (IndexError, ("an index",)),
    (FileNotFoundError, (2, "no such file", "a.txt")),
    (UnicodeDecodeError, ("utf8", b"a", 0, 1, "a reason")),
    (NeedsTwo, (7, "a text")),
]


@pytest.mark.parametrize(("kind", "arguments"), ERRORS, ids=[kind.__name__ for kind, _ in ERRORS])
@pytest.mark.parametrize("workers", [0, 1])
def test_an_exception_arrives_as_it_was_raised(kind: type[Exception], arguments: tuple[Any, ...], workers: int) -> None:
    """Type, text and attributes, after the steps before it (ERROR-1, ERROR-2)."""
    expected = kind(*arguments)
    steps, error = until_error(loader(Faulty(8, 5, partial(throw, kind, *arguments)), num_workers=workers))
    assert (steps, type(error), str(error)) == ([[0, 1], [2, 3]], kind, str(expected))
    attributes = ("args", "filename", "object", "code")
    assert [getattr(error, name, None) for name in attributes] == [getattr(expected, name, None) for name in attributes]


def test_a_note_tells_where_a_worker_failed() -> None:
    """The traceback of the worker comes along."""
    _, error = until_error(loader(Faulty(8, 5, partial(throw, ValueError, "a text")), num_workers=2))
    (note,) = error.__notes__
    assert note.startswith("Raised by sample 5 of the dataset in worker 0 of 2:\nTraceback")
    assert "in __getitem__" in note


def test_an_exception_that_cannot_be_pickled_is_named() -> None:
    """Its type and text are all that can come over."""
    _, error = until_error(loader(Faulty(8, 5, throw_local), num_workers=1))
    assert (type(error), str(error)) == (RuntimeError, "Local: of here (the exception itself can't be pickled)")


@pytest.mark.parametrize(("workers", "drop", "size"), list(product((0, 2), (True, False), (1, 2, 3))))
def test_a_failing_stream_fails_after_what_came_before(workers: int, drop: bool, size: int) -> None:
    """No element of the failed step is delivered, and the failure is not dropped with it (ERROR-2)."""
    faulty = poptorch.split(FaultyStream(8, 5, partial(throw, ValueError, "a text")))
    steps, error = until_error(loader(faulty, size, num_workers=workers, drop_last=drop))
    assert (type(error), str(error)) == (ValueError, "a text")
    assert all(sample < 5 for step in steps for sample in step)
    assert workers or steps == [[0, 1, 2, 3, 4][i : i + size] for i in range(0, 5 // size * size, size)]


@pytest.mark.parametrize(("kind", "workers"), list(product((StopIteration, StopAsyncIteration), (0, 1))))
def test_a_sample_cannot_end_the_epoch(kind: type[Exception], workers: int) -> None:
    """StopIteration in a sample is a RuntimeError, caused by it, and not a short epoch (ERROR-3)."""
    steps, error = until_error(loader(Faulty(8, 5, partial(throw, kind, "a text")), num_workers=workers))
    assert (steps, type(error)) == ([[0, 1], [2, 3]], RuntimeError)
    assert str(error).startswith(f"{kind.__name__}(a text) was raised by sample 5 of the dataset")


@pytest.mark.parametrize("workers", [0, 1])
def test_a_stream_ends_by_the_protocol_only(workers: int) -> None:
    """StopIteration within a generator is Python's RuntimeError; an IndexError stays one (ERROR-3)."""
    for kind, expected in ((StopIteration, RuntimeError), (IndexError, IndexError)):
        faulty = poptorch.split(FaultyStream(8, 5, partial(throw, kind)))
        assert type(until_error(loader(faulty, num_workers=workers))[1]) is expected


@pytest.mark.parametrize(("kind", "workers"), list(product((ValueError, StopIteration), (0, 1))))
def test_collating_may_fail(kind: type[Exception], workers: int) -> None:
    """An exception in collate_fn arrives; one that would end the epoch in silence does not end it (ERROR-5)."""
    for dataset in (Numbers(4), poptorch.split(Stream(4))):
        made = loader(dataset, num_workers=workers, collate_fn=partial(throw, kind))
        assert isinstance(until_error(made)[1], ValueError if kind is ValueError else RuntimeError)


@pytest.mark.parametrize(("kind", "persistent"), list(product((ValueError, StopIteration), (False, True))))
def test_a_worker_initialiser_may_fail(kind: type[Exception], persistent: bool) -> None:
    """Its exception arrives in place of the first step, in every epoch (ERROR-6, WORK-14)."""
    for dataset in (Numbers(4), poptorch.split(Stream(4))):
        how = {"num_workers": 1, "persistent_workers": persistent, "worker_init_fn": partial(throw, kind)}
        made = loader(dataset, **how)
        for _ in range(2):
            steps, error = until_error(made)
            assert (steps, type(error)) == ([], ValueError if kind is ValueError else RuntimeError)


def test_a_batch_that_cannot_be_pickled_is_an_error() -> None:
    """torch would print it and wait for ever (COUNT-7)."""
    made = loader(Numbers(4), num_workers=1, collate_fn=lambda samples: lambda: samples)
    with pytest.raises(AttributeError, match="pickle local object"):
        next(iter(made))


@pytest.mark.filterwarnings("ignore:Got pickle error")
def test_a_dataset_that_cannot_be_pickled_is_an_error() -> None:
    """A spawned worker needs a copy of the dataset; the error comes before any process."""
    made = loader(Faulty(4, 9, lambda: None), num_workers=1, multiprocessing_context="spawn")
    for _ in range(2):
        with pytest.raises(AttributeError, match="pickle"):
            iter(made)


DEATHS = [
    (die, "exit code -9"),
    (partial(os._exit, 3), "exit code 3"),
    (partial(os._exit, 0), "exit code 0"),
    (partial(sys.exit, 0), "SystemExit(0)"),
]


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize(("act", "named"), DEATHS)
def test_a_dead_worker_is_an_error(act: Callable[[], None], named: str, persistent: bool) -> None:
    """Killed or exiting, it does not pass for the end of the data; nor in the next epoch (ERROR-4, WORK-14)."""
    made = loader(Faulty(8, 5, act), num_workers=2, persistent_workers=persistent)
    for _ in range(2):
        error = until_error(made)[1]
        assert type(error) is RuntimeError
        assert named in str(error)
    assert made._iterator is None or not made._iterator.is_usable()


@pytest.mark.parametrize("persistent", [False, True])
def test_a_hanging_worker_is_an_error(persistent: bool) -> None:
    """With a time-out, and it does not outlive it (ERROR-7)."""
    made = loader(Faulty(8, 2, hang), num_workers=1, timeout=2, persistent_workers=persistent)
    passing = iter(made)
    workers = passing.steps.source._workers
    steps, error = until_error(passing)
    assert (steps, type(error)) == ([[0, 1]], RuntimeError)
    assert "timed out" in str(error)
    assert not any(worker.is_alive() for worker in workers)


class FailsOnce(Numbers):
    """Fails as long as a file exists, which the failure removes."""

    def __init__(self, samples: int, mark: str, act: Callable[[], None]) -> None:
        super().__init__(samples)
        self.mark, self.act = mark, act

    def __getitem__(self, index: int) -> int:
        if index == 3 and os.path.exists(self.mark):
            os.remove(self.mark)
            self.act()
        return index


@pytest.mark.parametrize(
    ("act", "persistent", "timeout"),
    [(die, False, 0), (die, True, 0), (hang, True, 2), (throw_local, False, 0), (throw_local, True, 0)],
)
def test_after_an_error_the_next_epoch_is_whole(tmp_path: Any, act: Any, persistent: bool, timeout: int) -> None:
    """Whatever happened, new workers take over (WORK-14)."""
    mark = tmp_path / "mark"
    mark.touch()
    made = loader(FailsOnce(6, str(mark), act), num_workers=2, persistent_workers=persistent, timeout=timeout)
    failed = iter(made)
    until_error(failed)
    assert [step.tolist() for step in made] == [[0, 1], [2, 3], [4, 5]]
    # WORK-15: the failed one stays at its end.
    assert list(failed) == []
    made.terminate()


def test_a_persistent_worker_that_dies_between_epochs_is_replaced() -> None:
    """The next epoch is whole (WORK-14)."""
    made = loader(Numbers(4), num_workers=2, persistent_workers=True)
    list(made)
    (victim, _) = made._iterator._workers
    victim.kill()
    victim.join()
    assert [step.tolist() for step in made] == [[0, 1], [2, 3]]
    made.terminate()
