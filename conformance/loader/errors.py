"""What a drawn fault raises: the class by its word, and the sentence that must reach the consumer."""

import builtins
import errno
from collections.abc import Callable
from typing import cast

from conformance.loader.conducts import BASE_ERRORS, ERRORS


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


class Abandoned(BaseException):
    """An exception of the dataset's own that is no Exception, as of a library that ends a program by it."""


# How each error is made of its text; the others take the text alone.
_MADE: dict[str, Callable[[str], BaseException]] = {
    "": BrokenSample,
    "abandons": Abandoned,
    "disk": lambda text: OSError(errno.ENOSPC, text),
    "unicode": lambda text: UnicodeDecodeError("utf-8", b"\xff", 0, 1, text),
}


def broken(error: str, fault: str) -> BaseException:
    """What a fault raises, by the word of its class."""
    if error == "stubborn":
        return Stubborn(fault=fault)
    make = _MADE.get(error) or getattr(builtins, {**ERRORS, **BASE_ERRORS}[error])
    return cast(BaseException, make(sentence(fault)))
