"""What is told of the lists behind a dataset's indices."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import ConcatDataset, Dataset

from conformance.watch import entries
from conformance.watch.entries import entries_of


class Files(Dataset[Any]):
    """A dataset that holds what it is given."""

    def __init__(self, **held: Any) -> None:
        self.__dict__.update(held)
        self.length = len(next(iter(held.values())))

    def __len__(self) -> int:
        return self.length


PATHS = [f"{number}.npy" for number in range(9)]


@pytest.mark.parametrize("paths", [PATHS, [Path(each) for each in PATHS], [(each, 1) for each in PATHS]])
def test_another_order_has_another_print_and_the_same_entries(paths: list[Any]) -> None:
    """Of texts, of paths, and of pairs with one in them."""
    (one,) = entries_of(Files(paths=paths)).values()
    (other,) = entries_of(Files(paths=paths[::-1])).values()
    (third,) = entries_of(Files(paths=[*paths[:-1], paths[0]])).values()
    assert (True, True) == (one[0] != other[0], one[1] == other[1])
    assert one[1] != third[1]


def test_what_is_not_a_list_of_files_has_one_print() -> None:
    """Numbers, rows of a tensor: it may be what an index means, or not."""
    found = entries_of(Files(paths=PATHS, rows=torch.zeros(9, 2), same=["a"] * 9, few=["a", "b"]))
    assert {"dataset.paths": True, "dataset.rows": False} == {name: bool(prints[1]) for name, prints in found.items()}


def test_datasets_in_a_dataset_are_looked_into() -> None:
    """Each list belongs to the one that is as long."""
    joint = ConcatDataset([Files(paths=PATHS), Files(paths=PATHS[:4])])
    assert ["dataset.datasets[0].paths", "dataset.datasets[1].paths"] == list(entries_of(joint))


def test_a_long_list_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """That would be felt when a loader is made."""
    monkeypatch.setattr(entries, "_LONGEST", 8)
    assert [""] == [prints[1] for prints in entries_of(Files(paths=PATHS)).values()]
