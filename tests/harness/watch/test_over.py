"""Processes that are over: a record is not said to be still written by a process that is known to have ended."""

import os
import socket
from typing import Any

from conformance.audit.record_notes import about
from conformance.audit.summary import Process, Summary
from conformance.watch.folder import Said
from conformance.watch.launch import Ended
from conformance.watch.over import how_ended, mark

GONE, CHILD = 1 << 24, (1 << 24) + 1  # no process has such ids


def cut(pid: int, **facts: Any) -> Process:
    """A process whose record has no end."""
    told = {"pid": pid, "host": socket.gethostname(), "start": 1.0, **facts}
    return Process("token", 0, 0, told, "cut", "it has no closing frame", has_epochs=True)


def test_a_job_that_was_ended_by_a_signal_is_no_longer_written() -> None:
    """Its exit code says which signal it was."""
    summary = Summary([cut(GONE)])
    mark(summary, how_ended([], Ended(143, False, pid=GONE)))
    expected = "the record of rank 0 was cut (its process was ended by SIGTERM): what came after that is not judged"
    assert [expected] == list(about(summary))


def test_what_a_job_started_has_ended_as_well() -> None:
    """Not a process that is still there, nor one of another host."""
    heard = [Said("hello", pid, GONE, {}, []) for pid in (CHILD, os.getpid())]
    over = how_ended(heard, Ended(0, False, pid=GONE))
    assert {GONE, CHILD} == set(over)
    summary = Summary([cut(CHILD), cut(CHILD, host="another")])
    mark(summary, over)
    assert [True, False] == [bool(each.ended) for each in summary.processes]
