"""Whether one object holds another: decides if a dataset that a loader has made is one around a probe of ours.

An adapter may wrap the dataset that it is given; what a worker is told of is then the wrapper, and rightly so.
"""

import functools
import types
from collections.abc import Iterator
from typing import Any

_MOST_OBJECTS = 2000


def reaches(holder: Any, wanted: Any) -> bool:
    """Whether `wanted` is found from `holder`, by attributes, items, bound methods and what functions close over."""
    seen: dict[int, Any] = {id(holder): holder}
    waiting = [holder]
    # The nearest first: what is far away is libraries.
    while waiting and len(seen) < _MOST_OBJECTS:
        here = waiting.pop(0)
        if here is wanted:
            return True
        for part in _parts(here):
            if id(part) not in seen:
                seen[id(part)] = part
                waiting.append(part)
    return any(each is wanted for each in waiting)


def _parts(here: Any) -> Iterator[Any]:
    if isinstance(here, dict):
        yield from here.values()
    elif isinstance(here, list | tuple | set | frozenset):
        yield from here
    elif isinstance(here, types.MethodType):
        yield here.__self__
    elif isinstance(here, types.FunctionType):
        # Its globals would be the whole program.
        yield from (cell.cell_contents for cell in here.__closure__ or () if _filled(cell))
    elif isinstance(here, functools.partial):
        yield from (here.func, here.args, here.keywords)
    elif not isinstance(here, type | types.ModuleType):
        yield from getattr(here, "__dict__", {}).values()
        yield from (getattr(here, name, None) for name in _slots(type(here)))


def _slots(kind: type) -> Iterator[str]:
    """The names that the objects of a class have in place of a `__dict__`, or beside it."""
    for each in kind.__mro__:
        yield from (name for name, member in vars(each).items() if isinstance(member, types.MemberDescriptorType))


def _filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False
