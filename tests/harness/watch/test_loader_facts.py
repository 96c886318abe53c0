"""What a loader says of itself: the parts of its dataset, and a batch sampler of the user's own."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from torch.utils.data import (
    BatchSampler,
    ConcatDataset,
    DataLoader,
    RandomSampler,
    SequentialSampler,
    Subset,
    WeightedRandomSampler,
)

from conformance.watch import facts
from conformance.watch.lines import handed_on


class Buckets(BatchSampler):
    """Cuts the batches by itself, and has a sampler below it."""

    def __iter__(self) -> Iterator[list[int]]:
        """Two batches."""
        yield from ([0, 1], [2])


DATA: Any = list(range(3))
BOTH: Any = ConcatDataset([DATA, DATA])


@pytest.mark.parametrize(
    ("loader", "parts", "own"),
    [
        pytest.param(DataLoader(BOTH), [3, 6], None, id="a-concat-dataset"),
        pytest.param(DataLoader(Subset(BOTH, [0])), [3, 6], None, id="a-subset-of-one"),
        pytest.param(DataLoader(ConcatDataset([DATA] * 1001)), None, None, id="too-many-parts"),
        pytest.param(DataLoader(DATA, batch_sampler=Buckets(SequentialSampler(DATA), 2, False)), None, True, id="own"),
        pytest.param(
            DataLoader(DATA, batch_sampler=BatchSampler(SequentialSampler(DATA), 2, False)), None, None, id="torchs"
        ),
        pytest.param(DataLoader(DATA, batch_size=None), None, None, id="none"),
    ],
)
def test_parts_and_a_batch_sampler_of_the_users_own_are_told(
    loader: Any, parts: list[int] | None, own: bool | None
) -> None:
    """By them the judges know what is repeated as a whole, and who drops a tail."""
    said = facts.loader(loader, {})
    assert (parts, own) == (said["parts"], said["own_batches"])


class ByClass(WeightedRandomSampler):
    """Draws a class, and gives a sample of it."""

    def __iter__(self) -> Iterator[int]:
        """Two samples."""
        yield from (1, 2)


TWO = WeightedRandomSampler([0.5, 0.5], 3)


@pytest.mark.parametrize(
    ("loader", "expected"),
    [
        pytest.param(DataLoader(DATA, sampler=TWO), {"what": "weights", "from": 2, "of": 3}, id="weights"),
        pytest.param(
            DataLoader(Subset(DATA, [0, 1]), sampler=TWO), {"what": "weights", "from": 2, "of": 2}, id="a-subset"
        ),
        pytest.param(
            DataLoader(DATA, batch_sampler=BatchSampler(TWO, 2, False)),
            {"what": "weights", "from": 2, "of": 3},
            id="in-torchs-batch-sampler",
        ),
        pytest.param(
            DataLoader(DATA, sampler=RandomSampler(range(2), replacement=True)),
            {"what": "data_source", "from": 2, "of": 3},
            id="from-another-dataset",
        ),
        pytest.param(DataLoader(DATA, sampler=RandomSampler(range(2))), None, id="a-shuffle"),
        pytest.param(DataLoader(DATA, sampler=ByClass([0.5, 0.5], 3)), None, id="a-sampler-of-ones-own"),
        pytest.param(DataLoader(DATA, batch_sampler=Buckets(TWO, 2, False)), None, id="a-batch-sampler-of-ones-own"),
    ],
)
def test_from_how_many_a_sampler_draws_is_told(loader: Any, expected: dict[str, Any] | None) -> None:
    """By it the judges know what can never be drawn."""
    assert expected == facts.loader(loader, {})["draws"]


# What Lightning does around constructors that a hook of the user's calls, and what one does that rebuilds a loader.
_WRAPPER = """
def around(init):
    def wrapper(obj, *given, **named):
        return init(obj, *given, **named)
    return wrapper

def makes(kind, *given):
    return kind(*given)
"""


class Made(DataLoader[int]):
    """A loader that notes which library has made it."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.made_by = handed_on(sys._getframe(), self)


def test_a_wrapped_constructor_is_no_library_that_hands_on(tmp_path: Path) -> None:
    """Lightning's function around a constructor, which the user's code calls, makes no loader; what calls one does."""
    library: dict[str, Any] = {}
    exec(compile(_WRAPPER, str(tmp_path / "site-packages" / "lightning" / "data.py"), "exec"), library)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Made, "__init__", library["around"](Made.__init__))
        assert "" == Made([1, 2]).made_by
        assert "lightning" == library["makes"](Made, [1, 2]).made_by
