"""What a drawn fault raises: the class by its word, and the sentence that must reach the consumer."""

import builtins
import errno
from collections.abc import Callable
from functools import partial
from pkgutil import resolve_name
from typing import cast

from conformance.loader.conducts import MODULES, RAISED


class BrokenSample(ValueError):
    """What a drawn fault raises."""


def sentence(fault: str) -> str:
    """The text of the exception that a fault raises; it must reach the consumer."""
    name, _, place = fault.partition("@")
    what = {"collate": f"collating sample {place}", "init": f"worker {place}"}.get(name, f"sample {place}")
    return f"{what} is broken on purpose"


class Stubborn(Exception):
    """An exception that no other process can rebuild: it is pickled without what its constructor wants."""

    def __init__(self, *, fault: str) -> None:
        super().__init__(sentence(fault))


class OverQuota(RuntimeError):
    """An exception of the dataset's own that is a RuntimeError, as what a loader raises by itself."""


class Ragged(TypeError):
    """An exception of the dataset's own that is a TypeError, as what comes of a wrong call."""


class Abandoned(BaseException):
    """An exception of the dataset's own that is no Exception, as of a library that ends a program by it."""


# How each error is made of its text; the others take the text alone.
_MADE: dict[str, Callable[[str], BaseException]] = {
    "": BrokenSample,
    "abandons": Abandoned,
    "quota": OverQuota,
    "ragged": Ragged,
    # Python makes each of the class that its number stands for.
    "disk": partial(OSError, errno.ENOSPC),
    "reset": partial(OSError, errno.ECONNRESET),
    "blocking": partial(OSError, errno.EAGAIN),
    "nofile": partial(OSError, errno.ENOENT),
    "permission": partial(OSError, errno.EACCES),
    "interrupted": partial(OSError, errno.EINTR),
    "child": partial(OSError, errno.ECHILD),
    "directory": partial(OSError, errno.EISDIR),
    "refused": partial(OSError, errno.ECONNREFUSED),
    "aborted": partial(OSError, errno.ECONNABORTED),
    "unicode": lambda text: UnicodeDecodeError("utf-8", b"\xff", 0, 1, text),
}


def broken(error: str, fault: str) -> BaseException:
    """What a fault raises, by the word of its class."""
    if error == "stubborn":
        return Stubborn(fault=fault)
    return _maker(error)(sentence(fault))


def _maker(error: str) -> Callable[[str], BaseException]:
    if error in _MADE:
        return _MADE[error]
    name = RAISED[error]
    # Imported when it is raised: a rank's process need not have it.
    found = resolve_name(f"{MODULES[error]}:{name}") if error in MODULES else getattr(builtins, name)
    return cast(Callable[[str], BaseException], found)
