"""The log of what is read: a file, since a read may happen in any process; an entry a line, each written in one call.

An entry is a number, that of the epoch which begins; a list, that of a read; or what a hook says.
"""

import json
import os
from typing import Any

from conformance.trace import Read


def append(path: str, entry: Any) -> None:
    """Write one entry."""
    descriptor = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    try:
        os.write(descriptor, json.dumps(entry).encode() + b"\n")
    finally:
        os.close(descriptor)


def parsed(path: str, consumer: int) -> tuple[Read, ...]:
    """The reads, process by process: the order between processes is nobody's promise."""
    if not os.path.exists(path):
        return ()
    epoch = None
    entries = []
    with open(path) as lines:
        for line in lines:
            entry = json.loads(line)
            if isinstance(entry, int):
                epoch = entry
            elif isinstance(entry, dict):
                continue  # what the hooks say
            elif epoch is not None:  # what is read before the first epoch is the adapter's own business
                entries.append((epoch, *entry))
    # Process ids change from run to run: processes are numbered by their worker's id, or by what they read first.
    first: dict[tuple[int, int], tuple[int, int]] = {}
    for number, index, process, worker, _ in entries:
        first.setdefault((number, process), (worker[0] if worker else -1, index))
    numbers = _numbered(first, consumer)
    reads = [
        Read(number, index, numbers[number, process], tuple(worker) if worker else None, tuple(draws))
        for number, index, process, worker, draws in entries
    ]
    return tuple(sorted(reads, key=lambda read: (read.epoch, read.process)))


def _numbered(first: dict[tuple[int, int], tuple[int, int]], consumer: int) -> dict[tuple[int, int], int]:
    numbers = {}
    for epoch in {epoch for epoch, _ in first}:
        others = [process for number, process in first if number == epoch and process != consumer]
        others.sort(key=lambda process: first[epoch, process])
        numbers[epoch, consumer] = 0
        numbers.update({(epoch, process): position + 1 for position, process in enumerate(others)})
    return numbers
