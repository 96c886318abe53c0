"""What a loop is handed, and what is seen of it: loaders that note what they are asked, and a module that tells all.

The module is one weight a sample, and its loss the mean of the weights of the samples in the batch. So the gradient at
a step says which samples it is made of, and what each of them counts.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from conformance.loops.scenario import VALIDATION, LoopScenario

_SHARED_BY = 4  # one in so many samples has the weight that is shared


@dataclass
class Seen:
    """What happened in turn: ("told", n), ("begun",), ("batch", samples), ("step", gradient), and so on."""

    events: list[tuple[str, Any]] = field(default_factory=list)

    def note(self, what: str, value: Any = None) -> None:
        """Write down one thing."""
        self.events.append((what, value))


class Loader:
    """Micro-batches in an order of their own in each epoch, as the latest `set_epoch` says."""

    def __init__(self, scenario: LoopScenario, seen: Seen) -> None:
        self.scenario = scenario
        self.seen = seen
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch comes next."""
        self.seen.note("told", int(epoch))
        self.epoch = int(epoch)

    def __len__(self) -> int:
        return self.scenario.micro_batches

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        self.seen.note("begun", self.epoch)
        for samples in self.scenario.batches(self.epoch):
            self.seen.note("batch", samples)
            yield _batch(self.scenario, samples)
        self.seen.note("ended")


class Validation:
    """The samples of the validation, in one order."""

    def __init__(self, scenario: LoopScenario, seen: Seen) -> None:
        self.scenario = scenario
        self.seen = seen

    def __len__(self) -> int:
        return -(-VALIDATION // self.scenario.batch_size)

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        self.seen.note("validation")
        first = self.scenario.samples
        for start in range(first, first + VALIDATION, self.scenario.batch_size):
            yield _batch(self.scenario, list(range(start, min(start + self.scenario.batch_size, first + VALIDATION))))


class Module(nn.Module):
    """A weight a sample; x: [samples of the batch, weights], one row a sample; gives [samples of the batch].

    Some samples have one more weight together, so that it has no gradient where none of them is in a step.
    """

    def __init__(self, weights: int, seen: Seen) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(weights, dtype=torch.float64))
        self.shared = nn.Parameter(torch.zeros(1, dtype=torch.float64))
        # What training changes though no optimizer does; a sample that is trained on twice changes it once.
        self.met: Tensor
        self.register_buffer("met", torch.zeros(weights, dtype=torch.float64))
        self.seen = seen

    def forward(self, x: Tensor) -> Tensor:
        """The weight of each sample."""
        rows = [int(row) for row in x.argmax(dim=1)]
        self.seen.note("training" if self.training else "evaluating", rows)
        if self.training:
            self.met[rows] = 1.0
        found = x @ self.weight
        sharing = [row % _SHARED_BY == 0 for row in rows]
        return found + torch.tensor(sharing) * self.shared if any(sharing) else found


def loss(output: Tensor, target: Tensor) -> Tensor:
    """The mean over the samples of a batch."""
    return (output - target).mean()


def optimizer_of(module: nn.Module, seen: Seen) -> torch.optim.Optimizer:
    """SGD with momentum, which is a state of its own; its steps are noted with the gradient that they take."""
    made = torch.optim.SGD(module.parameters(), lr=0.1, momentum=0.5)
    weight = next(module.parameters())

    def note(*_: Any) -> None:
        seen.note("step", [] if weight.grad is None else weight.grad.tolist())

    made.register_step_pre_hook(note)
    return made


def warm_up() -> None:
    """Let torch import what it imports with its first optimizer. Nothing is computed that would start a thread."""
    made = optimizer_of(Module(1, Seen()), Seen())
    made.zero_grad()
    made.step()


def _batch(scenario: LoopScenario, samples: list[int]) -> tuple[Tensor, Tensor]:
    rows = torch.zeros(len(samples), scenario.samples + VALIDATION, dtype=torch.float64)
    rows[torch.arange(len(samples)), torch.tensor(samples)] = 1.0
    return rows, torch.zeros(len(samples), dtype=torch.float64)
