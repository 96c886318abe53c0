"""Models for the tests of the device, and plain torch beside them; and how several ranks are run."""

import copy
import multiprocessing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

import reference as poptorch

# A rank imports torch, meets the others and trains; nothing is ever slower than this but what hangs.
PATIENCE = 120


class Regression(nn.Module):
    """In training (output, loss), else the output; in double precision, with the weights of a seed."""

    def __init__(self, seed: int = 0, width: int = 0) -> None:
        super().__init__()
        layers = [nn.Linear(3, width), nn.Tanh(), nn.Linear(width, 2)] if width else [nn.Linear(3, 2)]
        self.net = nn.Sequential(*layers).double()
        generator = torch.Generator().manual_seed(seed)
        for parameter in self.parameters():
            parameter.data = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)

    def forward(self, x: Tensor, target: Tensor | None = None) -> Any:
        output = self.net(x)
        return output if target is None else (output, ((output - target) ** 2).mean())


class Numbers(nn.Module):
    """Gives back its input, and a scalar made of it."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return x, x.sum()


OPTIMIZERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "sgd": lambda parameters, lr: torch.optim.SGD(parameters, lr=lr),
    "momentum": lambda parameters, lr: torch.optim.SGD(parameters, lr=lr, momentum=0.9, weight_decay=0.01),
    "adam": lambda parameters, lr: torch.optim.Adam(parameters, lr=lr),
    "rmsprop": lambda parameters, lr: poptorch.optim.RMSprop(parameters, lr=lr),
}


def options(iterations: int = 1, accumulation: int = 1, replicas: int = 1, total: bool = False) -> poptorch.Options:
    """Options with these factors; `total` for the sum of gradients."""
    made = poptorch.Options().deviceIterations(iterations).replicationFactor(replicas)
    made.Training.gradientAccumulation(accumulation)
    if total:
        made.Training.accumulationAndReplicationReductionType(poptorch.ReductionType.Sum)
    return made


def step(samples: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """The tensors of one step."""
    generator = torch.Generator().manual_seed(seed)
    return tuple(torch.randn(samples, n, generator=generator, dtype=torch.float64) for n in (3, 2))  # type: ignore[return-value]


def train_plainly(module: nn.Module, optimizer: torch.optim.Optimizer, batches: list[tuple[Tensor, Tensor]]) -> None:
    """One update of plain torch for each batch."""
    for batch in batches:
        optimizer.zero_grad()
        module(*batch)[1].backward()
        optimizer.step()


def weights(module: Any) -> list[Tensor]:
    """A copy of all weights."""
    return [copy.deepcopy(parameter.detach()) for parameter in module.parameters()]


def run_ranks(target: Callable[..., Any], ranks: int, folder: Path, *arguments: Any) -> list[Any]:
    """What `target(rank, ranks, folder, *arguments)` returns in each of so many new processes."""
    context = multiprocessing.get_context("spawn")
    answers: Any = context.Queue()
    processes = [
        context.Process(target=_answer, args=(answers, target, rank, ranks, folder, *arguments))
        for rank in range(ranks)
    ]
    for process in processes:
        process.start()
    try:
        found = dict(answers.get(timeout=PATIENCE) for _ in processes)
        return [found[rank] for rank in range(ranks)]
    finally:
        for process in processes:
            process.join(timeout=PATIENCE)
            process.kill()
            process.join()


def _answer(answers: Any, target: Callable[..., Any], rank: int, *arguments: Any) -> None:
    # Two cores, and other tests beside.
    torch.set_num_threads(1)
    try:
        answers.put((rank, target(rank, *arguments)))
    except BaseException as error:
        answers.put((rank, f"{type(error).__name__}: {error}"))
        raise


def meet(rank: int, ranks: int, folder: Path) -> None:
    """Make the process group of these ranks."""
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=ranks)
