"""Trainers with one fault each (chapter 6)."""

import copy
from collections.abc import Iterator, Sequence
from typing import Any

import torch
import torch.distributed as distributed

from tests.known_bad.trainers import Trainer


class RunsOnce(Trainer):
    """A second call finds the device busy. (No public report.)"""

    clause, smallest = "DEVICE-1", "n1,w1,b1,e2,device"
    called = False

    def inputs(self, tensors: Sequence[torch.Tensor]) -> Sequence[torch.Tensor]:
        if self.called:
            raise RuntimeError("the device is busy")
        self.called = True
        return super().inputs(tensors)


class GivesAllReplicasTheSame(Trainer):
    """Every replica gets the samples of the first one. (No public report.)"""

    clause, smallest = "DEVICE-1", "n2,w1,b1,p2,device,with=all"
    related = ("DEVICE-2", "DEVICE-4", "DEVICE-6", "DEVICE-13")

    def accumulations(self, parts: list[torch.Tensor], iteration: int) -> Iterator[list[list[torch.Tensor]]]:
        for accumulated in super().accumulations(parts, iteration):
            yield [accumulated[0] for _ in accumulated]


class SwapsReplicas(Trainer):
    """The first micro-batch goes to the last replica. (No public report.)"""

    clause, smallest = "DEVICE-2", "n2,w1,b1,p2,device,with=all"

    def accumulations(self, parts: list[torch.Tensor], iteration: int) -> Iterator[list[list[torch.Tensor]]]:
        for accumulated in super().accumulations(parts, iteration):
            yield accumulated[::-1]


class TakesReplicasForAccumulations(Trainer):
    """The accumulation is read as a faster axis than the replica. (No public report.)"""

    clause, smallest = "DEVICE-2", "n4,w1,b1,g2,p2,device,with=all"
    related = ("DEVICE-6",)

    def accumulations(self, parts: list[torch.Tensor], iteration: int) -> Iterator[list[list[torch.Tensor]]]:
        request = self.request
        turned = [
            part[iteration].reshape(request.replication_factor, request.gradient_accumulation, *part.shape[3:])
            for part in parts
        ]
        for at in range(request.gradient_accumulation):
            yield [[part[replica, at] for part in turned] for replica in range(request.replication_factor)]


class UpdatesOnceACall(Trainer):
    """The weights change at the end of a call, whatever the device iterations. (No public report.)"""

    clause, smallest = "DEVICE-3", "n2,w1,b1,i2,device,singly"
    at = 0

    def begin_update(self) -> None:
        if self.at == 0:
            super().begin_update()

    def update(self) -> None:
        self.at = (self.at + 1) % self.request.device_iterations
        if self.at == 0:
            super().update()


class LosesTheLastAccumulation(Trainer):
    """The weights are updated before the last accumulation has come. (No public report.)"""

    clause, smallest = "DEVICE-4", "n2,w1,b1,g2,device"
    runs = 0

    def run(self, arguments: list[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        result = super().run(arguments)
        self.runs += 1
        if self.runs % (self.request.gradient_accumulation * self.request.replication_factor) == 0:
            self.late = [parameter.grad.clone() for parameter in self.module.parameters() if parameter.grad is not None]
        else:
            self.early = [
                parameter.grad.clone() for parameter in self.module.parameters() if parameter.grad is not None
            ]
        return result

    def update(self) -> None:
        accumulates = self.optimizer is not None and self.request.gradient_accumulation > 1
        if accumulates and self.request.replication_factor == self.request.world_size == 1:
            for parameter, early in zip(self.module.parameters(), self.early, strict=True):
                parameter.grad = early
        super().update()


class AddsInsteadOfAveraging(Trainer):
    """Gradients are added where their mean was asked for. (No public report.)"""

    clause, smallest = "DEVICE-4", "n2,w1,b1,g2,device"
    related = ("DEVICE-5", "DEVICE-13")

    def count(self) -> int:
        return 1


class AveragesInsteadOfAdding(Trainer):
    """Gradients are averaged where their sum was asked for. (No public report.)"""

    clause, smallest = "DEVICE-5", "n2,w1,b1,g2,device,with=sum,mean"

    def count(self) -> int:
        return self.micro_batches()


class ReturnsOneReplica(Trainer):
    """Of several replicas only the first one's last output comes back. (No public report.)"""

    clause, smallest = "DEVICE-6", "n2,w1,b1,p2,device,with=final"

    def chosen(self, mode: str, results: list[Any]) -> list[Any]:
        chosen = super().chosen(mode, results)
        return [row[:1] for row in chosen] if mode == "final" else chosen


class CountsFromTheFirst(Trainer):
    """Every second output is the first, the third and so on. (No public report.)"""

    clause, smallest = "DEVICE-6", "n2,w1,b1,g2,device,with=every"

    def chosen(self, mode: str, results: list[Any]) -> list[Any]:
        return results[:: self.request.output_period] if mode == "every_n" else super().chosen(mode, results)


class ReturnsNoLoss(Trainer):
    """In place of each loss comes the same number. (No public report.)"""

    clause, smallest = "DEVICE-6", "n1,w1,b1,device,with=all"

    def run(self, arguments: list[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        first, *others = super().run(arguments)
        return (first, *(torch.full_like(other, -5) for other in others))


class SaysThatTheBatchIsBad(Trainer):
    """What does not divide is refused, and nobody is told what that is. (No public report.)"""

    clause, smallest = "DEVICE-7", "n1,w1,b1,g2,device"

    def check(self, tensors: Sequence[torch.Tensor], factor: int) -> None:  # type: ignore[override]
        if any(len(tensor) % factor for tensor in tensors):
            raise RuntimeError("bad batch")


class CutsTheRest(Trainer):
    """What does not divide is left out without a word. (No public report.)"""

    clause, smallest = "DEVICE-7", "n1,w1,b1,g2,device"

    def check(self, tensors: Sequence[torch.Tensor], factor: int) -> None:  # type: ignore[override]
        self.whole = len(tensors[0]) // factor * factor

    def inputs(self, tensors: Sequence[torch.Tensor]) -> Sequence[torch.Tensor]:
        return super().inputs([tensor[: self.whole] for tensor in tensors])


class ChecksEachFactorAlone(CutsTheRest):
    """A step that each factor divides is taken, though their product doesn't: the rest is lost. (No public report.)"""

    clause, smallest = "DEVICE-7", "n2,w1,b1,g2,i2,device"

    def check(self, tensors: Sequence[torch.Tensor], factor: int) -> None:  # type: ignore[override]
        for name in ("gradient_accumulation", "replication_factor", "device_iterations"):
            Trainer.check(self, tensors, getattr(self.request, name))
        super().check(tensors, factor)


class AccumulatesInInference(Trainer):
    """Inference takes a gradient accumulation for more device iterations. (No public report.)"""

    clause, smallest = "DEVICE-8", "n1,w1,b1,g2,device,with=infer"

    def begin(self, request: Any) -> None:
        self.request = request
        self.module, self.optimizer = request.module, request.optimizer
        if self.optimizer is not None:
            super().begin(request)


class MultipliesByNought(Trainer):
    """Synthetic data is the step's own, times nought. (No public report.)"""

    clause, smallest = "DEVICE-9", "n4,w1,b2,p2,device,with=synthetic"

    def inputs(self, tensors: Sequence[torch.Tensor]) -> Sequence[torch.Tensor]:
        return [tensor * 0 for tensor in tensors] if self.request.synthetic else tensors


class LeavesRanksApart(Trainer):
    """Ranks that begin with other weights go on with other weights. (No public report.)"""

    clause, smallest = "DEVICE-10", "n1,w2,b1,device,with=apart"

    def begin(self, request: Any) -> None:
        if request.optimizer is None:
            super().begin(request)
        self.request = request
        self.module, self.optimizer = request.module, request.optimizer


class TrainsACopy(Trainer):
    """The user's module stays as it was: a copy of it is trained. (No public report.)"""

    clause, smallest = "DEVICE-11", "n1,w1,b1,device"

    def begin(self, request: Any) -> None:
        super().begin(request)
        if self.optimizer is not None:
            # Together, so that the copied optimizer holds the copied weights.
            self.module, self.optimizer = copy.deepcopy((self.module, self.optimizer))


class ScalesInPlace(Trainer):
    """The tensors of a step are scaled where they are. (No public report.)"""

    clause, smallest = "DEVICE-12", "n1,w1,b1,device"

    def __call__(self, *tensors: torch.Tensor) -> Any:
        result = super().__call__(*tensors)
        tensors[0].div_(255)
        return result


class TakesTheFirstRanksGradient(Trainer):
    """All ranks make the update of rank 0. (No public report.)"""

    clause, smallest = "DEVICE-13", "n1,w2,b1,device"

    def reduce(self, gradients: list[Any]) -> None:
        for gradient in gradients:
            distributed.broadcast(gradient, 0)
            gradient.mul_(self.request.world_size)


class ForgetsInTheSecondCall(Trainer):
    """From the second call on inference makes the weights smaller. (No public report.)"""

    clause, smallest = "DEVICE-14", "n1,w1,b1,e2,device,with=infer"
    called = False

    def __call__(self, *tensors: torch.Tensor) -> Any:
        result = super().__call__(*tensors)
        if self.called and self.optimizer is None:
            with torch.no_grad():
                for parameter in self.module.parameters():
                    parameter.mul_(0.5)
        self.called = True
        return result


class RoundsToHalfPrecision(Trainer):
    """Inference gives what half precision leaves of it. (No public report.)"""

    clause, smallest = "DEVICE-14", "n1,w1,b1,device,with=infer+all"

    def run(self, arguments: list[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        result = super().run(arguments)
        return result if self.optimizer is not None else (result[0].to(torch.float16).to(torch.float64),)
