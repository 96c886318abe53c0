"""What an item of a ring may be: what goes into a slot comes out of it, and what does not fit is refused by name."""

from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import torch

from reference import ICustomArgParser, registerCustomArgParser
from reference.ahead.layout import Layout, layout_of, walk

Pair = namedtuple("Pair", ["left", "right"])


@dataclass
class Graph:
    """A type of the user's."""

    nodes: torch.Tensor
    edges: torch.Tensor | None


class GraphParser(ICustomArgParser):
    """Finds the tensors of a Graph, one or two of them."""

    def yieldTensors(self, struct: Graph) -> Iterator[torch.Tensor]:
        yield from (part for part in (struct.nodes, struct.edges) if part is not None)

    def reconstruct(self, original_structure: Graph, tensor_iterator: Iterator[torch.Tensor]) -> Graph:
        has_edges = original_structure.edges is not None
        return Graph(next(tensor_iterator), next(tensor_iterator) if has_edges else None)


class Greedy:
    """A type whose parser takes more tensors than it has given."""


class GreedyParser(ICustomArgParser):
    """Gives none and takes one."""

    def yieldTensors(self, struct: Greedy) -> Iterator[torch.Tensor]:
        return iter(())

    def reconstruct(self, original_structure: Greedy, tensor_iterator: Iterator[torch.Tensor]) -> Greedy:
        next(tensor_iterator)
        return original_structure


@pytest.fixture(autouse=True)
def _parsers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register the types above, for one test."""
    monkeypatch.setattr("reference.ahead.layout._parsers", {})
    registerCustomArgParser(Graph, GraphParser())
    registerCustomArgParser(Greedy, GreedyParser())


def memory_of(layout: Layout, slots: int = 2) -> torch.Tensor:
    """Return memory for some slots, full of what must not come out."""
    return torch.full((slots * layout.slot_bytes,), 0xAB, dtype=torch.uint8)


def through(item: Any, first: Any = None, number: int = 3) -> Any:
    """Put an item into the second slot of a ring whose first item was `first`, and take it out."""
    layout = layout_of(item if first is None else first)
    views = layout.views(memory_of(layout), 1)
    return layout.item(views, layout.put(item, views, number))


def parts(item: Any) -> list[Any]:
    """Return all that an item consists of, tensors as their place, dtype, shape and values."""
    return [(path, part.dtype, tuple(part.shape), part.tolist()) for path, part in walk(item)]


ROW = torch.arange(6.0)
ITEMS: dict[str, Any] = {
    "tensor": ROW,
    "tuple": (ROW, ROW.int()),
    "named tuple": Pair(ROW, ROW + 1),
    "list": [ROW, ROW.double()],
    "dict": {"b": ROW, "a": ROW + 1},
    "subclass of dict": OrderedDict(b=ROW, a=ROW + 1),
    "nested": {"x": [ROW, (ROW + 1, {"y": ROW + 2})], "z": Pair(ROW, [ROW])},
    "empty containers": (ROW, [], {}, ()),
    "no tensors": (),
    "custom": Graph(ROW, ROW + 1),
    "custom within": [Graph(ROW, None), {"g": Graph(ROW + 1, ROW)}],
    "float16": ROW.half(),
    "bfloat16": ROW.bfloat16(),
    "bool": ROW > 2,
    "complex64": torch.complex(ROW, -ROW),
    "conjugated": torch.complex(ROW, -ROW).conj(),
    "int8 then int64": (torch.arange(3, dtype=torch.int8), torch.arange(3)),
    "zero-dimensional": (torch.tensor(1.5), torch.tensor(True)),
    "zero elements": (torch.zeros(0, 3), torch.zeros(2, 0), ROW),
    "transposed": ROW.reshape(2, 3).t(),
    "strided": ROW[::2],
    "expanded": torch.tensor([1.0, 2.0]).expand(3, 2),
}


@pytest.mark.parametrize("name", ITEMS)
def test_an_item_comes_out_as_it_went_in(name: str) -> None:
    """Its types, keys, dtypes, shapes and values."""
    item = ITEMS[name]
    out = through(item)
    assert (type(out), parts(out)) == (type(item), parts(item))
    assert not isinstance(item, dict) or list(out) == list(item)


def test_a_parameter_comes_out_as_data() -> None:
    """A slot holds values: what a producer computed has no history here."""
    out = through((ROW.clone().requires_grad_(), torch.nn.Parameter(ROW)))
    assert [(type(part), part.requires_grad, part.tolist()) for part in out] == [
        (torch.Tensor, False, ROW.tolist())
    ] * 2


def test_tensors_lie_apart_and_aligned() -> None:
    """Each begins at a multiple of 64 bytes, behind the one before, and a slot is whole pages."""
    layout = layout_of((torch.zeros(3, dtype=torch.uint8), torch.zeros(17), torch.zeros(0), torch.tensor(1.0)))
    assert [leaf.offset for leaf in layout.leaves] == [0, 64, 192, 192]
    assert layout.slot_bytes == 4096
    assert layout_of(torch.zeros(4097, dtype=torch.uint8)).slot_bytes == 8192


def test_slots_lie_apart() -> None:
    """What is put into one changes nothing in the others."""
    layout = layout_of(ROW)
    memory = memory_of(layout, 3)
    for slot in (0, 2, 1):
        layout.put(ROW + slot, layout.views(memory, slot), 0)
    assert [layout.views(memory, slot)[0].tolist() for slot in range(3)] == [(ROW + slot).tolist() for slot in range(3)]


def test_a_view_is_no_copy() -> None:
    """Whoever writes into a slot writes into the item that lies there: no second copy is made."""
    layout = layout_of(ROW)
    memory = memory_of(layout)
    item = layout.item(layout.views(memory, 0), None)
    layout.put(ROW + 5, layout.views(memory, 0), 1)
    assert item.tolist() == (ROW + 5).tolist()


class Opaque:
    """No tensor, and of no registered type."""

    def __repr__(self) -> str:
        return "<opaque>"


REFUSED: list[tuple[Any, str]] = [
    (Opaque(), r"is <opaque> of type Opaque"),
    ((ROW, 3), r"at \[1\].* 3 of type int"),
    ([ROW, [ROW, "a"]], r"at \[1\]\[1\].* 'a' of type str"),
    ({"x": ROW, "y": None}, r"at \['y'\].* None of type NoneType"),
    ({1: ROW}, r"of type dict"),
    ({"x": {1: ROW}}, r"at \['x'\].* of type dict"),
    ((ROW, ROW.to_sparse()), r"\[1\] .*torch\.sparse_coo"),
    (ROW.numpy(), r"of type ndarray"),
    (Graph(ROW, ROW.to_sparse()), r"<1> .*torch\.sparse_coo"),
]


@pytest.mark.parametrize(("item", "named"), REFUSED)
def test_what_is_no_item_is_refused_by_place_and_type(item: Any, named: str) -> None:
    """The first item, and any later one, which is told by its number too (ASYNC-11)."""
    with pytest.raises(TypeError, match=named):
        layout_of(item)
    with pytest.raises(TypeError, match=rf"^Item 3\b.*{named}"):
        through(item, first=ROW)


CHANGED: list[tuple[Any, Any, type[Exception], str]] = [
    (
        ROW,
        ROW.double(),
        TypeError,
        r"^Item 3 is a tensor of torch\.float64, but in the first item it was torch\.float32",
    ),
    ((ROW, ROW), (ROW, ROW.int()), TypeError, r"^Item 3 has at \[1\] a tensor of torch\.int32"),
    (ROW, ROW > 2, TypeError, r"^Item 3 is a tensor of torch\.bool"),
    (ROW, torch.arange(7.0), ValueError, r"^Item 3 is a tensor of shape \(7,\), but in the first item it was \(6,\)"),
    (ROW, torch.tensor(1.0), ValueError, r"^Item 3 .* shape \(\)"),
    (torch.tensor(1.0), ROW, ValueError, r"^Item 3 .* shape \(6,\)"),
    (torch.zeros(4, 3), torch.zeros(4, 1), ValueError, r"^Item 3 .* shape \(4, 1\)"),
    (torch.zeros(4, 3), torch.zeros(4, 3, 1), ValueError, r"^Item 3 .* shape \(4, 3, 1\)"),
    ({"a": ROW}, {"a": ROW.reshape(2, 3)}, ValueError, r"^Item 3 has at \['a'\] a tensor of shape \(2, 3\)"),
    ((ROW, ROW), [ROW, ROW], TypeError, r"^Item 3 is a list.*but the first item was a tuple"),
    ((ROW, ROW), (ROW,), TypeError, r"^Item 3 is a tuple"),
    ((ROW, ROW), Pair(ROW, ROW), TypeError, r"^Item 3 is a Pair"),
    ({"a": ROW}, {"b": ROW}, TypeError, r"^Item 3 is a dict\(b"),
    (ROW, (ROW,), TypeError, r"^Item 3 is a tuple"),
    (Graph(ROW, ROW), (ROW, ROW), TypeError, r"^Item 3 is a tuple"),
    (Graph(ROW, ROW), Graph(ROW, None), TypeError, r"^Item 3 .*1 tensor.* 2"),
    (Graph(ROW, None), Graph(ROW, ROW), TypeError, r"^Item 3 .*2 tensor.* 1"),
]


@pytest.mark.parametrize(("first", "item", "kind", "text"), CHANGED)
def test_a_later_item_unlike_the_first_is_refused_by_number(first: Any, item: Any, kind: Any, text: str) -> None:
    """Nothing is converted, repeated or cut (ASYNC-11)."""
    with pytest.raises(kind, match=text):
        through(item, first)


def test_a_refused_item_changes_no_slot() -> None:
    """All of an item is looked at before any of it is written."""
    layout = layout_of((ROW, ROW))
    memory = memory_of(layout)
    with pytest.raises(TypeError):
        layout.put((ROW, ROW.double()), layout.views(memory, 1), 3)
    assert memory.unique().tolist() == [0xAB]


SMALLER: list[Callable[[int], Any]] = [
    lambda rows: ROW[:rows],
    lambda rows: (ROW[:rows], torch.zeros(rows, 2)),
    lambda rows: {"batch": ROW[:rows], "weights": torch.zeros(6)},
    lambda rows: (ROW[:rows], torch.tensor(rows)),
    lambda rows: [torch.tensor(rows), Graph(ROW[:rows], None)],
]


@pytest.mark.parametrize(("make", "rows"), [(make, rows) for make in SMALLER for rows in (0, 1, 5)])
def test_an_item_may_have_fewer_rows(make: Callable[[int], Any], rows: int) -> None:
    """The last batch of an epoch has its real size, whatever else the item holds."""
    assert parts(through(make(rows), first=make(6))) == parts(make(rows))


def test_keys_may_come_in_another_order() -> None:
    """A dict is told by its keys, as collating does it."""
    out = through({"b": ROW + 1, "a": ROW}, first={"a": ROW, "b": ROW})
    assert {key: part.tolist() for key, part in out.items()} == {"a": ROW.tolist(), "b": (ROW + 1).tolist()}


def test_a_parser_that_takes_too_much_is_an_error() -> None:
    """A StopIteration would pass for the end of the data (ERROR-3)."""
    with pytest.raises(RuntimeError, match=r"GreedyParser.*Greedy"):
        layout_of(Greedy())


def test_only_types_and_parsers_can_be_registered() -> None:
    """Anything else is refused at once, and not when an item comes."""
    with pytest.raises(TypeError, match="needs a class and an ICustomArgParser"):
        registerCustomArgParser(Graph(ROW, None), GraphParser())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="needs a class and an ICustomArgParser"):
        registerCustomArgParser(Graph, GraphParser)  # type: ignore[arg-type]
    with pytest.raises(NotImplementedError, match="does not say which tensors"):
        ICustomArgParser().yieldTensors(1)
