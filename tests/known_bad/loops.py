"""Training loops that lose, repeat or misweigh what a right loader gave them (chapter 12)."""

from collections.abc import Iterator
from typing import Any, ClassVar

import torch

from tests.known_bad.correct import Correct, KnownBad


class Loop(Correct):
    """A correct loop, whose rest is a step of its own; its parts are methods."""

    claims: ClassVar[dict[str, Any]] = dict(loop="step")
    families: ClassVar[tuple[str, ...]] = ("loop",)

    @classmethod
    def load(cls, request: Any) -> Any:
        """A loader, for the museum's loaders have one."""
        return Correct(request)

    @classmethod
    def train(cls, request: Any) -> Any:
        """The adapter's function."""
        loop = cls.__new__(cls)
        loop.asked = loop.request = request
        return loop.run()

    def run(self) -> Any:
        """All epochs; what resumes the loop, if it can be."""
        for epoch in range(self.asked.epochs):
            self.tell(epoch)
            self.train_epoch()
            if self.asked.validation is not None:
                self.validate()

    def tell(self, epoch: int) -> None:
        """Say which epoch it is."""
        self.asked.loader.set_epoch(epoch)

    def train_epoch(self) -> None:
        """One pass, group by group."""
        for group in self.groups():
            self.asked.optimizer.zero_grad()
            for batch in group:
                self.backward(batch, len(group))
            self.asked.optimizer.step()

    def groups(self) -> Iterator[list[Any]]:
        """The micro-batches of each step."""
        group: list[Any] = []
        for batch in self.asked.loader:
            group.append(batch)
            if len(group) == self.asked.accumulation:
                yield group
                group = []
        if group:
            yield group

    def backward(self, batch: Any, parts: int) -> None:
        """The gradient of one micro-batch, which is one of so many parts."""
        x, target = batch
        (self.asked.loss(self.asked.module(x), target) / parts).backward()

    def validate(self) -> None:
        """The module on the validation."""
        self.asked.module.eval()
        with torch.no_grad():
            for x, _ in self.asked.validation:
                self.asked.module(x)
        self.asked.module.train()


class DropsTheRest(Loop):
    """A correct loop that leaves the rest of an epoch out, and says so."""

    claims: ClassVar[dict[str, Any]] = dict(loop="drop")

    def groups(self) -> Iterator[list[Any]]:
        """The whole groups."""
        return (group for group in super().groups() if len(group) == self.asked.accumulation)


class LooksAtABatchFirst(Loop):
    """A correct loop that takes a batch to see its shape, and reads one ahead to know the last."""

    def run(self) -> None:
        """A look, and then all epochs."""
        self.asked.loader.set_epoch(0)
        x, _ = next(iter(self.asked.loader))
        assert x.shape[1] == self.asked.module.weight.shape[0]
        super().run()

    def groups(self) -> Iterator[list[Any]]:
        """The groups, each given when the batch behind it is there."""
        ahead: list[list[Any]] = []
        for group in super().groups():
            yield from ahead
            ahead = [group]
        yield from ahead


CORRECT_LOOPS: tuple[type[Correct], ...] = (Loop, DropsTheRest, LooksAtABatchFirst)


class BadLoop(Loop, KnownBad):
    """A loop with one fault."""


class BeginsWithTheSecondEpoch(BadLoop):
    """Epochs are counted from 1, and one of them is lost. (No public report.)"""

    clause, smallest = "LOOP-1", "n1,b1,loop"

    def run(self) -> None:
        for epoch in range(1, self.asked.epochs):
            self.tell(epoch)
            self.train_epoch()
            if self.asked.validation is not None:
                self.validate()


class StopsAfterTheSteps(BadLoop):
    """The loop counts len(loader) // accumulation steps, and leaves the loader after the last of them."""

    clause, smallest = "LOOP-1", "n3,b1,g2,loop"
    report = "huggingface/transformers#37777"

    def groups(self) -> Iterator[list[Any]]:
        for taken, group in enumerate(super().groups(), 1):
            yield group
            if taken == len(self.asked.loader) // self.asked.accumulation:
                return


class AddsTheLosses(BadLoop):
    """The loss of a micro-batch is not divided, so that a step is so many times as large. (No public report.)"""

    clause, smallest = "LOOP-2", "n2,b1,g2,loop"
    related = ("LOOP-3",)

    def backward(self, batch: Any, parts: int) -> None:
        super().backward(batch, 1)


class DividesOnlyTheRest(BadLoop):
    """What a whole group is divided by was forgotten when the rest was thought of. (No public report.)"""

    clause, smallest = "LOOP-2", "n2,b1,g2,loop"

    def backward(self, batch: Any, parts: int) -> None:
        super().backward(batch, 1 if parts == self.asked.accumulation else parts)


class DividesTheRestByAll(BadLoop):
    """The last group is divided by the accumulation, and not by what it holds."""

    clause, smallest = "LOOP-3", "n1,b1,g2,loop"
    report = "huggingface/transformers#38837"

    def backward(self, batch: Any, parts: int) -> None:
        super().backward(batch, self.asked.accumulation)


class LeavesTheRestForTheNext(BadLoop):
    """What is not stepped at the end of an epoch stays in the gradient for the next one."""

    claims: ClassVar[dict[str, Any]] = dict(loop="drop")
    report = "meta-pytorch/torchtune#2745"
    clause, smallest = "LOOP-4", "n5,b1,g2,e2,loop"

    def train_epoch(self) -> None:
        for at, batch in enumerate(self.asked.loader, 1):
            self.backward(batch, self.asked.accumulation)
            if at % self.asked.accumulation == 0:
                self.asked.optimizer.step()
                self.asked.optimizer.zero_grad()


class NeverTellsTheEpoch(BadLoop):
    """set_epoch is not called: every epoch comes in one order."""

    clause, smallest = "LOOP-5", "n1,b1,e2,loop"
    report = "Lightning-AI/pytorch-lightning#224"

    def tell(self, epoch: int) -> None:
        pass


class StaysInEvaluation(BadLoop):
    """After the first validation the module is never put into training mode again. (No public report.)"""

    clause, smallest = "LOOP-6", "n1,b1,e2,loop,with=validated"

    def validate(self) -> None:
        super().validate()
        self.asked.module.eval()


class TrainsOnTheValidation(BadLoop):
    """The validation's losses go backward, and are in the next step's gradient. (No public report.)"""

    related = ("LOOP-3",)
    clause, smallest = "LOOP-6", "n1,b1,e2,loop,with=validated"

    def validate(self) -> None:
        self.asked.module.eval()
        for batch in self.asked.validation:
            self.backward(batch, 1)
        self.asked.module.train()

    def train_epoch(self) -> None:
        for group in self.groups():
            for batch in group:
                self.backward(batch, len(group))
            self.asked.optimizer.step()
            self.asked.optimizer.zero_grad()
