"""A user's batch sampler with device options: each batch is one micro-batch, collated by itself, in every mode."""

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch.utils.data import MapDataPipe

import reference as poptorch
from reference import DataLoader, DataLoaderMode, SharingStrategy
from tests.reference.reference_probes import Numbers, options

pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")
MODES = list(DataLoaderMode)
BATCHES = [[0], [1, 2], [3], [4, 5]]


def padded(samples: list[int]) -> torch.Tensor:
    """Two rows, the second of which may be -1."""
    return torch.tensor([*samples, -1][:2])


def named(samples: list[int]) -> dict[str, Any]:
    """A dict, with a scalar and a tuple in it."""
    return {"rows": padded(samples), "count": torch.tensor(len(samples)), "pair": (padded(samples) * 2, [])}


def loader(mode: DataLoaderMode = DataLoaderMode.Sync, dataset: Any = None, **how: Any) -> DataLoader:
    """A loader over six numbers with a batch sampler; asynchronous ones fork. g, r and d go to its options."""
    factors = {name: how.pop(name) for name in ("g", "r", "d") if name in how}
    how = {"batch_sampler": BATCHES, **how}
    if mode is not DataLoaderMode.Sync:
        how["async_options"] = {"sharing_strategy": SharingStrategy.Fork}
    return DataLoader(options(**factors), Numbers(6) if dataset is None else dataset, mode=mode, **how)


def steps(made: DataLoader) -> list[Any]:
    """The steps of an epoch as plain data, each read before the next one is asked for."""
    found = [plain(step) for step in made]
    made.terminate()
    return found


def plain(step: Any) -> Any:
    """Tensors as lists."""
    if isinstance(step, torch.Tensor | np.ndarray):
        return step.tolist()
    if isinstance(step, dict):
        return {key: plain(value) for key, value in step.items()}
    return type(step)(map(plain, step)) if isinstance(step, list | tuple) else step


@pytest.mark.parametrize(("mode", "workers"), list(product(MODES, (0, 2))))
def test_each_batch_is_collated_by_itself(mode: DataLoaderMode, workers: int) -> None:
    """A step of two device iterations joins what two calls of the collate function gave (BATCH-3)."""
    made = loader(mode, num_workers=workers, d=2, collate_fn=padded)
    assert ([[0, -1, 1, 2], [3, -1, 4, 5]], 2) == (steps(made), len(made))


@pytest.mark.parametrize(("factors", "drop"), list(product([{"d": 3}, {"g": 3}, {"r": 3}], (True, False))))
@pytest.mark.parametrize("mode", MODES)
def test_all_factors_join(mode: DataLoaderMode, factors: dict[str, int], drop: bool) -> None:
    """Three micro-batches make a step whichever factor is 3; of four batches one is left over (BATCH-3, COUNT-4)."""
    made = loader(mode, collate_fn=padded, drop_last=drop, **factors)
    expected = [[0, -1, 1, 2, 3, -1], [4, 5]]
    assert (expected[: 2 - drop], 2 - drop) == (steps(made), len(made))


@pytest.mark.parametrize(("mode", "workers"), list(product(MODES, (0, 2))))
def test_structures_are_joined_place_by_place(mode: DataLoaderMode, workers: int) -> None:
    """Dicts, tuples and empty containers stay what they are; scalars are stacked."""
    rows = [0, -1, 1, 2]
    first = {"rows": rows, "count": [1, 2], "pair": ([2 * each for each in rows], [])}
    assert first == steps(loader(mode, num_workers=workers, d=2, collate_fn=named))[0]


class Packed:
    """A batch of a type of the user's own."""

    def __init__(self, rows: torch.Tensor, count: torch.Tensor) -> None:
        self.rows = rows
        self.count = count


class PackedParser(poptorch.ICustomArgParser):
    """Finds its tensors."""

    def yieldTensors(self, struct: Packed) -> Iterator[torch.Tensor]:
        yield from (struct.rows, struct.count)

    def reconstruct(self, original_structure: Packed, tensor_iterator: Iterator[torch.Tensor]) -> Packed:
        return Packed(*tensor_iterator)


poptorch.registerCustomArgParser(Packed, PackedParser())


@pytest.mark.parametrize(("mode", "workers"), list(product(MODES[:2], (0, 2))))
def test_a_registered_type_is_joined_by_its_parser(mode: DataLoaderMode, workers: int) -> None:
    """Its tensors as those of any other structure."""
    made = loader(
        mode, num_workers=workers, d=2, collate_fn=lambda samples: Packed(padded(samples), torch.tensor(len(samples)))
    )
    assert [([0, -1, 1, 2], [1, 2]), ([3, -1, 4, 5], [1, 2])] == [
        (step.rows.tolist(), step.count.tolist()) for step in made
    ]
    made.terminate()


class Pair(NamedTuple):
    """A sample of two kinds."""

    number: int
    text: str


class Words(Numbers):
    """Samples of a number, a text and an array of text."""

    def __getitem__(self, index: int) -> Any:
        return Pair(index, "abcdef"[index]), np.array(["x", "y"])


def test_the_loaders_own_collating_is_joined() -> None:
    """What is not a tensor is joined as it is collated: lists of text, arrays of text, named tuples."""
    (first, _) = loader(dataset=Words(6), d=2)
    assert (Pair, [0, 1, 2], list("abc")) == (type(first[0]), first[0].number.tolist(), first[0].text)
    assert ["x", "y"] * 3 == first[1].flatten().tolist()


@pytest.mark.parametrize("mode", MODES)
def test_batches_of_unequal_length_are_joined(mode: DataLoaderMode) -> None:
    """A step holds the samples of its batches, however many."""
    made = loader(mode, batch_sampler=[[0, 1], [2, 3], [4], [5]], d=2)
    assert [[0, 1, 2, 3], [4, 5]] == steps(made)


def test_a_step_longer_than_the_first_does_not_fit_the_ring() -> None:
    """Asynchronously it is an error that says so, and never less of it (ASYNC-11)."""
    made = loader(DataLoaderMode.Async, batch_sampler=[[0], [1], [2, 3], [4, 5]], d=2)
    with pytest.raises(ValueError, match=r"Item 1 is a tensor of shape \(4,\), but in the first item it was \(2,\)"):
        steps(made)


def test_a_batch_may_be_any_iterable_of_indices() -> None:
    """A range, a tuple, or a tensor, as torch allows."""
    assert [[0, 1, 2, 3]] == steps(loader(batch_sampler=[range(2), (2, 3)], d=2))
    assert [[0, 1], [2, 3]] == steps(loader(batch_sampler=[range(2), (2, 3)]))


class ReadTogether(Numbers):
    """Reads the samples of a batch at once."""

    def __init__(self, samples: int) -> None:
        super().__init__(samples)
        self.asked: list[list[int]] = []

    def __getitems__(self, indices: list[int]) -> list[int]:
        self.asked.append(indices)
        return [index * 10 for index in indices]


def test_a_dataset_that_reads_batches_is_asked_for_each() -> None:
    """`__getitems__` is given one batch of the sampler, and not a step."""
    dataset = ReadTogether(6)
    assert [[0, 10, 20], [30, 40, 50]] == steps(loader(dataset=dataset, d=2))
    assert dataset.asked == BATCHES


class Mapped(MapDataPipe[int]):
    """A data pipe that is indexed."""

    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> int:
        return index


@pytest.mark.parametrize("workers", [0, 1])
def test_a_data_pipe_is_read_like_a_dataset(workers: int) -> None:
    """What torch knows by its type is indexed by samples, too."""
    assert [[0, -1, 1, 2], [3, -1, 4, 5]] == steps(
        loader(dataset=Mapped(), d=2, collate_fn=padded, num_workers=workers)
    )


class Failing(Numbers):
    """Sample 4 can't be read."""

    def __getitem__(self, index: int) -> int:
        if index == 4:
            raise KeyError("four")
        return index


@pytest.mark.parametrize(("mode", "workers"), list(product(MODES[:2], (0, 1))))
def test_a_failing_sample_fails_its_step(mode: DataLoaderMode, workers: int) -> None:
    """With its own type, after the steps before it (ERROR-1, ERROR-2)."""
    passing = iter(loader(mode, Failing(6), d=2, num_workers=workers, collate_fn=padded))
    assert [0, -1, 1, 2] == next(passing).tolist()
    with pytest.raises(KeyError, match="four"):
        next(passing)


def test_one_batch_is_a_step_as_it_is() -> None:
    """Without device options nothing is joined: the collate function may give what it likes."""
    assert [1, 2, 1, 2] == steps(loader(collate_fn=len))


def test_an_empty_batch_is_refused() -> None:
    """There is nothing to collate."""
    with pytest.raises(ValueError, match="A batch without a sample can't be collated"):
        steps(loader(batch_sampler=[[0], []], d=2))


class Unknown:
    """As many batches as its epoch's number and two more; no length."""

    def __init__(self) -> None:
        self.epochs = 0

    def __iter__(self) -> Iterator[list[int]]:
        self.epochs += 1
        return iter([[index] for index in range(self.epochs + 2)])


def test_a_sampler_may_give_another_number_of_batches_in_each_epoch() -> None:
    """Steps are joined as they come; the rest that fills none is dropped, or kept (COUNT-2)."""
    made = loader(batch_sampler=Unknown(), d=2, drop_last=False)
    assert [[[0, 1], [2]], [[0, 1], [2, 3]], [[0, 1], [2, 3], [4]]] == [steps(made) for _ in range(3)]


def test_a_step_fits_the_device() -> None:
    """The micro-batches of the sampler are those of the model (DEVICE-2)."""
    made = options(d=2)
    loader_ = poptorch.DataLoader(made, Numbers(6), batch_sampler=BATCHES, collate_fn=padded)
    model = poptorch.inferenceModel(Rows(), made)
    assert [[[0, -1], [1, 2]], [[3, -1], [4, 5]]] == [model(step).tolist() for step in loader_]


class Rows(torch.nn.Module):
    """Gives a micro-batch back as one row."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[None]


def test_an_accessor_carries_joined_steps() -> None:
    """A loader inside an accessor joins as it does alone (ASYNC-1)."""
    made = poptorch.AsynchronousDataAccessor(loader(d=2, collate_fn=padded), sharing_strategy=SharingStrategy.Fork)
    assert [[0, -1, 1, 2], [3, -1, 4, 5]] == [step.tolist() for step in made]
    made.terminate()
