"""Whether itertools.cycle reads a loader: decides it by the line of the job that is being run.

`cycle` keeps what its first pass gave and gives that again: the loader is never iterated a second time, and a record
would show one epoch that is whole.
"""

import ast
import itertools
import linecache
from types import CodeType, FrameType
from typing import Any

from conformance.watch.lines import users_frame


def is_cycled(frame: FrameType | None) -> bool:
    """Whether the call that asks for the iterator is one of `itertools.cycle`; False where the source is not there."""
    found = users_frame(frame)
    call = _call(found) if found is not None else None
    return found is not None and call is not None and _called(call.func, found) is itertools.cycle


def _call(frame: FrameType) -> ast.Call | None:
    """The call that the frame is in, as its source has it."""
    line, last, begin, end = _position(frame.f_code, frame.f_lasti)
    if line is None or last is None or begin is None or end is None:
        return None
    lines = [text.encode() for text in linecache.getlines(frame.f_code.co_filename)[line - 1 : last]]
    if len(lines) <= last - line:
        return None
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][begin:]
    try:
        parsed = ast.parse(b"(" + b"".join(lines) + b")", mode="eval").body
    except (SyntaxError, ValueError):  # the file was changed while the job ran
        return None
    return parsed if isinstance(parsed, ast.Call) else None


def _position(code: CodeType, at: int) -> tuple[int | None, int | None, int | None, int | None]:
    """First and last line, and the bytes where they begin and end, of the instruction that stands there."""
    positions = getattr(code, "co_positions", None)  # from Python 3.11 on
    nowhere = (None, None, None, None)
    return next(itertools.islice(positions(), at // 2, None), nowhere) if positions is not None else nowhere


def _called(name: ast.expr, frame: FrameType) -> Any:
    """What a name like ``cycle`` or ``itertools.cycle`` is in this frame; None if it is no such name, or not known."""
    if isinstance(name, ast.Attribute) and isinstance(name.value, ast.Name):
        return vars(_known(name.value.id, frame)).get(name.attr) if _is_module(name.value.id, frame) else None
    return _known(name.id, frame) if isinstance(name, ast.Name) else None


def _is_module(name: str, frame: FrameType) -> bool:
    return isinstance(_known(name, frame), type(itertools))


def _known(name: str, frame: FrameType) -> Any:
    return frame.f_locals.get(name, frame.f_globals.get(name))
