"""Loaders that are left, resumed, doubled and dropped, and what is left of them."""

import gc
import multiprocessing
import os
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch

import reference as poptorch
from tests.reference.loading.test_faults import Faulty, die, loader, until_error
from tests.reference.reference_probes import Numbers, Stream, epoch, options

# torch warns where there are more workers than processors; the machine is no matter here.
pytestmark = [
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
    pytest.mark.filterwarnings("ignore:The last step of each epoch"),
]

HOW = [{"num_workers": 0}, {"num_workers": 2}, {"num_workers": 2, "persistent_workers": True}]
KINDS = [Numbers, lambda samples: poptorch.split(Stream(samples))]


@contextmanager
def nothing_left() -> Iterator[None]:
    """Check that no process, file, shared memory, temporary file or thread of the block is left after it."""
    gc.collect()
    before = _held()
    yield
    gc.collect()
    # The threads of queues and processes end by themselves; wait for each, and not for a time.
    for thread in threading.enumerate():
        if thread not in before:
            thread.join(10)
    assert list((_held() - before).elements()) == []


def _held() -> Counter[Any]:
    """Return the child processes, open files, shared memory, temporary files and threads of this process."""
    files = (Path("/proc/self/fd") / name for name in os.listdir("/proc/self/fd"))
    # A file of nobody's else: names in shared and temporary folders tell the process.
    mine = [name for folder in ("/dev/shm", "/tmp") for name in os.listdir(folder) if f"_{os.getpid()}_" in name]
    # Reading the list opens a file that is closed again.
    links = [os.readlink(file) for file in files if file.is_symlink()]
    return Counter([*multiprocessing.active_children(), *links, *mine, *threading.enumerate()])


@pytest.mark.parametrize(("how", "kind"), list(product(HOW, KINDS)))
def test_an_epoch_left_early_is_followed_by_a_whole_one(how: dict[str, Any], kind: Callable[[int], Any]) -> None:
    """Nothing of the left one comes again (WORK-12)."""
    made = loader(kind(8), **how)
    whole = epoch(made)
    for _ in range(2):
        next(iter(made))
    assert (sorted(whole), epoch(made)) == (sorted(epoch(loader(kind(8), **how))), whole)
    made.terminate()


@pytest.mark.parametrize(("how", "kind"), list(product(HOW, KINDS)))
def test_two_iterators_at_once_are_whole(how: dict[str, Any], kind: Callable[[int], Any]) -> None:
    """Each of them gives an epoch of its own (WORK-13)."""
    made = loader(kind(8), **how)
    whole = epoch(made)
    one, two = iter(made), iter(made)
    pairs = [(a.tolist(), b.tolist()) for a, b in zip(one, two, strict=True)]
    assert [list(steps) for steps in zip(*pairs, strict=True)] == [whole, whole]
    made.terminate()


@pytest.mark.parametrize("how", HOW)
def test_the_end_is_the_end(how: dict[str, Any]) -> None:
    """An iterator that has ended stays there, also when the next epoch has begun or the loader ended (WORK-15)."""
    made = loader(Numbers(4), **how)
    ended = iter(made)
    assert len(list(ended)) == 2
    other = iter(made)
    next(other)
    assert (next(ended, None), next(ended, None)) == (None, None)
    made.terminate()
    made.terminate()
    assert next(ended, None) is None
    with pytest.raises(RuntimeError, match="terminated within this epoch"):
        next(other)


def whole(made: Any) -> None:
    """Iterate two epochs."""
    assert [len(epoch(made)) for _ in range(2)] == [4, 4]


def left(made: Any) -> None:
    """Leave two epochs early."""
    for _ in range(2):
        next(iter(made))


def doubled(made: Any) -> None:
    """Have two iterators at once."""
    one, two = iter(made), iter(made)
    assert (len(list(one)), len(list(two))) == (4, 4)


@pytest.mark.parametrize(("how", "use", "is_closed"), list(product(HOW[1:], (whole, left, doubled), (True, False))))
def test_nothing_is_left(how: dict[str, Any], use: Callable[[Any], None], is_closed: bool) -> None:
    """Closed, or dropped without closing (LEAK-1, LEAK-2, LEAK-3, LEAK-4)."""
    with nothing_left():
        made = loader(Numbers(8), **how)
        use(made)
        if is_closed:
            made.terminate()
        del made


def no_such_sample() -> None:
    """Raise an error."""
    raise LookupError("no such sample")


@pytest.mark.parametrize(("how", "act"), list(product(HOW[1:], (no_such_sample, die))))
def test_nothing_is_left_after_a_fault(how: dict[str, Any], act: Callable[[], None]) -> None:
    """An error and a dead worker clean up as well, while the loader is still there (LEAK-1, LEAK-2, LEAK-4)."""
    made = loader(Faulty(8, 5, act), **how)
    with nothing_left():
        error = until_error(made)[1]
        assert isinstance(error, LookupError if act is no_such_sample else RuntimeError)
        del error
        made.terminate()


@pytest.mark.parametrize("act", [no_such_sample, die])
def test_an_error_does_not_hold_what_it_passed(act: Callable[[], None]) -> None:
    """When the user drops it, queues and processes go without waiting for the garbage collector (LEAK-2)."""
    gc.collect()
    gc.disable()
    try:
        passing: Any = iter(loader(Faulty(8, 5, act), num_workers=1))
        queue = weakref.ref(passing.steps.source._worker_result_queue)
        until_error(passing)
        assert queue() is None
    finally:
        gc.enable()


def test_a_loader_closes_with_a_dead_worker() -> None:
    """terminate() is no place for the news of a death (WORK-15)."""
    made = loader(Numbers(8), num_workers=2, persistent_workers=True)
    passing: Any = iter(made)
    next(passing)
    workers = passing.steps.source._workers
    # torch would raise an error here, or wherever the main thread is.
    workers[0].kill()
    workers[0].join()
    made.terminate()
    assert not any(worker.is_alive() for worker in workers)


def test_memory_does_not_grow() -> None:
    """After a first epoch, others leave no more objects behind than they find (LEAK-5)."""
    made = loader(Numbers(8), num_workers=1, persistent_workers=True)
    counts = []
    for _ in range(2):
        epoch(made)
        epoch(made)
        gc.collect()
        counts.append(len(gc.get_objects()))
    made.terminate()
    assert counts[1] - counts[0] < 20


def test_a_step_is_freed_when_the_user_drops_it() -> None:
    """The loader keeps no reference to what it has delivered (LEAK-5)."""
    for workers in (0, 1):
        made = poptorch.DataLoader(options(), Numbers(4), 2, num_workers=workers, persistent_workers=False)
        passing = iter(made)
        step = next(passing)
        assert len([one for one in gc.get_referrers(step) if one is not locals()]) == 0
        assert isinstance(step, torch.Tensor)
