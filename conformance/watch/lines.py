"""Lines of the user's code: decides which frame of a stack is where a loader was made, or where it is read."""

import os
import sys
import sysconfig
from functools import cache
from types import FrameType
from typing import Any

# Rooms in which loaders are handed on. Anything that is installed is passed over first; a training program that is
# installed itself is found by passing over these alone.
_LIGHTNING = ("lightning", "lightning_fabric", "pytorch_lightning")
_HANDS_ON = ("torch", "torchdata", "accelerate", *_LIGHTNING, "transformers", "tqdm")
_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

Line = tuple[str, int]
# Where there is no line of the user's, as when `check` reads what a function gave it.
fallback: Line = ("?", 0)


def users_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame that is the user's; of installed programs only, the first after the libraries of loaders."""
    installed = None
    while frame is not None:
        kind = _kind(frame.f_code.co_filename)
        if kind == "user":
            return frame
        if kind == "installed" and installed is None:
            installed = frame
        frame = frame.f_back
    return installed


def users_line(frame: FrameType | None) -> Line:
    """File and line of that frame, or the fallback."""
    found = users_frame(frame)
    return (found.f_code.co_filename, found.f_lineno) if found is not None else fallback


def handed_on(frame: FrameType | None, loader: Any) -> str:
    """The library that makes a loader out of another one (``accelerate``), or "" if the user's own code makes it."""
    # Lightning puts a function of its own around a loader's constructor, which the user's code calls.
    while frame is not None and (_kind(frame.f_code.co_filename) == "ours" or first_argument(frame) is loader):
        frame = frame.f_back
    while frame is not None:
        kind = _kind(frame.f_code.co_filename)
        if kind in ("user", "installed"):
            return ""
        if kind not in ("torch", "torchdata", "ours", "nowhere", "standard"):
            return kind
        frame = frame.f_back
    return ""


def first_argument(frame: FrameType) -> Any:
    """What a function was given first: `self` in a method."""
    names = frame.f_code.co_varnames
    return frame.f_locals.get(names[0]) if names else None


def is_users(file: str) -> bool:
    """Whether a file is the user's own."""
    return _kind(file) == "user"


@cache
def _kind(file: str) -> str:
    """user, ours, standard, nowhere, installed, or the name of a library that hands loaders on."""
    if file.startswith("<"):
        # Code that was typed in is the user's; what the import system runs is not.
        return "nowhere" if file.startswith("<frozen") else "user"
    path = os.path.abspath(file)
    if path.startswith(_OURS + os.sep):
        return "ours"
    for part in ("site-packages", "dist-packages"):
        _, found, after = path.rpartition(f"{os.sep}{part}{os.sep}")
        if found:
            top = after.split(os.sep)[0]
            return top if top in _HANDS_ON else "installed"
    standard = (sysconfig.get_paths()["stdlib"], os.path.dirname(os.__file__), sys.base_prefix + "/lib/python")
    return "standard" if path.startswith(standard) else "user"
