"""What decides on a dataset's samples and may change between epochs, as a process has it: decides what tells that a
worker's copy did not hear of a change.
"""

import dis
import sys
from collections.abc import Iterator
from functools import cache
from types import CodeType, FunctionType
from typing import Any

State = dict[str, int | float | str]
_LONGEST = 60  # letters of a text
_MOST = 16  # attributes
_OBJECTS = 8  # that are looked at, and at most so many of a list
_READS = ("__iter__", "__getitem__", "__getitems__", "__call__", "forward")


def epoch_state(dataset: Any) -> State | None:
    """The plain attributes that the dataset's `set_epoch` assigns, or that it reads for its samples, by their names.

    And those of what it reads them by: the dataset of a Subset, a transform, one of a list of transforms. None where
    there are none, or where something is shared, by which a copy may hear of it in another way.
    """
    found: State = {}
    waiting: list[tuple[str, Any]] = [("", dataset)]
    seen = {id(dataset)}
    for path, held in waiting:
        attributes = getattr(held, "__dict__", {})
        if any(map(_is_shared, attributes.values())):
            return None
        kind: Any = type(held)
        for name in _names(kind):
            value: Any = attributes.get(name)
            if _is_plain(value):
                found[path + name] = value
            for place, part in _parts(value):
                if len(waiting) < _OBJECTS and id(part) not in seen:
                    seen.add(id(part))
                    waiting.append((f"{path}{name}{place}.", part))
    return dict(list(found.items())[:_MOST]) or None


def _parts(value: Any) -> list[tuple[str, Any]]:
    """The objects of classes of Python's that the value is, or a short list of it holds, each with its place in it."""
    is_list = type(value) in (list, tuple) and len(value) <= _OBJECTS
    held = [(f"[{at}]", each) for at, each in enumerate(value)] if is_list else [("", value)]
    return [(place, each) for place, each in held if hasattr(each, "__dict__")]


@cache
def _names(kind: Any) -> tuple[str, ...]:
    """What set_epoch assigns; then what is read for a sample, and not assigned there as a count of reads is."""
    hears = getattr(getattr(kind, "set_epoch", None), "__code__", None)
    assigned = _attributes([hears], "STORE_ATTR") if hears is not None else {}
    reading = list(_reading(kind))
    stored = _attributes(reading, "STORE_ATTR")
    read = [name for name in sorted(_attributes(reading, "LOAD_ATTR", "LOAD_METHOD")) if name not in stored]
    return tuple(dict.fromkeys([*assigned, *read]))


def _attributes(codes: list[CodeType], *operations: str) -> dict[str, None]:
    """The names of the attributes that the code does this to, in its order."""
    steps = (step for code in codes for step in dis.get_instructions(code))
    return dict.fromkeys(str(step.argval) for step in steps if step.opname in operations)


def _reading(kind: Any) -> Iterator[CodeType]:
    """The code that reads a sample: of the methods for that, of what is in them, and of the methods that they name."""
    codes = _code_of(kind, _READS)
    seen = set(codes)
    while codes:
        code = codes.pop(0)
        yield code
        below = _code_of(kind, code.co_names) + [each for each in code.co_consts if isinstance(each, CodeType)]
        codes += [each for each in dict.fromkeys(below) if each not in seen]
        seen.update(below)


def _code_of(kind: Any, names: tuple[str, ...]) -> list[CodeType]:
    methods = [getattr(kind, name, None) for name in names]
    return [each.__code__ for each in methods if isinstance(each, FunctionType)]


def _is_plain(value: Any) -> bool:
    return type(value) in (int, float, bool) or (type(value) is str and len(value) <= _LONGEST)


def _is_shared(value: Any) -> bool:
    """Whether it is a tensor in shared memory, or one of multiprocessing's values, arrays, queues or proxies."""
    torch: Any = sys.modules["torch"]
    is_tensor = isinstance(value, torch.Tensor)
    return bool(value.is_shared()) if is_tensor else type(value).__module__.startswith(("multiprocessing", "ctypes"))
