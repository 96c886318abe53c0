"""Asynchronous loaders that are asked for what can't be, whose dataset fails, or whose user interferes."""

import os
import signal
from collections.abc import Iterator
from functools import partial
from itertools import product
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import DistributedSampler, IterableDataset, get_worker_info

import reference as poptorch
from reference import DataLoaderMode
from reference.rules.shuffle import MOST_EPOCH
from tests.reference.ahead.async_probes import has_ended, in_child, producers, until_error
from tests.reference.ahead.async_probes import told as line_told
from tests.reference.ahead.test_async_loader import ASYNC, REBATCHED, SYNC, loader
from tests.reference.loading.test_faults import FailsOnce, Faulty, FaultyStream, die, hang, throw, throw_local
from tests.reference.reference_probes import Numbers, Stream

pytestmark = [
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
    pytest.mark.filterwarnings("ignore:The last step of each epoch"),
    pytest.mark.filterwarnings("ignore:Each of the"),
]
STREAM = poptorch.split(Stream(9))

REFUSED: list[tuple[type[Exception], DataLoaderMode, Any, dict[str, Any], str]] = [
    (ValueError, SYNC, STREAM, {"async_options": {}}, "async_options is {}, but has no use in mode Sync"),
    (ValueError, SYNC, STREAM, {"rebatched_worker_size": 2}, "rebatched_worker_size is 2, but only AsyncRebatched"),
    (ValueError, ASYNC, STREAM, {"rebatched_worker_size": 2}, "rebatched_worker_size is 2, but only AsyncRebatched"),
    (ValueError, REBATCHED, STREAM, {"rebatched_worker_size": 0}, "rebatched_worker_size is 0, but must be at least 1"),
    (ValueError, REBATCHED, STREAM, {"rebatched_worker_size": 3}, "rebatched_worker_size is 3, but must be at most 2"),
    (ValueError, REBATCHED, STREAM, {"batch_size": None}, "batch_size is None, but AsyncRebatched"),
    (ValueError, ASYNC, STREAM, {"ahead": {"size": 3}}, "async_options has 'size', but the options are buffer_size, "),
    (ValueError, ASYNC, STREAM, {"ahead": {"buffer_size": 0}}, "buffer_size is 0, but must be at least 1"),
    (TypeError, ASYNC, STREAM, {"ahead": {"early_preload": 1}}, "early_preload is 1 of type int"),
    (TypeError, ASYNC, STREAM, {"ahead": {"sharing_strategy": 2}}, "sharing_strategy is 2 of type int"),
]


@pytest.mark.parametrize(("kind", "mode", "dataset", "how", "text"), REFUSED)
def test_what_cannot_be_is_refused(
    kind: type[Exception], mode: DataLoaderMode, dataset: Any, how: dict[str, Any], text: str
) -> None:
    """Each with the sentence that says why, and before a process is started."""
    with pytest.raises(kind, match=text):
        loader(mode, dataset, **how)


def told(made: Any) -> tuple[list[list[int]], str, bool]:
    """Return the steps before an error, what it is, and whether it is the end."""
    passing, steps = iter(made), []
    error: BaseException | None = None
    try:
        for step in passing:
            steps.append(step.tolist())
    except Exception as raised:
        error = raised
    return steps, f"{type(error).__name__}: {error}", next(passing, None) is None


@pytest.mark.parametrize(("workers", "bad"), list(product((0, 1, 2), (0, 1, 4, 8))))
def test_an_error_comes_in_its_place(workers: int, bad: int) -> None:
    """As in Sync, in every epoch (ASYNC-7)."""
    for act in (partial(throw, KeyError, "no"), partial(throw, StopIteration), throw_local):
        made, peer = (loader(mode, Faulty(9, bad, act), num_workers=workers, drop_last=False) for mode in (ASYNC, SYNC))
        for _ in range(2):
            found = told(made)
            assert found == told(peer) or act is throw_local
            assert (found[0], found[2]) == ([[at, at + 1] for at in range(0, bad // 2 * 2, 2)], True)
        made.terminate()
        peer.terminate()


@pytest.mark.parametrize(("workers", "mode"), list(product((0, 1, 2), (ASYNC, REBATCHED))))
def test_an_error_of_a_stream_comes_after_what_came_before(workers: int, mode: DataLoaderMode) -> None:
    """In every epoch (ASYNC-7)."""
    stream = poptorch.split(FaultyStream(9, 5, partial(throw, KeyError, "no")))
    made = loader(mode, stream, num_workers=workers, drop_last=False)
    for _ in range(2):
        steps, error, is_over = told(made)
        assert (error, is_over) == ("KeyError: 'no'", True)
        assert all(sample < 5 for step in steps for sample in step)
        assert workers or steps == [[0, 1], [2, 3]]
    made.terminate()


@pytest.mark.parametrize(("act", "workers"), list(product((die, partial(os._exit, 0)), (0, 1, 2))))
def test_a_death_is_an_error(act: Any, workers: int) -> None:
    """Never silence and never a hang (ASYNC-7)."""
    for dataset in (Faulty(9, 4, act), poptorch.split(FaultyStream(9, 4, act))):
        made = loader(ASYNC, dataset, num_workers=workers, timeout=20)
        for _ in range(2):
            steps, error, is_over = told(made)
            assert error.startswith("RuntimeError: A worker process ended within the epoch")
            assert (len(steps) <= 4, is_over) == (True, True)
        made.terminate()


@pytest.mark.parametrize("early", [False, True])
def test_a_producer_may_die_while_its_first_item_is_awaited(early: bool) -> None:
    """Before there is a layout, and before anything can be delivered (ASYNC-7)."""
    with pytest.raises(RuntimeError, match="A worker process ended"):
        list(loader(ASYNC, Faulty(9, 0, die), num_workers=2, ahead={"early_preload": early}, timeout=20))


@pytest.mark.parametrize(
    ("act", "workers", "size"),
    [(die, 2, 2), (throw_local, 2, 2), (throw_local, 1, 4), (throw_local, 0, 4), (die, 0, 4)],
)
def test_after_an_error_the_next_epoch_is_whole(tmp_path: Path, act: Any, workers: int, size: int) -> None:
    """Also where a smaller last step is the first that was ever loaded (WORK-14)."""
    mark = tmp_path / "mark"
    mark.touch()
    made = loader(ASYNC, FailsOnce(6, str(mark), act), size, num_workers=workers, drop_last=False)
    failed = iter(made)
    assert until_error(failed)[1] is not None
    for _ in range(2):
        assert [step.tolist() for step in made] == [list(range(6))[at : at + size] for at in range(0, 6, size)]
    made.terminate()


@pytest.mark.parametrize("workers", [0, 1])
def test_a_hanging_dataset_is_an_error(workers: int) -> None:
    """With a timeout (ERROR-7)."""
    made = loader(ASYNC, Faulty(9, 2, hang), num_workers=workers, timeout=1)
    steps, error, _ = told(made)
    assert (steps, error[:48]) == ([[0, 1]], "RuntimeError: No worker has delivered anything f")
    made.terminate()


def goes_deaf() -> None:
    """Close whatever this process has open, and live on."""
    os.closerange(3, 256)
    hang()


def reads_from_one_that_goes_deaf(line: Connection, timeout: float) -> None:
    """Tell what comes of a loader whose worker does so, when it is read and when it is terminated."""
    made = loader(ASYNC, Faulty(9, 4, goes_deaf), num_workers=1, timeout=timeout)
    pids = producers(made)
    steps, error = until_error(iter(made))
    made.terminate()
    line.send((steps, str(error), [has_ended(pid) for pid in pids]))


@pytest.mark.deep
@pytest.mark.parametrize("timeout", [0, 3])
def test_a_worker_that_closes_its_line_and_lives_on_is_an_error(timeout: float) -> None:
    """Nobody waits until it has ended, for it never will (ASYNC-7)."""
    with in_child(reads_from_one_that_goes_deaf, timeout) as (_, line):
        steps, error, ended = line_told(line)
    assert ([0, 2], [True]) == (steps, ended)
    assert error.startswith("A worker process ended within the epoch")


def initialise(file: str, worker: int) -> None:
    """Write down a worker."""
    with open(file, "a") as log:
        log.write(f"{worker} ")


@pytest.mark.parametrize(("mode", "dataset"), [(ASYNC, Numbers(9)), (ASYNC, STREAM), (REBATCHED, Numbers(9))])
def test_workers_are_initialised_once(tmp_path: Path, mode: DataLoaderMode, dataset: Any) -> None:
    """Over several epochs."""
    log = tmp_path / "log"
    made = loader(mode, dataset, num_workers=2, worker_init_fn=partial(initialise, str(log)))
    for _ in range(3):
        list(made)
    made.terminate()
    assert sorted(log.read_text().split()) == ["0", "1"]


@pytest.mark.parametrize(("mode", "kind"), list(product((ASYNC, REBATCHED), (ValueError, StopIteration))))
def test_a_worker_initialiser_may_fail(mode: DataLoaderMode, kind: type[Exception]) -> None:
    """In place of the first step, in every epoch (ERROR-6)."""
    for dataset in (Numbers(9), STREAM):
        made = loader(mode, dataset, num_workers=2, worker_init_fn=partial(throw, kind))
        for _ in range(2):
            steps, error, _ = told(made)
            assert (steps, error.split(":")[0]) == ([], "ValueError" if kind is ValueError else "RuntimeError")
        made.terminate()


def test_a_killed_worker_is_an_error_and_the_next_epoch_is_whole() -> None:
    """Whichever it is, while the loader is idle (ASYNC-7)."""
    made = loader(ASYNC, Numbers(40), num_workers=2, timeout=20)
    for victim in (0, 1):
        passing = iter(made)
        next(passing)
        os.kill(producers(made)[victim], signal.SIGKILL)
        made._consumer.producers.processes[victim].join()  # type: ignore[union-attr]
        steps, error = until_error(passing)
        assert (isinstance(error, RuntimeError), steps) == (True, list(range(2, 2 * len(steps) + 2, 2)))
        assert len(list(made)) == 20
    made.terminate()


def test_a_samplers_epoch_is_set_just_before_it_is_begun() -> None:
    """Nobody has asked it before (ASYNC-1)."""
    sampler = DistributedSampler(range(9), 2, 0, seed=3)
    found = []
    for mode in (SYNC, ASYNC):
        made = loader(mode, Numbers(9), sampler=sampler)
        for epoch in (4, 2, 9):
            sampler.set_epoch(epoch)
            found.append([step.tolist() for step in made])
        made.terminate()
    assert found[:3] == found[3:]


def test_a_failing_sampler_leaves_the_loader_usable() -> None:
    """Its error comes when it is asked, and the next epoch is whole."""

    class FailsOnceMore(list[int]):
        failed = False

        def __iter__(self) -> Any:
            yield from [0, 1]
            if not self.failed:
                self.failed = True
                raise KeyError("no")
            yield from [2, 3]

    made = loader(ASYNC, Numbers(9), sampler=FailsOnceMore([0, 1, 2, 3]), timeout=20)
    assert type(until_error(iter(made))[1]) is KeyError
    assert [step.tolist() for step in made] == [[0, 1], [2, 3]]
    made.terminate()


def test_the_last_epoch_of_all_is_whole() -> None:
    """There is none to be read ahead after it."""
    for workers in (0, 2):
        made, peer = (loader(mode, Numbers(9), shuffle=True, seed=1, num_workers=workers) for mode in (ASYNC, SYNC))
        for each in (made, peer):
            each.set_epoch(MOST_EPOCH)
        assert [step.tolist() for step in made] == [step.tolist() for step in peer]
        made.terminate()
        peer.terminate()


class LastHasAll(IterableDataset[int]):
    """The last worker yields all five elements, and the others none."""

    def __iter__(self) -> Iterator[int]:
        info = get_worker_info()
        return iter(range(5 if info is None or info.id == info.num_workers - 1 else 0))


@pytest.mark.parametrize(("workers", "size"), list(product((1, 2, 5), (1, 2, 3))))
def test_workers_without_data_do_not_stop_those_with_some(workers: int, size: int) -> None:
    """However many ends come before the next step, and however few slots there are for them (ASYNC-1)."""
    made = loader(ASYNC, LastHasAll(), 1, num_workers=workers, ahead={"buffer_size": size}, timeout=5)
    for _ in range(2):
        assert [int(step) for step in made] == [0, 1, 2, 3, 4]
    made.terminate()


def test_an_epoch_is_begun_while_a_step_of_another_is_written() -> None:
    """With one slot, which is not free until its writer says so (ASYNC-6)."""
    made = loader(ASYNC, Numbers(400), 100, ahead={"buffer_size": 1}, num_workers=2, shuffle=True, seed=1)
    peer = loader(SYNC, Numbers(400), 100, shuffle=True, seed=1)
    for epoch in (5, 0, 5, 1, 2):
        for each in (made, peer):
            each.set_epoch(epoch)
        assert torch.equal(next(iter(made)), next(iter(peer)))
    made.terminate()
