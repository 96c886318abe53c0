"""What a dataset's `set_epoch` sets, as a process has it: decides what tells that a worker's copy did not hear."""

import dis
import sys
from functools import cache
from types import CodeType
from typing import Any

State = dict[str, int | float | str]
_LONGEST = 60  # letters of a text


def epoch_state(dataset: Any) -> State | None:
    """The plain attributes that the dataset's `set_epoch` assigns, by their names.

    None where there is none, or where something is shared, by which a copy may hear of it in another way.
    """
    held = getattr(dataset, "__dict__", {})
    if any(map(_is_shared, held.values())):
        return None
    code = getattr(getattr(type(dataset), "set_epoch", None), "__code__", None)
    found = {name: held[name] for name in _assigned(code) if _is_plain(held.get(name))} if code is not None else {}
    return found or None


@cache
def _assigned(code: CodeType) -> tuple[str, ...]:
    steps = dis.get_instructions(code)
    return tuple(dict.fromkeys(str(step.argval) for step in steps if step.opname == "STORE_ATTR"))


def _is_plain(value: Any) -> bool:
    return type(value) in (int, float, bool) or (type(value) is str and len(value) <= _LONGEST)


def _is_shared(value: Any) -> bool:
    """Whether it is a tensor in shared memory, or one of multiprocessing's values, arrays, queues or proxies."""
    torch: Any = sys.modules["torch"]
    is_tensor = isinstance(value, torch.Tensor)
    return bool(value.is_shared()) if is_tensor else type(value).__module__.startswith(("multiprocessing", "ctypes"))
