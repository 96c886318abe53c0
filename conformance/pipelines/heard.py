"""A loader whose errors are heard in full: decides what is kept of a text that the report shortens.

It is kept as the small numbers that stand in it, so that a judge can see whether a worker or a rank is named.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from conformance.processes.calls import Remarks

# What stands in an error's text as a number and counts nothing: addresses, ports, lines of files, versions.
_NO_COUNTS = re.compile(r"\d+(\.\d+)+(\]?:\d+)?|:\d+|\blines? \d+|0x[0-9a-f]+")


class Heard:
    """The loader, and the remarks that its errors go to."""

    def __init__(self, loader: Any, remarks: Remarks) -> None:
        self.loader, self.remarks = loader, remarks

    def __iter__(self) -> "HeardIterator":
        return HeardIterator(self.hear(lambda: iter(self.loader)), self.hear)

    def hear(self, function: Callable[[], Any]) -> Any:
        """What the function gives; its error is written down."""
        try:
            return function()
        except StopIteration:
            raise
        except BaseException as error:
            self.remarks.append(("named", numbers_in(error)))
            raise


class HeardIterator:
    """One of its iterators, and the loader's own in it."""

    def __init__(self, inner: Any, hear: Callable[[Callable[[], Any]], Any]) -> None:
        self.inner, self.hear = inner, hear

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return self.hear(lambda: next(self.inner))


def numbers_in(error: BaseException) -> str:
    """The small numbers that an error names, in its text or its notes: ``0 1``."""
    text = "\n".join([str(error), *getattr(error, "__notes__", [])])
    return " ".join(sorted(set(re.findall(r"\b\d{1,2}\b", _NO_COUNTS.sub(" ", text)))))
