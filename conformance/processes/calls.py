"""How an implementation is called: what it raises becomes a `Stopped`, in words that stay the same from run to run."""

import re
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from conformance.trace import Failure, FailureKind, Topic, Where

Remarks = list[tuple[Topic, str]]
_in_hand: list[Any] | None = None
_MOST = 65_536  # characters of an error that are looked through at each end


class Stopped(Exception):
    """The reading can't go on."""

    def __init__(self, kind: FailureKind, where: Where, message: str, epoch: int | None = None) -> None:
        super().__init__(message)
        self.failure = Failure(kind, where, message, epoch)


def close(loader: Any, times: int = 1, names: tuple[str, ...] = ("close", "shutdown", "terminate")) -> bool:
    """Close the loader by whichever name it has for that; whether it has one."""
    for name in names:
        if hasattr(loader, name):
            if _in_hand is not None:
                _in_hand.append(loader)
            for _ in range(times):
                called("close", None, getattr(loader, name))
            return True
    return False


@contextmanager
def closed_and_in_hand() -> Iterator[None]:
    """Within it, a loader that is closed stays in the caller's hand, as a user's does: closing must be enough."""
    global _in_hand
    _in_hand = []
    try:
        yield
    finally:
        _in_hand = None


def called(where: Where, epoch: int | None, function: Callable[[], Any]) -> Any:
    """What `function` gives; whatever it raises, a KeyboardInterrupt too, stops the reading at `where`."""
    try:
        return function()
    except BaseException as error:
        told = described(error)
        _forget_frames(error)
    raise Stopped("raised", where, told, epoch)


def _forget_frames(error: BaseException) -> None:
    # An exception's frames hold the iterator. torch's, for one, takes 5 s a worker to end if it is found by the cycle
    # collector, instead of a moment when the last name for it goes.
    traceback.clear_frames(error.__traceback__)


def _text_of(error: BaseException) -> str:
    """Its text, or the beginning and the end of a very long one; an exception may be unable to say it."""
    try:
        text = str(error)
    except BaseException as another:
        return f"its text can't be read: str() raises {type(another).__name__}"
    return text if len(text) <= 2 * _MOST else f"{text[:_MOST]}\n{text[-_MOST:]}"


def described(error: BaseException) -> str:
    """The exception as ``Type: text``, without what changes from run to run (addresses, process ids)."""
    lines = [line.strip() for line in _text_of(error).strip().splitlines()] or [""]
    # A loader wraps what a worker raised; the line that the probe wrote is what a person looks for.
    text = next((line for line in lines if line.rstrip("'\"").endswith("is broken on purpose")), lines[0])
    name = type(error).__name__
    text = re.sub(r"0x[0-9a-f]{6,}", "0x...", text.rpartition(f"{name}: ")[2])
    text = re.sub(r"\bpid\(?s?\)?[ :=(]*\d+(, \d+)*", "pid ...", text)
    return f"{name}: {text[:200]}" if text else name
