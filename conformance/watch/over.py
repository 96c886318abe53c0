"""Processes that are over: decides of which files of a record it is known that nobody writes them any more."""

import signal
import socket
from collections.abc import Mapping, Sequence
from typing import Any

from conformance.audit.summary import Summary
from conformance.watch.family import everyone
from conformance.watch.folder import Said
from conformance.watch.launch import Ended

_SIGNALLED = 128


def how_ended(heard: Sequence[Said], ended: Ended) -> dict[int, str]:
    """Of the command and all Pythons that it started here, by their ids: that they have ended, as words.

    Ranks may outlive what started them: those are not among these.
    """
    found = {ended.pid: f"its process was ended by {_signal(ended.code)}" if ended.code > _SIGNALLED else _ENDED}
    parents = {each.pid: each.parent for each in heard if each.what == "hello"}
    grown = True
    while grown:
        born = {pid: _ENDED for pid, parent in parents.items() if parent in found and pid not in found}
        grown = bool(born)
        found |= born
    alive = dict(everyone())
    return {pid: words for pid, words in found.items() if pid not in alive}


def mark(summary: Summary, over: Mapping[int, str]) -> None:
    """Note of each process of this host that is over how it ended: ids come again, so that the last one is meant."""
    last: dict[Any, Any] = {}
    here = [each for each in summary.processes if each.facts.get("host") == socket.gethostname()]
    for process in sorted(here, key=lambda each: float(each.facts.get("start") or 0)):
        last[process.facts.get("pid")] = process
    for pid, words in over.items():
        if pid in last:
            last[pid].ended = words


_ENDED = "its process has ended without a closing frame"


def _signal(code: int) -> str:
    try:
        return signal.Signals(code - _SIGNALLED).name
    except ValueError:
        return f"signal {code - _SIGNALLED}"
