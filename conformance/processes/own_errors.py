"""Errors of the suite's own in a rank's process: told apart from the implementation's, which is accused of none."""

import traceback
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

_PACKAGE = Path(__file__).resolve().parents[1]
# The adapters that come with the suite are judged like any other code.
_PEERS = _PACKAGE / "peers"


@dataclass(frozen=True)
class Broken:
    """The answer of a rank in whose process the suite itself failed."""

    text: str


@dataclass(frozen=True)
class Unusable:
    """The answer of a rank whose adapter turned out to be wrong; `text` says how, and what to fix."""

    text: str


class SuiteError(Exception):
    """The suite itself failed, so nothing can be said about the implementation. The message ends with a traceback."""


def broken(error: BaseException) -> Broken | None:
    """What to answer for an error that the suite's own code raised; None if it came out of other code.

    An interrupt is none of ours: the probes and the implementation send them.
    """
    if not isinstance(error, Exception) or not _is_ours(error.__traceback__):
        return None
    return Broken("".join(traceback.format_exception(error)))


def raise_broken(answer: Broken, rank: int) -> None:
    """Raise SuiteError for the answer of a rank."""
    raise SuiteError(
        f"an error of the suite itself, not of the loader, ended the run in the process of rank {rank}; please report "
        f"it with this traceback:\n{answer.text}"
    )


def _is_ours(trace: TracebackType | None) -> bool:
    """Whether the innermost frame is the suite's: what C code raises for it has none of its own."""
    if trace is None:
        return False
    while trace.tb_next is not None:
        trace = trace.tb_next
    place = Path(trace.tb_frame.f_code.co_filename).resolve()
    return _PACKAGE in place.parents and _PEERS not in place.parents
