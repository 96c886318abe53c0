"""Correct implementations of unusual kinds, chapters 6 to 9: trainers, launchers, pipelines and restarts."""

import json
import subprocess
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, ClassVar

import torch

from reference.dataloader2 import DataLoader2
from tests.known_bad.correct import Correct, claim
from tests.known_bad.launching import Launcher
from tests.known_bad.pipelines import Pipelines
from tests.known_bad.resuming import COUNTING, STEADY, Stopping
from tests.known_bad.trainers import Trainer
from tests.known_bad.unusual_orders import SwapsWithoutAList

# --- chapter 6 --------------------------------------------------------------------------------------------------------


class AddsGradientsItself(Trainer):
    """Gradients never lie on the parameters before the update: they are asked for, and added up beside them."""

    def begin_update(self) -> None:
        """Begin with none."""
        self.trained = [parameter for parameter in self.module.parameters() if parameter.requires_grad]
        self.sums = [torch.zeros_like(parameter) for parameter in self.trained]

    def run(self, arguments: list[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        """One micro-batch."""
        if self.optimizer is None:
            return super().run(arguments)
        told, loss = self.module(*arguments)
        found = torch.autograd.grad(loss / self.count(), self.trained, allow_unused=True)
        for total, gradient in zip(self.sums, found, strict=True):
            total += 0 if gradient is None else gradient
        return told.detach(), loss.detach()

    def update(self) -> None:
        """Put them where the optimizer looks."""
        for parameter, total in zip(self.trained, self.sums, strict=True):
            parameter.grad = total
        super().update()


class DividesAtTheEnd(Trainer):
    """Gradients are added up whole, and divided once before the update."""

    def run(self, arguments: list[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        """One micro-batch."""
        if self.optimizer is None:
            return super().run(arguments)
        told, loss = self.module(*arguments)
        loss.backward()
        return told.detach(), loss.detach()

    def update(self) -> None:
        """Divide, and change the weights."""
        for parameter in self.module.parameters():
            if parameter.grad is not None:
                parameter.grad /= self.count()
        super().update()


# --- chapter 7 --------------------------------------------------------------------------------------------------------


class StartsThroughAShell(Launcher):
    """A shell stands before each instance, and becomes it."""

    def words(self, program: list[str]) -> list[str]:
        """The instance's command line."""
        return ["/bin/sh", "-c", 'exec "$@"', "instance", *program]


class StartsFromTheLast(Launcher):
    """The last instance is started first, a moment before the others."""

    def start(self, index: int, replicas: int, instances: int, program: list[str]) -> "subprocess.Popen[bytes]":
        """Start all with the first one that is asked for."""
        if index == 0:
            begin = super().start
            self.begun = {at: begin(at, replicas, instances, program) for at in reversed(range(instances))}
        return self.begun[index]


# --- chapter 8 --------------------------------------------------------------------------------------------------------


_begin = DataLoader2._begin


def _numbered(loader: Any) -> Iterator[Any]:
    yield from (element for _, element in enumerate(_begin(loader)))


class CountsItsElements(Pipelines):
    """Every element passes one more generator on its way to the consumer."""

    changes: ClassVar[dict[str, Any]] = {"dataloader2:DataLoader2._begin": _numbered}


# --- chapter 9 --------------------------------------------------------------------------------------------------------


class ReplaysTheEpoch(Stopping):
    """What was delivered before is read again, and thrown away."""

    claims: ClassVar[dict[str, Any]] = COUNTING

    def left(self, skipped: int) -> list[list[int]]:
        """All steps of the epoch; those that came before are read before the first one is given."""
        steps = super().left(0)
        before = skipped // self.round
        for step in islice(steps, before):
            self.fetch(step)
        return steps[before:]


class WritesItsStateInText(Stopping):
    """A state is a line of JSON."""

    def state_dict(self) -> Any:
        """Where it is, in text."""
        return json.dumps(super().state_dict())

    def load_state_dict(self, state: Any) -> None:
        """Go on from there."""
        super().load_state_dict(json.loads(state))


class NamesItsDataset(Stopping):
    """A state says of which dataset it is, and is refused with another one."""

    def state_dict(self) -> Any:
        """Where it is, and in what."""
        return {"dataset": repr(self.request.dataset), "state": super().state_dict()}

    def load_state_dict(self, state: Any) -> None:
        """Go on from there, if it is there."""
        given = repr(self.request.dataset)
        if state["dataset"] != given:
            raise ValueError(f"the state is one of {state['dataset']}, and this loader reads {given}")
        super().load_state_dict(state["state"])


class SavesATensor(Stopping):
    """A state is one tensor of numbers, without a name for any of them."""

    claims: ClassVar[dict[str, Any]] = claim(STEADY, shuffle=None, epochs=None)
    _names = ("epoch", "given", "samples", "round")

    def facts(self) -> dict[str, Any]:
        """Numbers only: there is no seed without a shuffle."""
        return {name: value for name, value in super().facts().items() if name != "seed"}

    def state_dict(self) -> Any:
        """Where it is, in numbers."""
        state = super().state_dict()
        return {"state": torch.tensor([state[name] for name in self._names])}

    def load_state_dict(self, state: Any) -> None:
        """Go on from there."""
        super().load_state_dict(dict(zip(self._names, state["state"].tolist(), strict=True)))


class GoesOnAtOnce(SwapsWithoutAList):
    """No order is held, so that a restart looks at nothing that came before."""

    claims: ClassVar[dict[str, Any]] = STEADY
    families: ClassVar[tuple[str, ...]] = ("resume",)
    begun = ended = False
    steps_given = first = 0

    def state_dict(self) -> Any:
        """How many steps of which epoch came, and what they count in."""
        epoch, steps = (self.epoch + 1, 0) if self.ended else (self.epoch, self.steps_given)
        return {"at": (epoch, steps), "of": self.facts()}

    def facts(self) -> Sequence[Any]:
        """What a state must have in common with the request."""
        asked = self.request
        seed = asked.seed if asked.shuffle else None
        return [len(asked.dataset), seed, asked.batch_size, asked.world_size, asked.drop_last]

    def load_state_dict(self, state: Any) -> None:
        """Go on from there."""
        if state["of"] != self.facts():
            raise ValueError(f"the state is of {state['of']}, and this loader of {self.facts()}")
        self.begun = self.ended = False
        self.epoch, self.first = state["at"]
        self.steps_given = self.first

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch comes next; the one of the state that was loaded goes on."""
        if self.begun or epoch != self.epoch:
            self.first = self.steps_given = 0
        self.epoch, self.begun, self.ended = epoch, False, False

    def __iter__(self) -> Iterator[Any]:
        first, self.first = self.first, 0
        self.steps_given, self.begun, self.ended = first, True, False
        return self.rest(first)

    def rest(self, first: int) -> Iterator[Any]:
        """The steps from one on."""
        size, shard, seed = self.request.batch_size, self.shard_size(), self.mixed_seed()
        for step in range(first, len(self)):
            batch = self.fetch([self.at(at, seed) for at in range(step * size, min((step + 1) * size, shard))])
            self.steps_given += 1
            yield batch
        self.ended = True


UNUSUAL_ELSEWHERE: tuple[type[Correct], ...] = (
    AddsGradientsItself,
    DividesAtTheEnd,
    StartsThroughAShell,
    StartsFromTheLast,
    CountsItsElements,
    ReplaysTheEpoch,
    WritesItsStateInText,
    NamesItsDataset,
    SavesATensor,
    GoesOnAtOnce,
)
