"""Iterable-style datasets over ranks and workers."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import reference as poptorch
from reference.rules.splitting import LAYOUTS, share
from tests.reference.reference_probes import Stream, flat, options

# torch warns where there are more workers than processors; the machine is no matter here.
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")

COUNTS = st.integers(1, 5)


class Bounded(torch.utils.data.IterableDataset[int]):
    """The numbers from `start` to `end` by `step`, as the tutorials write such datasets."""

    def __init__(self, start: int, end: int, step: int = 1) -> None:
        self.start, self.end, self.step = start, end, step

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.start, self.end, self.step))


class Sized(Stream):
    """A stream that says how long it is."""

    def __len__(self) -> int:
        return self.samples


def stream(dataset: Any, batch_size: int = 1, **how: Any) -> list[list[int]]:
    """Return the steps of one epoch over an iterable-style dataset."""
    return [step.tolist() for step in loader(dataset, batch_size, **how)]


def loader(dataset: Any, batch_size: int = 1, **how: Any) -> poptorch.DataLoader:
    """Return a loader over an iterable-style dataset that shares itself out."""
    how = {"drop_last": False, "persistent_workers": False, **how}
    return poptorch.DataLoader(options(), dataset, batch_size, **how)


@given(st.integers(0, 60), COUNTS, COUNTS, st.sampled_from(LAYOUTS))
def test_every_element_is_in_one_share(length: int, ranks: int, workers: int, layout: str) -> None:
    """The shares of all workers of all ranks add up to the dataset (WORK-3)."""
    parts = [
        range(length)[share(length, rank, ranks, worker, workers, layout)]
        for rank, worker in product(range(ranks), range(workers))
    ]
    assert list(range(length)) == sorted(flat([list(part) for part in parts]))


@given(st.integers(0, 60), COUNTS, COUNTS, COUNTS, st.sampled_from(LAYOUTS))
def test_the_elements_of_a_rank_do_not_depend_on_its_workers(
    length: int, ranks: int, few: int, many: int, layout: str
) -> None:
    """Whatever helps it, a rank has the same elements; and as many as any other, but for one."""

    def of_rank(rank: int, workers: int) -> set[int]:
        shares = [share(length, rank, ranks, worker, workers, layout) for worker in range(workers)]
        return {element for part in shares for element in range(length)[part]}

    assert [of_rank(rank, few) for rank in range(ranks)] == [of_rank(rank, many) for rank in range(ranks)]
    sizes = {len(of_rank(rank, few)) for rank in range(ranks)}
    assert max(sizes) - min(sizes) <= 1


def test_element_i_goes_to_rank_i_mod_r_and_worker_i_div_r_mod_w() -> None:
    """The strided assignment, spelled out for 2 ranks of 3 workers."""
    for rank, worker in product(range(2), range(3)):
        mine = range(30)[share(30, rank, 2, worker, 3)]
        assert list(mine) == [i for i in range(30) if i % 2 == rank and i // 2 % 3 == worker]


def test_an_unknown_length_leaves_the_share_open() -> None:
    """Strided shares need no length; contiguous ones say that they do."""
    assert share(None, 1, 2, 2, 3) == slice(5, None, 6)
    with pytest.raises(TypeError, match="needs the length of the dataset"):
        share(None, 1, 2, 2, 3, "contiguous")


@pytest.mark.parametrize("workers", [3, 10])
def test_the_tutorials_tail_is_not_lost(workers: int) -> None:
    """3 to 99 over 3 workers keeps 99 and over 10 keeps 93 to 99, where rounding down loses them (WORK-3)."""
    shares = [share(97, 0, 1, worker, workers, "contiguous") for worker in range(workers)]
    assert [element for part in shares for element in range(3, 100)[part]] == list(range(3, 100))


@pytest.mark.parametrize(("layout", "workers"), list(product(LAYOUTS, (0, 1, 3))))
def test_a_split_dataset_is_delivered_once(layout: str, workers: int) -> None:
    """Two ranks with and without workers deliver each element once (WORK-3)."""
    made = [poptorch.split(Sized(11), rank, 2, layout=layout) for rank in range(2)]
    assert sorted(flat(flat([stream(each, 2, num_workers=workers) for each in made]))) == list(range(11))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_worker_initialiser_splits_too(layout: str) -> None:
    """Narrowing the bounds of each worker's copy delivers each element once, epoch after epoch (WORK-3)."""
    dataset = Bounded(3, 14)
    for persistent in (False, True):
        seen = []
        for rank in range(2):
            init = poptorch.split_worker_init_fn(rank, 2, layout=layout)
            made = loader(dataset, num_workers=2, worker_init_fn=init, persistent_workers=persistent)
            epochs = [[step.tolist() for step in made] for _ in range(2)]
            made.terminate()
            assert epochs[0] == epochs[1]
            seen += flat(epochs[0])
        assert sorted(seen) == list(range(3, 14))
    assert (dataset.start, dataset.end, dataset.step) == (3, 14, 1)


def test_an_initialiser_needs_bounds() -> None:
    """A dataset without start and end can't be narrowed, and the error says what helps."""
    made = loader(Stream(4), num_workers=1, worker_init_fn=poptorch.split_worker_init_fn())
    with pytest.raises(TypeError, match=r"no attribute 'start'.*wrap it in split"):
        list(made)


def test_a_stream_without_a_split_warns_and_repeats() -> None:
    """Two workers deliver everything twice, as the warning says (WORK-4)."""
    with pytest.warns(UserWarning, match="every element comes 2 times"):
        made = loader(Stream(3), num_workers=2)
    assert sorted(flat([step.tolist() for step in made])) == [0, 0, 1, 1, 2, 2]


def test_workers_keep_the_order_of_what_they_read() -> None:
    """Elements of one worker arrive in the order of the stream (WORK-6)."""
    made = stream(poptorch.split(Stream(12)), 2, num_workers=2)
    assert made == [[0, 2], [1, 3], [4, 6], [5, 7], [8, 10], [9, 11]]


class RoundedUp(Sized):
    """The split of the documentation: each worker but the last takes ceil(n / workers) elements."""

    def __iter__(self) -> Iterator[int]:
        info = torch.utils.data.get_worker_info()
        assert info is not None
        each = -(-self.samples // info.num_workers)
        return iter(range(info.id * each, min(self.samples, (info.id + 1) * each)))


@pytest.mark.filterwarnings("ignore:Each of the 7 workers")
def test_each_worker_drops_its_own_rest() -> None:
    """Of 100 elements, 7 workers with steps of 4 use 84 of an even split, and 80 of one rounded up (WORK-5)."""
    how = {"num_workers": 7, "drop_last": True, "prefetch_factor": 1}
    assert len(flat(stream(poptorch.split(Stream(100)), 4, **how))) == 84
    assert len(flat(stream(RoundedUp(100), 4, **how))) == 80


@pytest.mark.parametrize(("layout", "workers", "drop"), list(product(LAYOUTS, (0, 2), (True, False))))
def test_the_length_counts_each_workers_steps(layout: str, workers: int, drop: bool) -> None:
    """len() of a loader over a split dataset is what an epoch yields (COUNT-4)."""
    for rank in range(2):
        made = loader(poptorch.split(Sized(11), rank, 2, layout=layout), 2, num_workers=workers, drop_last=drop)
        assert len(made) == len(list(made))


def test_an_unknown_length_is_a_type_error() -> None:
    """Nobody can count the steps of a stream, nor of workers that split a dataset by themselves (COUNT-4)."""
    for dataset in (poptorch.split(Stream(4)), poptorch.split(Stream(4), 1, 2)):
        with pytest.raises(TypeError, match="length"):
            len(dataset)
        with pytest.raises(TypeError):
            len(loader(dataset))
    made = loader(Sized(4), num_workers=2, worker_init_fn=print)
    with pytest.raises(TypeError, match="can't be counted"):
        len(made)


def test_more_elements_than_promised_are_an_error() -> None:
    """A contiguous split of a dataset whose length is too small does not lose the rest in silence (WORK-3)."""
    with pytest.raises(RuntimeError, match="more elements than its length, 3"):
        stream(poptorch.split(Stream(4), layout="contiguous", length=3))


def test_few_elements_leave_workers_idle() -> None:
    """One element on two ranks of two workers is delivered once, and the rest ends at once (COUNT-6)."""
    assert [stream(poptorch.split(Stream(1), rank, 2), num_workers=2) for rank in range(2)] == [[[0]], []]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"rank": 2, "ranks": 2}, "less than the world size"), ({"layout": "random"}, "must be one of")],
)
def test_a_bad_split_is_refused(arguments: dict[str, Any], message: str) -> None:
    """Errors come where the split is made and not in a worker (BATCH-4)."""
    with pytest.raises(ValueError, match=message):
        poptorch.split(Stream(4), **arguments)
    with pytest.raises(ValueError, match=message):
        poptorch.split_worker_init_fn(**arguments)
