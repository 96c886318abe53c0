"""Trainers with one fault each: what calls leave behind, and several groups of parameters (chapter 6)."""

import copy
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from tests.known_bad.trainers import Trainer


class ZeroesAfterTheUpdate(Trainer):
    """Gradients are zeroed after an update: those of a step in which the module fails stay. (No public report.)"""

    clause, smallest = "DEVICE-4", "n2,w1,b1,g2,device,with=failed"

    def begin_update(self) -> None:
        pass

    def update(self) -> None:
        super().update()
        super().begin_update()


class RefusesTheLastMicroBatch(ZeroesAfterTheUpdate):
    """A step is refused at its last micro-batch, and the gradients of the others stay. (No public report.)"""

    clause, smallest = "DEVICE-4", "n2,w1,b1,g2,device,with=refused"

    def check(self, tensors: Sequence[torch.Tensor], factor: int) -> None:  # type: ignore[override]
        try:
            super().check(tensors, factor)
        except ValueError:
            if self.optimizer is not None:
                self.run([tensor[:1] for tensor in tensors])
            raise

    def run(self, arguments: list[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        try:
            return super().run(arguments)
        except ValueError:
            Trainer.begin_update(self)
            raise


class ScalesTheFirstGroup(Trainer):
    """A sum is made of a mean by a larger rate, that of the first group of parameters alone. (No public report.)"""

    clause, smallest = "DEVICE-5", "n2,w1,b1,g2,device,with=groups+sum,mean"

    def count(self) -> int:
        return self.micro_batches()

    def update(self) -> None:
        times = self.micro_batches() if self.request.reduction == "sum" else 1
        group = self.optimizer.param_groups[0] if self.optimizer is not None else {"lr": 0}
        group["lr"] *= times
        super().update()
        group["lr"] /= times


class InfersFromOldCopies(Trainer):
    """Replicas of inference are copied once, and keep their weights where the module's change. (No public report.)"""

    clause, smallest = "DEVICE-14", "n2,w1,b1,p2,e2,device,with=infer+moved+all"

    def begin(self, request: Any) -> None:
        super().begin(request)
        self.replicas = [self.module, *(copy.deepcopy(self.module) for _ in range(1, request.replication_factor))]

    def run(self, arguments: list[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        if self.optimizer is not None:
            return super().run(arguments)
        self.module, *others = self.replicas
        self.replicas = [*others, self.module]
        return super().run(arguments)


class CountsResultsOn(Trainer):
    """Every second result is counted from call to call: after a call that failed it is another. (No public report.)"""

    clause, smallest = "DEVICE-6", "n2,w1,b1,g2,device,with=failed+every"
    counted = 0

    def accumulations(self, parts: list[torch.Tensor], iteration: int) -> Iterator[list[list[torch.Tensor]]]:
        for accumulated in super().accumulations(parts, iteration):
            yield accumulated
            self.counted += 1

    def chosen(self, mode: str, results: list[Any]) -> list[Any]:
        if mode != "every_n":
            return super().chosen(mode, results)
        numbered = enumerate(results, start=self.counted - len(results) + 1)
        return [row for number, row in numbered if number % self.request.output_period == 0]


class CountsWithinAnUpdate(Trainer):
    """Every second result is counted within each update, where the period is at hand. (No public report.)"""

    clause, smallest = "DEVICE-6", "n6,w1,b1,g3,i2,device,with=every"

    def chosen(self, mode: str, results: list[Any]) -> list[Any]:
        period, size = self.request.output_period, self.request.gradient_accumulation
        if mode != "every_n" or size < period:
            return super().chosen(mode, results)
        return [row for at, row in enumerate(results) if (at % size + 1) % period == 0]


class AddsUpWhereTheFirstLies(Trainer):
    """Results are added up in the first of them, which may be a part of the step. (No public report.)"""

    clause, smallest = "DEVICE-12", "n2,w1,b1,g2,device,with=lends+total"

    def chosen(self, mode: str, results: list[Any]) -> list[Any]:
        if mode != "sum":
            return super().chosen(mode, results)
        first, *others = results
        for row in others:
            for mine, theirs in zip(first, row, strict=True):
                for total, result in zip(mine, theirs, strict=True):
                    total += result
        return [first]


class SharesWhatIsTrained(Trainer):
    """Ranks get rank 0's weights, but for those that are frozen: these stay each rank's own. (No public report.)"""

    clause, smallest = "DEVICE-10", "n1,w2,b1,device,with=frozen+apart"

    def shared(self) -> Sequence[torch.nn.Parameter]:
        return [parameter for parameter in super().shared() if parameter.requires_grad]


class DividesATiedWeightTwice(Trainer):
    """The mean is taken layer by layer: of a weight that two layers have, twice. (No public report.)"""

    clause, smallest = "DEVICE-4", "n2,w1,b1,g2,device,with=tied"

    def update(self) -> None:
        if self.optimizer is not None:
            uses = Counter(id(each) for layer in self.module.modules() for each in layer._parameters.values())
            for parameter in self.module.parameters():
                if parameter.grad is not None:
                    parameter.grad /= self.count() ** (uses[id(parameter)] - 1)
        super().update()
