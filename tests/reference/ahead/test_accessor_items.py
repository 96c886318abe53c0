"""Iterables that are not as they should be, behind an accessor: nothing comes twice, nothing is lost or changed."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

import reference as poptorch
from tests.reference.ahead.async_probes import Items, numbers, running, until_error
from tests.reference.reference_probes import Numbers, options


class Resets:
    """An iterator that starts again by itself once it has said that it is at its end."""

    def __init__(self) -> None:
        self.at = 0

    def __iter__(self) -> Iterator[torch.Tensor]:
        return self

    def __next__(self) -> torch.Tensor:
        if self.at == 3:
            self.at = 0
            raise StopIteration
        self.at += 1
        return torch.tensor([self.at])


def test_the_end_of_an_epoch_is_asked_for_once() -> None:
    """An iterator that restarts by itself does not go on within the epoch."""
    with running(Resets(), buffer_size=4) as made:
        for _ in range(3):
            assert numbers(made) == [1, 2, 3]


def cycle(*items: Any) -> Any:
    """Return an iterable of these items; an exception is raised in its place."""

    class Listed:
        def __iter__(self) -> Iterator[Any]:
            for item in items:
                if isinstance(item, Exception):
                    raise item
                yield item

    return Listed()


ROW = torch.arange(4)


@pytest.mark.parametrize("rest", [(ROW,), (None,), (ROW[:1],)])
def test_a_smaller_item_must_be_the_last(rest: tuple[Any, ...]) -> None:
    """Whatever comes after it is refused, and not lost."""
    with running(cycle(ROW, ROW + 1, ROW[:2] + 2, *rest)) as made:
        steps, error = until_error(iter(made))
        assert (steps, type(error)) == ([0, 1, 2], ValueError)
        assert str(error).startswith("Item 2 is smaller than the first one, and not the last")


def test_an_error_after_a_smaller_item_takes_its_own_place() -> None:
    """The item comes first (ASYNC-7)."""
    with running(cycle(ROW, ROW[:2] + 1, KeyError("no"))) as made:
        steps, error = until_error(iter(made))
        assert (steps, type(error)) == ([0, 1], KeyError)


OTHERS: list[Any] = [
    ROW.double(),
    ROW.reshape(2, 2),
    (ROW,),
    {"a": ROW},
    "text",
    None,
]


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("how", [{}, {"rebatched_size": 8}, {"rebatched_size": 6}, {"rebatched_size": 2}])
def test_an_item_unlike_the_first_is_refused_by_number(other: Any, how: dict[str, int]) -> None:
    """Also where items are joined, which would convert it (ASYNC-11)."""
    with running(cycle(ROW, ROW, ROW, other, ROW), **how) as made:
        _, error = until_error(iter(made))
        assert isinstance(error, TypeError | ValueError)
        assert str(error).split("\n")[0].startswith("Item 3 ")


def test_items_with_rows_of_several_numbers_cannot_be_cut() -> None:
    """The sentence names the shapes."""
    with pytest.raises(RuntimeError, match=r"same first dimension.*\(4,\), \(2,\)"):
        running(cycle((ROW, ROW[:2])), rebatched_size=2).__enter__()


ITEMS: list[Callable[[int], Any]] = [
    lambda i: torch.full((3,), i).half(),
    lambda i: (torch.tensor(i), torch.full((2, 2), i / 2).bfloat16()),
    lambda i: {"x": [torch.tensor([i > 1])], "y": torch.zeros(0, i + 1)[:, :1]},
    lambda i: [torch.arange(12).reshape(3, 4).t() + i],
    lambda i: torch.full((2,), float(i)).requires_grad_(),
]


@pytest.mark.parametrize("make", ITEMS)
def test_items_cross_the_process_unchanged(make: Callable[[int], Any]) -> None:
    """Their structure, dtypes, shapes and values."""
    with running(cycle(*map(make, range(4)))) as made:
        assert [repr(item) for item in made] == [
            repr(make(number)).replace(", requires_grad=True", "") for number in range(4)
        ]


def test_an_iterable_without_end_can_be_left() -> None:
    """What only has __getitem__ is iterated by it, as Python does."""

    class Endless:
        def __getitem__(self, index: int) -> torch.Tensor:
            return torch.tensor([index])

    with running(Endless()) as made:
        for _ in range(2):
            assert [int(item) for item, _ in zip(made, range(5), strict=False)] == [0, 1, 2, 3, 4]


def test_the_length_is_the_datasets_where_that_is_the_accessors() -> None:
    """Where items are cut anew nobody knows it, unless a loader tells how many samples come (ASYNC-10)."""
    with running(Items(5)) as made:
        assert len(made) == 5
    with running(Items(5), rebatched_size=4) as made, pytest.raises(TypeError, match="cut again"):
        len(made)
    with running(Resets()) as made, pytest.raises(TypeError):
        len(made)
    with running(poptorch.DataLoader(options(), Numbers(11), 2), rebatched_size=4) as made:
        assert len(made) == len(list(made)) == 2


def test_very_large_items_cross() -> None:
    """Three slots of 48 MB."""
    with running(cycle(*(torch.full((12_000_000,), number) for number in range(4)))) as made:
        assert [(len(item), int(item[0]), int(item[-1])) for item in made] == [(12_000_000, i, i) for i in range(4)]
