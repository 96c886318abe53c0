"""Asynchronous loaders and accessors, driven through drawn sequences of what users do, against a plain list of steps.

The model is what a synchronous loader delivers in each epoch, and how far the epoch under way was read.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch
from hypothesis import settings, strategies
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import reference as poptorch
from reference import DataLoaderMode, SharingStrategy
from tests.reference.loading.test_faults import Faulty, throw
from tests.reference.reference_probes import options

pytestmark = [
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
    pytest.mark.filterwarnings("ignore:The last step of each epoch"),
]
PATIENCE = 20.0  # seconds after which a hang is an error


class Users(RuleBasedStateMachine):
    """One loader or accessor; whoever uses it does one thing after the other."""

    made: Any = None

    def __init__(self) -> None:
        super().__init__()
        self.held: tuple[torch.Tensor, list[int]] | None = None
        self.kept: list[tuple[torch.Tensor, list[int]]] = []

    @initialize(
        wrapped=strategies.booleans(),
        workers=strategies.integers(0, 2),
        bad=strategies.sampled_from([None, 3, 6]),
        shuffled=strategies.booleans(),
        size=strategies.integers(1, 4),
        on=strategies.booleans(),
        early=strategies.booleans(),
    )
    def make(
        self, wrapped: bool, workers: int, bad: int | None, shuffled: bool, size: int, on: bool, early: bool
    ) -> None:
        """Make it: an accessor around a synchronous loader, or an asynchronous loader."""
        # An accessor does not even start if the first step fails.
        shuffle = shuffled and not (wrapped and bad is not None)
        # Workers of a loader within an accessor are torch's.
        workers = 0 if wrapped else workers
        how: dict[str, Any] = {"shuffle": shuffle, "drop_last": wrapped, "num_workers": workers}
        dataset = Faulty(7, -1 if bad is None else bad, partial(throw, KeyError, "no"))
        ahead = {"buffer_size": size, "load_indefinitely": on, "early_preload": early}
        self.peer = poptorch.DataLoader(options(3), dataset, 2, **{**how, "num_workers": 0})
        ahead["sharing_strategy"] = SharingStrategy.Fork
        if wrapped:
            self.made = poptorch.AsynchronousDataAccessor(poptorch.DataLoader(options(3), dataset, 2, **how), **ahead)
            # It takes no timeout of its own.
            self.made._consumer.settings = replace(self.made._consumer.settings, timeout=PATIENCE)
        else:
            how |= {"mode": DataLoaderMode.Async, "async_options": ahead, "timeout": PATIENCE}
            self.made = poptorch.DataLoader(options(3), dataset, 2, **how)
        self.wrapped = wrapped
        self.next_epoch = 0
        self.passing: Iterator[Any] | None = None
        self.left: list[tuple[Iterator[Any], type[Exception]]] = []
        self.to_come: list[list[int] | type[Exception]] = []
        self.is_unused = self.is_over = self.is_killed = False

    def steps(self, epoch: int) -> list[list[int] | type[Exception]]:
        """Return what comes in an epoch, up to its end or to an error."""
        self.peer.set_epoch(epoch)
        found: list[list[int] | type[Exception]] = []
        try:
            found.extend(step.tolist() for step in self.peer)
        except KeyError:
            return [*found, KeyError]
        return [*found, StopIteration]

    def leave(self) -> None:
        """The epoch under way is left; what is held may be overwritten."""
        if self.passing is not None:
            self.left.append((self.passing, StopIteration if self.is_over else RuntimeError))
        self.passing, self.held, self.is_unused = None, None, False

    @rule()
    def begin(self) -> None:
        """Begin an epoch; an accessor's iterator that was not used is the same again."""
        if self.wrapped and self.is_unused:
            assert iter(self.made) is self.passing
            return
        self.leave()
        self.passing = iter(self.made)
        self.to_come = self.steps(self.next_epoch)
        self.next_epoch += 1
        self.is_unused, self.is_over = True, False

    @precondition(lambda self: self.passing is not None)
    @rule(count=strategies.integers(1, 5), keep=strategies.booleans())
    def take(self, count: int, keep: bool) -> None:
        """Ask for some steps, and perhaps keep copies of them."""
        assert self.passing is not None
        for _ in range(count):
            self.is_unused, self.held = False, None
            expected = StopIteration if self.is_over else self.to_come.pop(0)
            step = self.ask()
            if isinstance(step, Exception):
                was_killed = isinstance(step, RuntimeError) and self.is_killed and not self.is_over
                assert was_killed or type(step) is expected
                self.is_killed = self.is_killed and not was_killed
                self.is_over = True
                continue
            assert step.tolist() == expected
            self.held = (step, step.tolist())
            if keep:
                self.kept.append((step.clone(), step.tolist()))

    def ask(self) -> Any:
        """Return the next step, or what is raised in its place."""
        assert self.passing is not None
        try:
            return next(self.passing)
        except (StopIteration, KeyError, RuntimeError) as error:
            return error

    @precondition(lambda self: bool(self.left))
    @rule(data=strategies.data())
    def ask_a_left_one(self, data: Any) -> None:
        """An iterator that was left says so, and one that has ended stays at its end."""
        passing, expected = data.draw(strategies.sampled_from(self.left))
        with pytest.raises(expected):
            next(passing)

    @precondition(lambda self: not self.wrapped)
    @rule(epoch=strategies.integers(0, 4))
    def set_epoch(self, epoch: int) -> None:
        """Name the epoch that is begun next."""
        self.made.set_epoch(epoch)
        self.next_epoch = epoch

    @rule()
    def terminate(self) -> None:
        """End all processes."""
        self.made.terminate()
        self.leave()
        self.is_killed = False

    @rule(number=strategies.integers(0, 1))
    def kill(self, number: int) -> None:
        """Kill a producer, if there is one: when a death was noticed is chance, and so no precondition."""
        producers = self.made._consumer.producers
        if producers is None:
            return
        processes = producers.processes
        victim = processes[number % len(processes)]
        victim.kill()
        victim.join()
        self.is_killed = True

    @invariant()
    def what_is_held_is_intact(self) -> None:
        """A step until the next one is asked for, and a copy for ever."""
        for tensor, values in [*self.kept, *([self.held] if self.held else [])]:
            assert tensor.tolist() == values

    def teardown(self) -> None:
        """End it."""
        if self.made is not None:
            self.made.terminate()


TestUsers = Users.TestCase
TestUsers.settings = settings(max_examples=80, stateful_step_count=15)
