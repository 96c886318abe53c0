"""Decides what an item of a ring may be, and how its tensors lie in a slot.

An item is a tensor, or a tuple, named tuple, list or dict (with text as keys) of items, or an object of a type that was
registered with `registerCustomArgParser`. Its tensors lie one after the other in a slot, each at a multiple of 64
bytes. The first item of a ring fixes the layout; every other one must have the same structure, dtypes and shapes, but
that its first dimension may be smaller (the last batch of an epoch).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch

from ..loading.collate import rebuilt
from ..rules.checks import show

_ALIGNMENT = 64
_PAGE = 4096


class ICustomArgParser:
    """How the tensors of a custom type are found, and how an object of it is made again. Subclass it."""

    def yieldTensors(self, struct: Any) -> Iterator[torch.Tensor]:
        """Yield the tensors of the object, always in the same order."""
        raise NotImplementedError(f"{type(self).__name__} does not say which tensors an object has: define it.")

    def reconstruct(self, original_structure: Any, tensor_iterator: Iterator[torch.Tensor]) -> Any:
        """Return an object like the given one with the next tensors of the iterator."""
        raise NotImplementedError(f"{type(self).__name__} does not say how an object is made: define it.")


_parsers: dict[type, ICustomArgParser] = {}


def registerCustomArgParser(custom_type: type, parser: ICustomArgParser) -> None:
    """Let objects of a type be items. Raises TypeError if it is no type, or the parser none."""
    if not isinstance(custom_type, type) or not isinstance(parser, ICustomArgParser):
        raise TypeError(
            f"registerCustomArgParser was given {show(custom_type)} and {show(parser)}, but needs a class and an "
            f"ICustomArgParser: give both."
        )
    _parsers[custom_type] = parser


def parsers() -> dict[type, ICustomArgParser]:
    """Return what is registered, for a process that does not inherit it."""
    return dict(_parsers)


def adopt(registered: dict[type, ICustomArgParser]) -> None:
    """Register what another process has registered."""
    _parsers.update(registered)


class Leaf(NamedTuple):
    """One tensor of an item: where it stands in the item, what it is, and where it lies in the slot, in bytes."""

    path: str
    dtype: torch.dtype
    shape: tuple[int, ...]
    offset: int


@dataclass(frozen=True)
class Layout:
    """The structure of every item of a ring."""

    shell: Any
    """An item with tensors of no elements."""
    structure: str
    leaves: tuple[Leaf, ...]
    slot_bytes: int

    def views(self, memory: torch.Tensor, slot: int) -> list[torch.Tensor]:
        """Return the tensors of a slot, in memory of uint8; nothing is copied."""
        made = []
        for leaf in self.leaves:
            first = slot * self.slot_bytes + leaf.offset
            bytes_ = memory[first : first + _bytes(leaf.dtype, leaf.shape)]
            made.append(bytes_.view(leaf.dtype).view(leaf.shape))
        return made

    def item(self, views: list[torch.Tensor], rows: tuple[int, ...] | None) -> Any:
        """Return the item that lies in these views; `rows` are the first dimensions where they are smaller."""
        tensors = views if rows is None else [first_rows(*each) for each in zip(views, rows, strict=True)]
        return rebuild(self.shell, iter(tensors))

    def put(self, item: Any, views: list[torch.Tensor], number: int) -> tuple[int, ...] | None:
        """Copy an item into a slot; return its first dimensions if one is smaller.

        Raises TypeError or ValueError, which name the item, if it is not like the first one.
        """
        found = [tensor for _, tensor in walk(item, f"Item {number}")]
        if structure_of(item) != self.structure:
            raise TypeError(
                f"Item {number} is a {structure_of(item)}, but the first item was a {self.structure}: a ring has slots "
                f"of one kind, so give all items the same structure, or load synchronously."
            )
        if len(found) != len(self.leaves):
            raise TypeError(
                f"Item {number} has {len(found)} tensors, but the first item had {len(self.leaves)}: let its parser "
                f"find equally many in all items, or load synchronously."
            )
        for leaf, tensor in zip(self.leaves, found, strict=True):
            self.check(leaf, tensor, number)
        for view, tensor in zip(views, found, strict=True):
            first_rows(view, len(tensor) if tensor.dim() else 1).copy_(tensor)
        return self.rows(found)

    def rows(self, tensors: list[torch.Tensor]) -> tuple[int, ...] | None:
        """Return the first dimensions of the tensors if one of them is smaller than in the layout."""
        is_full = all(tuple(tensor.shape) == leaf.shape for leaf, tensor in zip(self.leaves, tensors, strict=True))
        return None if is_full else tuple(len(tensor) if tensor.dim() else 1 for tensor in tensors)

    def check(self, leaf: Leaf, tensor: torch.Tensor, number: int) -> None:
        """Raise unless the tensor fits the leaf."""
        where = f"Item {number}{f' has at {leaf.path}' if leaf.path else ' is'} a tensor"
        if tensor.dtype != leaf.dtype:
            # ASYNC-11: copied into the slot it would become another value.
            raise TypeError(
                f"{where} of {tensor.dtype}, but in the first item it was {leaf.dtype}: give all items the same "
                f"dtypes, or load synchronously."
            )
        shape = tuple(tensor.shape)
        if shape[1:] != leaf.shape[1:] or len(shape) != len(leaf.shape) or shape[:1] > leaf.shape[:1]:
            raise ValueError(
                f"{where} of shape {shape}, but in the first item it was {leaf.shape}: only the first dimension may "
                f"be smaller, so give all items the same shapes, or load synchronously."
            )


def first_rows(view: torch.Tensor, count: int) -> torch.Tensor:
    """Return the first rows of a tensor; one of no dimensions has no rows, and is always whole."""
    return view[:count] if view.dim() else view


def layout_of(item: Any, rows: int = 0, full: int = 0) -> Layout:
    """Return the layout that an item fixes. Raises TypeError, which names the place, if it can't be an item.

    With `full` the item may be a batch of too few `rows`: where it has those, there is room for a full one.
    """
    leaves, offset = [], 0
    for path, tensor in walk(item):
        shape = tuple(tensor.shape)
        if shape[:1] == (rows,) and rows < full:
            shape = (full, *shape[1:])
        leaves.append(Leaf(path, tensor.dtype, shape, offset))
        offset += -(-_bytes(tensor.dtype, shape) // _ALIGNMENT) * _ALIGNMENT
    shell = rebuild(item, iter([torch.empty(0, dtype=leaf.dtype) for leaf in leaves]))
    return Layout(shell, structure_of(item), tuple(leaves), max(_PAGE, -(-offset // _PAGE) * _PAGE))


def walk(item: Any, name: str = "An item", path: str = "") -> Iterator[tuple[str, torch.Tensor]]:
    """Yield each tensor of an item with its place. Raises TypeError, which names the item, for anything else."""
    if isinstance(item, torch.Tensor):
        if item.layout is not torch.strided:
            raise TypeError(
                f"{name}{f' has at {path}' if path else ' is'} a tensor of {item.layout}, but a slot holds dense ones "
                f"only: call to_dense(), or load synchronously."
            )
        yield path, item.detach()
    elif type(item) in _parsers:
        for number, tensor in enumerate(_parsers[type(item)].yieldTensors(item)):
            yield from walk(tensor, name, f"{path}<{number}>")
    else:
        for key, value in _contents(item, name, path):
            yield from walk(value, name, f"{path}[{key!r}]")


def structure_of(item: Any) -> str:
    """Return the structure of an item as text: equal for items that differ only in their tensors."""
    if isinstance(item, torch.Tensor):
        return "tensor"
    name = type(item).__name__
    if type(item) in _parsers:
        return name
    return f"{name}({', '.join(f'{key}: {structure_of(value)}' for key, value in _contents(item))})"


def rebuild(item: Any, tensors: Iterator[torch.Tensor]) -> Any:
    """Return an item like the given one with other tensors."""
    if isinstance(item, torch.Tensor):
        return next(tensors)
    if type(item) in _parsers:
        return _reconstructed(item, tensors)
    if isinstance(item, dict):
        return rebuilt(item, {key: rebuild(value, tensors) for key, value in _contents(item)})
    return rebuilt(item, [rebuild(value, tensors) for value in item])


def _reconstructed(item: Any, tensors: Iterator[torch.Tensor]) -> Any:
    parser = _parsers[type(item)]
    try:
        return parser.reconstruct(item, tensors)
    except StopIteration as error:
        # ERROR-3: further up it would pass for the end of the data.
        raise RuntimeError(
            f"{type(parser).__name__} takes more tensors to make a {type(item).__name__} than it has found in one: let "
            f"yieldTensors and reconstruct agree."
        ) from error


def _contents(item: Any, name: str = "An item", path: str = "") -> list[tuple[Any, Any]]:
    if isinstance(item, dict) and all(isinstance(key, str) for key in item):
        # In an order of their own: a dict is told by its keys, in whatever order it was filled.
        return sorted(item.items(), key=lambda pair: pair[0])
    if isinstance(item, list | tuple):
        return list(enumerate(item))
    where = f"at {path} " if path else ""
    raise TypeError(
        f"{name} is {where}{show(item)} of type {type(item).__name__}, but a ring carries tensors, and tuples, lists "
        f"and dicts (with text as keys) of them: convert it (in a collate_fn, for example), register its type with "
        f"registerCustomArgParser, or load synchronously."
    )


def _bytes(dtype: torch.dtype, shape: tuple[int, ...] | torch.Size) -> int:
    return int(torch.Size(shape).numel()) * dtype.itemsize
