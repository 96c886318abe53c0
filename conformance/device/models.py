"""The models that are trained, and plain torch beside them: decides what an implementation trains and what must come.

Everything is in double precision, so that two ways to the same update differ by rounding alone. Besides its own output
the module tells, for every sample, the sample's number and one of its weights: so a result says which replica saw which
sample, and whether the replicas' weights have parted.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

_FEATURES = 3
# The samples of rank r have the numbers from so many times r.
RANKS_APART = 1_000


class Module(nn.Module):
    """A small regression. x: [samples, 1 + features], the sample's number first; target: [samples, 2]."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        widths = [_FEATURES, *[4] * (layers - 1), 2]
        parts: list[nn.Module] = []
        for entering, leaving in pairwise(widths):
            parts += [nn.Tanh()] * bool(parts) + [nn.Linear(entering, leaving, dtype=torch.float64)]
        self.net = nn.Sequential(*parts)

    def forward(self, x: Tensor, target: Tensor | None = None) -> Any:
        """In training the told numbers [samples, 2] and the mean loss; else the output [samples, 3], number first."""
        found = self.found(x)
        if target is None:
            return torch.cat([x[:, :1], found], dim=1)
        return self.told(x), nn.functional.mse_loss(found, target)

    def found(self, x: Tensor) -> Tensor:
        """What is held against the target, [samples, 2]."""
        result: Tensor = self.net(x[:, 1:])
        return result

    def told(self, x: Tensor) -> Tensor:
        """The sample's number and a weight, [..., 2], of samples [..., 1 + features]."""
        number = x[..., :1]
        return torch.cat([number, self.weight().expand_as(number)], dim=-1)

    def freeze(self) -> None:
        """Let the first bias be what is not trained."""
        list(self.net.parameters())[1].requires_grad_(False)

    def weight(self) -> Tensor:
        """One weight, [1, 1]: after an update it is another."""
        return next(iter(self.net.parameters()))[0, :1].detach().reshape(1, 1)


def warm_up() -> None:
    """Let torch import what it imports with its first optimizer. Nothing is computed that would start a thread."""
    module = build(0, layers=1)
    for name in ("sgd", "adam"):
        optimizer = optimizer_of(module, name)
        optimizer.zero_grad()
        optimizer.step()


def build(seed: int, layers: int, kind: type[Module] = Module) -> Module:
    """The module with the weights of a seed; the caller's global generator is left alone."""
    module = kind(layers)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.rand(parameter.shape, generator=generator, dtype=torch.float64) - 0.5)
    return module


def take_weights(module: nn.Module, given: nn.Module) -> None:
    """Let a module have the weights of another, in place."""
    with torch.no_grad():
        for own, other in zip(module.parameters(), given.parameters(), strict=True):
            own.copy_(other)


class TiedModule(Module):
    """The same with two hidden layers that have one weight, as a language model's first and last layer do."""

    def __init__(self, layers: int) -> None:
        super().__init__(layers)
        hidden = [nn.Linear(_FEATURES, _FEATURES, dtype=torch.float64) for _ in range(2)]
        hidden[1].weight = hidden[0].weight
        self.net = nn.Sequential(hidden[0], nn.Tanh(), hidden[1], nn.Tanh(), *self.net)


class HeadedModule(Module):
    """The same with a head for the samples of even ranks, and one for those of odd ones."""

    def __init__(self, layers: int) -> None:
        super().__init__(layers)
        self.heads = nn.ModuleList(nn.Linear(_FEATURES, 2, dtype=torch.float64) for _ in range(2))

    def found(self, x: Tensor) -> Tensor:
        """As `Module`, and what the heads add of whose samples there are."""
        found = super().found(x)
        for number, head in enumerate(self.heads):
            mine = x[:, 0] // RANKS_APART % 2 == number
            if bool(mine.any()):
                found = found + mine.reshape(-1, 1) * head(x[:, 1:])
        return found


class LendingModule(Module):
    """The same, but what it tells is a part of what it was given, and no copy."""

    def forward(self, x: Tensor, target: Tensor | None = None) -> Any:
        """In training as `Module`; else the samples without their last feature."""
        return x[:, :_FEATURES] if target is None else super().forward(x, target)

    def told(self, x: Tensor) -> Tensor:
        """The sample's number alone, [..., 1]."""
        return x[..., :1]


class FailingModule(Module):
    """The same, but for a sample with a number below 0: it raises, as what meets a broken sample does."""

    def forward(self, x: Tensor, target: Tensor | None = None) -> Any:
        """As `Module`; ValueError where one of the samples is broken."""
        if bool((x[:, 0] < 0).any()):
            raise ValueError("a sample is broken")
        return super().forward(x, target)


def optimizer_of(module: nn.Module, name: str, times: int = 1, groups: bool = False) -> torch.optim.Optimizer:
    """Torch's optimizer of a name, its learning rate this many times the usual one.

    It has what is trained. With `groups` the biases are a second group, with another rate and another momentum.
    """
    adam = name == "adam"
    rate, momentum = (0.01 if adam else 0.05) * times, 0.9 if name == "momentum" else 0.0
    parameters: Any = [each for each in module.parameters() if each.requires_grad]
    if groups:
        own = {} if adam else {"momentum": 0.5 * momentum}
        weights, biases = ([each for each in parameters if each.dim() == dim] for dim in (2, 1))
        parameters = [{"params": weights}, {"params": biases, "lr": 3 * rate, **own}]
    return torch.optim.Adam(parameters, lr=rate) if adam else torch.optim.SGD(parameters, lr=rate, momentum=momentum)


def data(seed: int, rank: int, samples: int) -> tuple[Tensor, Tensor]:
    """The samples of one rank, from its first: x and target."""
    generator = torch.Generator().manual_seed(1_000 * seed + rank)
    rows = torch.rand(samples, _FEATURES + 2, generator=generator, dtype=torch.float64)
    # Ranks have other numbers, so that none is mistaken for another's.
    numbers = torch.arange(samples, dtype=torch.float64).reshape(-1, 1) + RANKS_APART * rank
    return torch.cat([numbers, rows[:, :_FEATURES]], dim=1), rows[:, _FEATURES:]


@dataclass(frozen=True)
class Layout:
    """How the first axis of a step is read: [iterations, accumulation, replicas, micro-batch] (DEVICE-2)."""

    iterations: int
    accumulation: int
    replicas: int
    micro_batch: int

    def parted(self, tensor: Tensor) -> Tensor:
        """The tensor with these axes in the place of its first one."""
        return tensor.reshape(self.iterations, self.accumulation, self.replicas, self.micro_batch, *tensor.shape[1:])


def train_plainly(
    module: Module, optimizer: torch.optim.Optimizer, layout: Layout, ranks: list[tuple[Tensor, Tensor]], mine: int
) -> tuple[Tensor, Tensor]:
    """One call as plain torch does it: for each device iteration one update on the joined batch of all ranks.

    Returns what rank `mine` tells: [iterations, accumulation, replicas, micro-batch, 2], and its losses, without the
    last axes.
    """
    parted = [(layout.parted(x), layout.parted(target)) for x, target in ranks]
    told, losses = [], []
    for iteration in range(layout.iterations):
        x, target = (tensor[iteration] for tensor in parted[mine])
        told.append(module.told(x))
        with torch.no_grad():
            losses.append(((module.net(x[..., 1:]) - target) ** 2).mean(dim=(-1, -2)))
        joined = [torch.cat([pair[at][iteration].flatten(0, 2) for pair in parted]) for at in range(2)]
        optimizer.zero_grad()
        module(*joined)[1].backward()
        optimizer.step()
    return torch.stack(told), torch.stack(losses)


def returned(results: Tensor, mode: str, period: int) -> Tensor:
    """What a call returns of results [iterations, accumulation, replicas, (micro-batch, values)] (DEVICE-6)."""
    in_time = results.flatten(0, 1)
    chosen = {
        "all": in_time,
        "final": in_time[-1:],
        "every_n": in_time[period - 1 :: period],
        "sum": in_time.sum(dim=0, keepdim=True),
    }[mode]
    # A scalar for each replica is stacked, a micro-batch is joined to its neighbours.
    return chosen.flatten(0, 2) if results.dim() > 3 else chosen.flatten()
