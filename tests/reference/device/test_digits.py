"""A real training: scikit-learn's 8 x 8 digits, loaded ahead, however many replicas, accumulations and ranks there are.

The samples are laid out so that the global batches are the same in all of them. In double precision they then make the
same losses, up to rounding.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import reference as poptorch
from tests.reference.device.device_probes import meet, run_ranks

GLOBAL_BATCH, ITERATIONS, EPOCHS = 32, 4, 3
TRAINED = 1536  # of 1,797; the others are for the test
RANKS = 2


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Several threads are slower on matrices as small as these, and much slower where others run too."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@cache
def digits() -> tuple[Tensor, Tensor]:
    """Images [1797, 64] from 0 to 1 and labels, in an order that mixes the writers."""
    load_digits: Any = pytest.importorskip("sklearn.datasets", reason="the test extra has scikit-learn").load_digits
    images, labels = load_digits(return_X_y=True)
    order = torch.randperm(len(images), generator=torch.Generator().manual_seed(0))
    return torch.from_numpy(images)[order] / 16, torch.from_numpy(labels)[order].long()


class Classifier(nn.Module):
    """Scores of ten digits, and in training their mean loss."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.net = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10)).double()

    def forward(self, x: Tensor, label: Tensor | None = None) -> Any:
        scores = self.net(x)
        return scores if label is None else nn.functional.cross_entropy(scores, label)


def train(replicas: int, accumulation: int, rank: int = 0, ranks: int = 1) -> tuple[list[float], float]:
    """The losses of all updates, as far as this rank's samples go, and the accuracy on what was not trained on."""
    options = poptorch.Options().deviceIterations(ITERATIONS).replicationFactor(replicas)
    options.Training.gradientAccumulation(accumulation)
    options.Distributed.configureProcessId(rank, ranks)
    options.outputMode(poptorch.OutputMode.All)
    images, labels = digits()
    # Rank 0 gets the first half of the dataset. Of every global batch half is put there, and half into the other one.
    order = torch.arange(TRAINED).reshape(-1, ranks, GLOBAL_BATCH // ranks).transpose(0, 1).flatten()
    loader = poptorch.DataLoader(
        options,
        torch.utils.data.TensorDataset(images[order], labels[order]),
        batch_size=GLOBAL_BATCH // (replicas * accumulation * ranks),
        mode=poptorch.DataLoaderMode.Async,
        async_options={"sharing_strategy": poptorch.SharingStrategy.Fork},
    )
    module = Classifier()
    model = poptorch.trainingModel(module, options, poptorch.optim.Adam(module.parameters(), lr=0.02))
    losses = [loss for _ in range(EPOCHS) for step in loader for loss in model(*step).view(ITERATIONS, -1).mean(1)]
    loader.terminate()
    scores = poptorch.inferenceModel(model)(images[TRAINED:])
    accuracy = (scores.argmax(1) == labels[TRAINED:]).double().mean()
    return [float(loss) for loss in losses], float(accuracy)


def train_plainly() -> list[float]:
    """The losses of plain torch with the same batches."""
    module = Classifier()
    optimizer = torch.optim.Adam(module.parameters(), lr=0.02)
    losses = []
    for start in [*range(0, TRAINED, GLOBAL_BATCH)] * EPOCHS:
        images, labels = (each[start : start + GLOBAL_BATCH] for each in digits())
        loss = module(images, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


PLAIN = cache(train_plainly)


@pytest.mark.parametrize("accumulation", [1, 2])
@pytest.mark.parametrize("replicas", [1, 2, 4])
def test_replicas_and_accumulation_change_no_loss(replicas: int, accumulation: int) -> None:
    """1, 2 and 4 replicas, 1 and 2 accumulations: the losses of plain torch, and nine digits of ten are read."""
    losses, accuracy = train(replicas, accumulation)
    assert pytest.approx(PLAIN(), rel=1e-9) == losses
    assert accuracy > 0.9


# What each of two instances has: with one replica each there are 2 in all, with two there are 4.
OF_AN_INSTANCE = [(replicas, accumulation) for replicas in (1, 2) for accumulation in (1, 2)]


def train_as_rank(rank: int, ranks: int, folder: Path) -> Any:
    """What each of several ranks finds, one training after the other."""
    meet(rank, ranks, folder)
    return [train(replicas, accumulation, rank, ranks) for replicas, accumulation in OF_AN_INSTANCE]


@pytest.mark.deep
def test_ranks_change_no_loss(tmp_path: Path) -> None:
    """Two processes: the mean of their losses is that of plain torch, and both hold the same model."""
    found = list(zip(*run_ranks(train_as_rank, RANKS, tmp_path), strict=True))
    assert len(OF_AN_INSTANCE) == len(found)
    for (first, accuracy), (second, other) in found:
        assert pytest.approx(PLAIN(), rel=1e-9) == [(one + two) / 2 for one, two in zip(first, second, strict=True)]
        assert accuracy == other > 0.9
