"""Several ranks in processes of their own, which average their gradients: against plain torch on the joined batch."""

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import reference as poptorch
from reference.device.instances import add_gradients
from tests.reference.device.device_probes import (
    OPTIMIZERS,
    Regression,
    options,
    run_ranks,
    step,
    train_plainly,
    weights,
)

RANKS = 2
# Iterations, accumulation, replicas, Sum, optimizer.
CASES = [(1, 1, 1, False, "sgd"), (2, 3, 2, False, "adam"), (2, 2, 1, True, "momentum"), (1, 1, 3, False, "rmsprop")]


def everything(rank: int, ranks: int, folder: Path, port: int) -> dict[str, Any]:
    """What a rank does: starting it is what takes time."""
    return {job.__name__: job(rank, ranks, port) for job in (train_by_environment, train, add)}


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], list[Any]]:
    """What each rank has found in a job."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    found = run_ranks(everything, RANKS, tmp_path_factory.mktemp("ranks"), port)
    return lambda job: [each[job] for each in found]


def train(rank: int, ranks: int, port: int) -> list[Any]:
    """The weights that each case leads to, begun with other weights on every rank."""
    found = []
    for iterations, accumulation, replicas, total, name in CASES:
        module = Regression(seed=5 + rank)
        made = options(iterations, accumulation, replicas, total)
        made.Distributed.configureProcessId(rank, ranks)
        model = poptorch.trainingModel(module, made, OPTIMIZERS[name](module.parameters(), 0.01))
        for call in range(2):
            model(*step(iterations * accumulation * replicas * 2, seed=10 * call + rank))
        found.append([each.tolist() for each in weights(module)])
    return found


@pytest.mark.deep
def test_ranks_make_the_update_of_their_joined_batches(answers: Callable[[str], list[Any]]) -> None:
    """All of them, from the weights of rank 0 (DEVICE-10, DEVICE-13)."""
    first, second = answers("train")
    assert first == second
    for found, (iterations, accumulation, replicas, total, name) in zip(first, CASES, strict=True):
        count = accumulation * replicas * RANKS if total else 1
        module = Regression(seed=5)
        optimizer = OPTIMIZERS[name](module.parameters(), 0.01)
        for group in optimizer.param_groups:
            # DEVICE-5; a weight decay is not multiplied.
            group["lr"] *= count
            group["weight_decay"] /= count
        for call in range(2):
            steps = [step(iterations * accumulation * replicas * 2, seed=10 * call + rank) for rank in range(RANKS)]
            parts = [[each.chunk(iterations) for each in tensors] for tensors in steps]
            batches = [
                tuple(torch.cat([parts[rank][at][number] for rank in range(RANKS)]) for at in range(2))
                for number in range(iterations)
            ]
            train_plainly(module, optimizer, batches)  # type: ignore[arg-type]
        torch.testing.assert_close([torch.tensor(each, dtype=torch.float64) for each in found], weights(module))


def add(rank: int, ranks: int, port: int) -> list[Any]:
    """Gradients that some ranks have, then a norm's statistics, and a group that is another than the options say."""
    parameters = [torch.nn.Parameter(torch.zeros(1)) for _ in range(3)]
    parameters[0].grad = torch.tensor([1.0 + rank])
    if rank == 1:
        parameters[1].grad = torch.tensor([5.0])
    add_gradients(parameters)
    norm = torch.nn.Sequential(torch.nn.BatchNorm1d(1), torch.nn.Linear(1, 1))
    norm[0].running_mean.fill_(rank + 3)
    norm.register_buffer("mask", torch.tensor([rank == 0]))
    made = options()
    made.Distributed.configureProcessId(rank, ranks)
    poptorch.trainingModel(norm, made).compile(torch.zeros(2, 1))
    made = options()
    made.Distributed.configureProcessId(rank, ranks + 1)
    try:
        poptorch.trainingModel(Regression(), made)(*step(1))
    except RuntimeError as error:
        refused = str(error)
    gradients = [None if each.grad is None else each.grad.item() for each in parameters]
    return [gradients, norm[0].running_mean.item(), norm.mask.item(), refused]


def test_what_ranks_tell_one_another(answers: Callable[[str], list[Any]]) -> None:
    """A gradient that one rank lacks counts as zero; buffers begin equal too; a group of another size is refused."""
    for rank, (gradients, mean, mask, refused) in enumerate(answers("add")):
        assert ([3.0, 5.0, None], 3.0, True) == (gradients, mean, mask)
        assert refused.startswith(f"The options say instance {rank} of 3, but the process group says {rank} of 2")


def train_by_environment(rank: int, ranks: int, port: int) -> list[Any]:
    """One update of ranks that nobody has made a group for."""
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    module = Regression()
    made = options()
    made.Distributed.configureProcessId(rank, ranks)
    poptorch.trainingModel(module, made, torch.optim.SGD(module.parameters(), lr=0.1))(*step(2, seed=rank))
    return [each.tolist() for each in weights(module)]


def test_the_group_is_made_from_the_environment(answers: Callable[[str], list[Any]]) -> None:
    """Without a launcher's group, by MASTER_ADDR and MASTER_PORT."""
    first, second = answers("train_by_environment")
    assert first == second
    plain = Regression()
    joined = [torch.cat(each) for each in zip(step(2, seed=0), step(2, seed=1), strict=True)]
    train_plainly(plain, torch.optim.SGD(plain.parameters(), lr=0.1), [tuple(joined)])  # type: ignore[list-item]
    torch.testing.assert_close([torch.tensor(each, dtype=torch.float64) for each in first], weights(plain))


def test_ranks_that_cannot_meet_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the first call: a loader for two ranks, and a model that infers, need no group."""
    monkeypatch.delenv("MASTER_ADDR", raising=False)
    made = options()
    made.Distributed.configureProcessId(0, 2)
    x, target = step(2)
    poptorch.inferenceModel(Regression(), made)(x)
    with pytest.raises(RuntimeError, match=r"2 instances, but there is no process group and MASTER_ADDR is not set"):
        poptorch.trainingModel(Regression(), made)(x, target)
