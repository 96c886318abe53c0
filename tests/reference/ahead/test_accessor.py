"""The accessor in use: what it yields, whatever it is asked for, what it refuses, and how errors arrive."""

import os
import signal
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import reference as poptorch
from reference import DataLoaderMode, SharingStrategy
from tests.reference.ahead.async_probes import (
    Ends,
    Graph,
    GraphParser,
    Graphs,
    Items,
    numbers,
    producers,
    running,
    until_error,
)
from tests.reference.reference_probes import Numbers, options

pytestmark = [
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
    pytest.mark.filterwarnings("ignore:The last step of each epoch"),
]


@pytest.fixture
def _graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reference.ahead.layout._parsers", {})
    poptorch.registerCustomArgParser(Graph, GraphParser())


@pytest.mark.usefixtures("_graphs")
@pytest.mark.parametrize("strategy", SharingStrategy)
def test_every_strategy_delivers(strategy: SharingStrategy) -> None:
    """Also items of a type that only the consumer's process has registered."""
    with running(Graphs(4), sharing_strategy=strategy) as made:
        for _ in range(2):
            assert numbers(graph.nodes for graph in made) == [0, 1, 2, 3]


@pytest.mark.deep
def test_a_loader_travels_by_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that was iterated before, too, with workers that persist; and the file has no name."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    loader = poptorch.DataLoader(options(3), Numbers(8), 2, shuffle=True, num_workers=1)
    list(loader)
    expected = [step.tolist() for step in loader]
    loader.set_epoch(1)
    with running(loader, sharing_strategy=SharingStrategy.FileSystem) as made:
        # The folder of multiprocessing's own is no file of ours.
        files = [path for path in tmp_path.iterdir() if not path.name.startswith("pymp-")]
        assert ([step.tolist() for step in made], files) == (expected, [])
    loader.terminate()


SIZES = list(product((1, 2, 3, 4), (False, True), (False, True)))


@pytest.mark.parametrize(("size", "on", "early"), SIZES)
def test_every_epoch_is_whole_and_in_order(size: int, on: bool, early: bool) -> None:
    """With buffers of any size, loading on or not, early or not, left or read to the end."""
    with running(Items(5), buffer_size=size, load_indefinitely=on, early_preload=early) as made:
        for left in (5, 1, 4, 0, 5):
            passing = iter(made)
            assert [int(next(passing)[0]) for _ in range(left)] == list(range(left))
        assert (numbers(made), numbers(made)) == ([0, 1, 2, 3, 4], [0, 1, 2, 3, 4])


def test_a_kept_item_is_overwritten_and_a_cloned_one_stays() -> None:
    """The documentation's list of labels: three slots, filled again and again."""
    with running(Items(6), load_indefinitely=False) as made:
        kept, cloned = [], []
        for label in made:
            kept.append(label)
            cloned.append(label.clone())
    assert (numbers(kept), numbers(cloned)) == ([3, 4, 5, 3, 4, 5], [0, 1, 2, 3, 4, 5])


@pytest.mark.parametrize(("count", "rows", "size"), [(5, 2, 3), (5, 2, 5), (3, 4, 2), (2, 2, 7), (4, 3, 12), (1, 1, 2)])
def test_items_are_cut_anew(count: int, rows: int, size: int) -> None:
    """To items of the size that is asked for; of a list all rows come, the last item smaller."""
    every = [number for number in range(count) for _ in range(rows)]
    cut = [every[at : at + size] for at in range(0, len(every), size)]
    with running(Items(count, rows), rebatched_size=size) as made:
        for _ in range(2):
            assert [item.tolist() for item in made] == cut


@pytest.mark.parametrize(("drop", "samples"), list(product((True, False), (7, 12, 13))))
def test_a_loaders_rest_is_dropped_or_kept_as_it_says(drop: bool, samples: int) -> None:
    """floor(n / N) x N samples of n, or all."""
    # One sample to a step, so that the loader has no rest of its own.
    loader = poptorch.DataLoader(options(), Numbers(samples), 1, drop_last=drop)
    with running(loader, rebatched_size=3) as made:
        steps = [step.tolist() for step in made]
    delivered = list(range(samples // 3 * 3 if drop else samples))
    assert steps == [delivered[at : at + 3] for at in range(0, len(delivered), 3)]


def test_a_loader_with_workers_can_be_wrapped() -> None:
    """Epoch after epoch it gives what it gives by itself, from the epoch on that was set."""
    alone = poptorch.DataLoader(options(3), Numbers(9), 2, shuffle=True)
    helped = poptorch.DataLoader(options(3), Numbers(9), 2, shuffle=True, num_workers=2)
    for loader in (alone, helped):
        loader.set_epoch(4)
    with running(helped) as made:
        assert len(made) == len(alone)
        for _ in range(3):
            assert [step.tolist() for step in made] == [step.tolist() for step in alone]


@pytest.mark.parametrize("early", [False, True])
def test_an_empty_dataset_is_refused(early: bool) -> None:
    """At construction."""
    for dataset in (Items(0), []):
        with pytest.raises(ValueError, match=r"^The Dataset is empty"), running(dataset, early_preload=early):
            pass


@pytest.mark.parametrize("early", [False, True])
def test_a_failing_first_item_fails_the_construction(early: bool) -> None:
    """With a sentence, and with the dataset's own error as its cause."""
    with pytest.raises(RuntimeError, match=r"worker thread failed to start.*KeyError: 'no'") as caught:
        running(Ends(3, 0, KeyError("no")), early_preload=early).__enter__()
    assert type(caught.value.__cause__) is KeyError


@pytest.mark.parametrize(("size", "early"), list(product((1, 2, 4), (False, True))))
def test_a_failing_item_fails_in_its_place(size: int, early: bool) -> None:
    """After every item before it, in every epoch; and what has failed stays at its end (ASYNC-7)."""
    with running(Ends(5, 3, KeyError("no")), buffer_size=size, early_preload=early) as made:
        for _ in range(3):
            passing = iter(made)
            steps, error = until_error(passing)
            assert (steps, type(error), next(passing, None)) == ([0, 1, 2], KeyError, None)


def test_an_iterator_is_asked_for_again() -> None:
    """Unused it is the same; used, the new one begins the next epoch and the old one says so (WORK-13)."""
    with running(Items(3)) as made:
        one = iter(made)
        assert iter(made) is one
        assert (int(next(made)[0]), int(next(one)[0])) == (0, 1)
        two = iter(made)
        with pytest.raises(RuntimeError, match=r"^This epoch was left"):
            next(one)
        assert numbers(two) == [0, 1, 2]
        assert (next(two, None), next(made, None)) == (None, None)


def test_terminating_may_come_at_any_time() -> None:
    """Twice, unused, in mid-epoch and at the end; what is iterated afterwards is a whole epoch (WORK-15)."""
    with running(Items(4)) as made:
        for steps in (0, 2, 4):
            passing = iter(made)
            for _ in range(steps):
                next(passing)
            made.terminate()
            made.terminate()
            with pytest.raises(RuntimeError, match="terminated"):
                next(passing)
            assert numbers(made) == [0, 1, 2, 3]


def test_what_is_held_outlives_the_accessor() -> None:
    """Its memory stays mapped as long as anything refers to it."""
    with running(Items(3)) as made:
        item = next(iter(made))
    del made
    assert item.tolist() == [0, 0]


@pytest.mark.parametrize("at", [0, 2])
def test_a_killed_producer_is_an_error(at: int) -> None:
    """And not the end of the data; what is iterated afterwards is whole (ASYNC-7)."""
    with running(Items(40), buffer_size=1) as made:
        passing = iter(made)
        before = [int(next(passing)[0]) for _ in range(at)]
        os.kill(producers(made)[0], signal.SIGKILL)
        made._consumer.producers.processes[0].join()
        steps, error = until_error(passing)
        assert before + steps == list(range(len(before + steps)))
        assert isinstance(error, RuntimeError)
        assert "exit code -9" in str(error)
        assert numbers(made) == list(range(40))


def async_loader() -> Any:
    """Return a loader that is asynchronous already."""
    made = poptorch.DataLoader(
        options(), Numbers(4), mode=DataLoaderMode.Async, async_options={"sharing_strategy": SharingStrategy.Fork}
    )
    made.terminate()
    return made


REFUSED: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
    (async_loader, {}, ValueError, "is asynchronous already"),
    (lambda: poptorch.DataLoader(options(), Numbers(9), 2, drop_last=False), {}, ValueError, "incomplete last step"),
    (lambda: Items(3), {"rebatched_size": 1}, ValueError, "rebatched_size is 1, but must be at least 2"),
    (lambda: Items(3), {"rebatched_size": 2.0}, TypeError, "rebatched_size is 2.0 of type float"),
    (lambda: Items(3), {"buffer_size": 0}, ValueError, "buffer_size is 0, but must be at least 1"),
    (lambda: Items(3), {"early_preload": 1}, TypeError, "early_preload is 1 of type int"),
    (lambda: Items(3), {"load_indefinitely": None}, TypeError, "load_indefinitely is None"),
    (lambda: Items(3), {"sharing_strategy": "fork"}, TypeError, "sharing_strategy is 'fork' of type str"),
    (lambda: Items(3), {"miss_sleep_time_in_ms": "1"}, TypeError, "miss_sleep_time_in_ms is '1' of type str"),
    (lambda: 3, {}, TypeError, "The dataset is 3, which can't be iterated"),
    (lambda: [1, 2], {}, RuntimeError, "An item is 1 of type int"),
]


@pytest.mark.parametrize(("make", "how", "kind", "text"), REFUSED)
def test_what_cannot_be_is_refused(make: Any, how: dict[str, Any], kind: type[Exception], text: str) -> None:
    """Each with the sentence that says why."""
    with pytest.raises(kind, match=text), running(make(), **how):
        pass


def test_a_loader_that_keeps_single_samples_can_be_wrapped() -> None:
    """A step of one sample is never incomplete."""
    with running(poptorch.DataLoader(options(), Numbers(3), 1, drop_last=False)) as made:
        assert numbers(made) == [0, 1, 2]
