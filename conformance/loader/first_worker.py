"""The first worker of a loader, in a rank's process: decides whether it is a fork, and what it takes if it is none."""

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from conformance.contract import Implementation
from conformance.loader import member, probes, requests
from conformance.loader.interrupts import first, said
from conformance.processes.calls import Stopped
from conformance.processes.task import Task
from conformance.trace import RankRun

# The process that reads a loader now. A fork of it knows this; a new interpreter does not.
_consumer: int | None = None


@dataclass(frozen=True)
class _Watch(probes.Watch):
    """Writes down when a process that is no fork of the consumer reads."""

    def read(self, index: int, dataset: Any) -> None:
        if os.getpid() != self.consumer and _consumer != self.consumer:
            first(self.folder, "new")


def perform(implementation: Implementation, task: Task, workdir: str) -> RankRun:
    """Read an epoch with one worker, and remark the seconds if that was no fork."""
    global _consumer
    _consumer = os.getpid()
    watch = _Watch(probes.empty_folder(workdir, "watch"), consumer=_consumer)
    request = requests.request_of(task, workdir, watch)
    began = time.monotonic()
    # What is wrong with that, its own scenarios find.
    with suppress(Stopped, RuntimeError):
        member.read(member.Reading(implementation, task, task.scenario, request, watch))
    seconds = time.monotonic() - began
    is_new = said(watch.folder, "new")
    return RankRun(task.rank, (), remarks=(("new", f"{seconds:.3f}"),) if is_new else ())
