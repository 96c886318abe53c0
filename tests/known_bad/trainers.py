"""A correct trainer in plain torch: decides what the bad ones of chapter 6 change.

A call goes through these methods: `check`, `inputs`, for each device iteration `micro_batches` (one by one, in the
order of the layout) and `update`, then `returned`.
"""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import torch
import torch.distributed as distributed

from tests.known_bad.correct import Correct, KnownBad

PARTS = ("training", "inference", "outputs", "synthetic", "ranks")


class Trainer(KnownBad):
    """One rank's model, as a function of the tensors of a step."""

    claims: ClassVar[dict[str, Any]] = dict(device=PARTS)
    families = ("device",)

    @classmethod
    def load(cls, request: Any) -> Any:
        """A loader, for the adapter must have one."""
        return Correct(request)

    @classmethod
    def model(cls, request: Any) -> "Trainer":
        """The adapter's function."""
        trainer = cls.__new__(cls)
        trainer.begin(request)
        return trainer

    def begin(self, request: Any) -> None:
        """Refuse what can't be, and let all ranks begin with the weights of rank 0."""
        self.request = request
        self.module, self.optimizer = request.module, request.optimizer
        # DEVICE-8
        if self.optimizer is None and request.gradient_accumulation > 1:
            raise ValueError(f"gradient accumulation is {request.gradient_accumulation}, but inference has no gradient")
        # DEVICE-10
        if request.world_size > 1:
            for parameter in self.shared():
                distributed.broadcast(parameter.data, 0)

    def shared(self) -> Sequence[torch.nn.Parameter]:
        """What rank 0 gives to the others before the first update."""
        return list(self.module.parameters())

    def __call__(self, *tensors: torch.Tensor) -> Any:
        request = self.request
        factors = (request.device_iterations, request.gradient_accumulation, request.replication_factor)
        self.check(tensors, factors[0] * factors[1] * factors[2])
        parts = [tensor.reshape(*factors, -1, *tensor.shape[1:]) for tensor in self.inputs(tensors)]
        results: list[list[tuple[torch.Tensor, ...]]] = []
        for iteration in range(request.device_iterations):
            self.begin_update()
            for accumulated in self.accumulations(parts, iteration):
                results.append([self.run(arguments) for arguments in accumulated])
            self.update()
        return self.returned(results)

    def check(self, tensors: Sequence[torch.Tensor], factor: int) -> None:  # type: ignore[override]
        """Refuse a step that does not divide."""
        for tensor in tensors:
            # DEVICE-7
            if len(tensor) % factor:
                raise ValueError(f"{len(tensor)} samples can't be divided by {factor}, the product of the factors")

    def inputs(self, tensors: Sequence[torch.Tensor]) -> Sequence[torch.Tensor]:
        """The step's tensors, or some of the same shapes."""
        # DEVICE-9
        return [torch.ones_like(tensor) for tensor in tensors] if self.request.synthetic else tensors

    def accumulations(self, parts: list[torch.Tensor], iteration: int) -> Iterator[list[list[torch.Tensor]]]:
        """The arguments of each replica, one accumulation after the other."""
        # DEVICE-2
        for at in range(self.request.gradient_accumulation):
            replicas = range(self.request.replication_factor)
            yield [[part[iteration, at, replica] for part in parts] for replica in replicas]

    def run(self, arguments: list[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        """One micro-batch: forward, and backward in training."""
        if self.optimizer is None:
            with torch.no_grad():
                return (self.module(*arguments),)
        told, loss = self.module(*arguments)
        (loss / self.count()).backward()
        return told.detach(), loss.detach()

    def micro_batches(self) -> int:
        """How many make one update, over all ranks."""
        return int(self.request.gradient_accumulation * self.request.replication_factor * self.request.world_size)

    def count(self) -> int:
        """What gradients are divided by."""
        return self.micro_batches() if self.request.reduction == "mean" else 1

    def begin_update(self) -> None:
        """Forget the last gradients."""
        if self.optimizer is not None:
            self.optimizer.zero_grad()

    def update(self) -> None:
        """Change the weights once."""
        if self.optimizer is None:
            return
        if self.request.world_size > 1:
            self.reduce(self.gradients())
        self.optimizer.step()

    def gradients(self) -> list[torch.Tensor]:
        """Those of all that is trained: a rank that has used none of it has zeros, and all ranks as many."""
        trained = [parameter for parameter in self.module.parameters() if parameter.requires_grad]
        for parameter in trained:
            parameter.grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        return [parameter.grad for parameter in trained if parameter.grad is not None]

    def reduce(self, gradients: list[Any]) -> None:
        """Add up the gradients of all ranks."""
        for gradient in gradients:
            distributed.all_reduce(gradient)

    def returned(self, results: list[list[tuple[torch.Tensor, ...]]]) -> Any:
        """The results of all micro-batches, [iteration x accumulation][replica], as the mode says."""
        # DEVICE-6
        mode = self.request.output_mode
        if mode == "default":
            mode = "all" if self.optimizer is None else "final"
        chosen = self.chosen(mode, results)
        found = tuple(joined([result[at] for row in chosen for result in row]) for at in range(len(results[0][0])))
        return found if self.optimizer is not None else found[0]

    def chosen(self, mode: str, results: list[list[tuple[torch.Tensor, ...]]]) -> list[list[tuple[torch.Tensor, ...]]]:
        """The rows that are returned."""
        if mode == "final":
            return results[-1:]
        if mode == "every_n":
            return results[self.request.output_period - 1 :: self.request.output_period]
        return [added(results)] if mode == "sum" else results


def added(results: list[list[tuple[torch.Tensor, ...]]]) -> list[tuple[torch.Tensor, ...]]:
    """For each replica, the sum of its results."""
    replicas = zip(*results, strict=True)
    return [tuple(sum(each[1:], start=each[0]) for each in zip(*mine, strict=True)) for mine in replicas]


def joined(results: list[torch.Tensor]) -> torch.Tensor:
    """Scalars are stacked, other results joined along their first axis."""
    return torch.cat(results) if results[0].dim() else torch.stack(results)
