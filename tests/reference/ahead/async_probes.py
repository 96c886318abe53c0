"""Datasets for asynchronous loading, accessors that surely end, and bounded waits for processes."""

import os
import select
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

import torch

import reference as poptorch
from reference import SharingStrategy

PATIENCE = 60.0  # seconds; no test asserts that anything is faster


class Items:
    """An iterable of `count` items, each a tensor of `rows` times its number."""

    def __init__(self, count: int, rows: int = 2, dtype: torch.dtype = torch.int64) -> None:
        self.count, self.rows, self.dtype = count, rows, dtype

    def __iter__(self) -> Iterator[Any]:
        return (torch.full((self.rows,), number, dtype=self.dtype) for number in range(self.count))

    def __len__(self) -> int:
        return self.count


class Ends(Items):
    """Raises an error, of its own kind, in place of item `bad`."""

    def __init__(self, count: int, bad: int, error: Exception) -> None:
        super().__init__(count)
        self.bad, self.error = bad, error

    def __iter__(self) -> Iterator[Any]:
        for number, item in enumerate(super().__iter__()):
            if number == self.bad:
                raise self.error
            yield item


@dataclass
class Graph:
    """A type of the user's."""

    nodes: torch.Tensor
    name: str


class GraphParser(poptorch.ICustomArgParser):
    """Finds the one tensor of a Graph."""

    def yieldTensors(self, struct: Graph) -> Iterator[torch.Tensor]:
        yield struct.nodes

    def reconstruct(self, original_structure: Graph, tensor_iterator: Iterator[torch.Tensor]) -> Graph:
        return Graph(next(tensor_iterator), original_structure.name)


class Graphs(Items):
    """Items of that type."""

    def __iter__(self) -> Iterator[Any]:
        return (Graph(item, "graph") for item in super().__iter__())


@contextmanager
def running(dataset: Any, **how: Any) -> Iterator[Any]:
    """Make an accessor, with a forked producer if nothing else is asked for, and terminate it."""
    made = poptorch.AsynchronousDataAccessor(dataset, **{"sharing_strategy": SharingStrategy.Fork, **how})
    try:
        yield made
    finally:
        made.terminate()


def numbers(steps: Any) -> list[int]:
    """Return the first value of each item."""
    return [int(step.flatten()[0]) for step in steps]


def until_error(steps: Iterator[Any]) -> tuple[list[int], BaseException | None]:
    """Return the first values of the items before an error, and it."""
    found: list[int] = []
    try:
        for step in steps:
            found.append(int(step.flatten()[0]))
    except Exception as error:
        return found, error
    return found, None


def producers(made: Any) -> list[int]:
    """Return the process ids of the producers of an accessor or a loader."""
    return [process.pid for process in made._consumer.producers.processes]


def has_ended(pid: int) -> bool:
    """Wait until a process has ended, of whomever it is the child; False if it is still there after a while."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([process], [], [], PATIENCE)[0])
    finally:
        os.close(process)


@contextmanager
def in_child(act: Any, *arguments: Any) -> Iterator[tuple[Any, Connection]]:
    """Run act(line, *arguments) in a forked process; give the process and our end of the line, and end it surely."""
    context = get_context("fork")
    ours, theirs = context.Pipe()
    child = context.Process(target=act, args=(theirs, *arguments))
    child.start()
    theirs.close()
    try:
        yield child, ours
    finally:
        child.kill()
        child.join()
        child.close()
        ours.close()


def told(line: Connection) -> Any:
    """Return what the child says next; AssertionError if it says nothing for a while."""
    assert line.poll(PATIENCE)
    return line.recv()
