"""Which of a model's results is its loss: found wherever it stands, or an error that names the results."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import reference as poptorch
from tests.reference.device.device_probes import Regression, options, step, weights

Results = Callable[[Tensor, Tensor], Any]
mse = nn.MSELoss()


class Returning(Regression):
    """Returns what a function makes of output and target."""

    def __init__(self, results: Results) -> None:
        super().__init__()
        self.results = results

    def forward(self, x: Tensor, target: Tensor | None = None) -> Any:
        return self.results(self.net(x), target if target is not None else x)


def trained(results: Results, micro_batch: int = 2) -> list[Tensor]:
    """The weights after one update by what the device takes for the loss."""
    module = Returning(results)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    poptorch.trainingModel(module, options(), optimizer)(*step(micro_batch))
    return weights(module)


def plainly(loss: Results, micro_batch: int = 2) -> list[Tensor]:
    """The weights after one update of plain torch by this loss."""
    module = Returning(loss)
    module(*step(micro_batch)).backward()
    torch.optim.SGD(module.parameters(), lr=0.1).step()
    return weights(module)


def sorted_by(y: Tensor, t: Tensor) -> Tensor:
    """A loss of the user's own, of no torch loss."""
    return ((y - t) ** 2).mean() + y.abs().sum()


weight = nn.Parameter(torch.tensor(2.0))

FOUND: dict[str, tuple[Results, Results]] = {
    "first": (lambda y, t: (mse(y, t), y.exp().mean()), mse),
    "last": (lambda y, t: (y.exp().mean(), mse(y, t)), mse),
    "before a figure": (lambda y, t: (mse(y, t), (y > t).sum()), mse),
    "in a dict": (lambda y, t: {"loss": mse(y, t), "logits": y, "mean": y.mean()}, mse),
    "deep inside": (lambda y, t: (y, [{"figures": (y.mean(), functional.l1_loss(y, t))}]), functional.l1_loss),
    "twice": (lambda y, t: 2 * (mse(y, t),), mse),
    "and a figure of it": (lambda y, t: (loss := mse(y, t), torch.exp(loss), loss * 100), mse),
    "and its value": (lambda y, t: (loss := mse(y, t), loss.detach()), mse),
    "made of one": (lambda y, t: (y.mean(), mse(y, t) * 3 + y.sum()), lambda y, t: mse(y, t) * 3 + y.sum()),
    "made of two": (
        lambda y, t: (mse(y, t) + functional.l1_loss(y, t), y.mean()),
        lambda y, t: mse(y, t) + functional.l1_loss(y, t),
    ),
    "reduced afterwards": (
        lambda y, t: (each := functional.mse_loss(y, t, reduction="none"), each.mean()),
        lambda y, t: mse(y, t),
    ),
    "divided in place": (lambda y, t: (loss := mse(y, t).div_(2), y.mean(), loss.exp()), lambda y, t: mse(y, t) / 2),
    "of the user's own": (lambda y, t: (sorted_by(y, t), y, (y > t).sum()), sorted_by),
    "beside a weight": (lambda y, t: (weight, mse(y, t)), mse),
    "of the user's own, beside a weight": (lambda y, t: (weight, sorted_by(y, t)), sorted_by),
    "marked": (lambda y, t: (poptorch.identity_loss(y.exp(), "mean"), mse(y, t)), lambda y, t: y.exp().mean()),
    "marked over others": (
        lambda y, t: (a := mse(y, t), b := y.mean(), poptorch.identity_loss(a + b, "none")),
        lambda y, t: mse(y, t) + y.mean(),
    ),
    "marked twice, one of the other": (
        lambda y, t: (a := poptorch.identity_loss(y, "mean"), poptorch.identity_loss(a * 3, "sum")),
        lambda y, t: 3 * y.mean(),
    ),
}


@pytest.mark.parametrize(("results", "loss"), FOUND.values(), ids=FOUND)
def test_the_loss_is_found_wherever_it_stands(results: Results, loss: Results) -> None:
    """The update is that of the loss, and of nothing else."""
    torch.testing.assert_close(plainly(loss), trained(results))


@pytest.mark.parametrize("results", [FOUND["reduced afterwards"][0], FOUND["of the user's own"][0]])
def test_a_batch_of_one_sample_changes_nothing(results: Results) -> None:
    """An output of one element is no loss beside one of no axis."""
    trained(results, micro_batch=1)


REFUSED: dict[str, tuple[Results, str]] = {
    "two losses": (lambda y, t: (mse(y, t), functional.l1_loss(y, t)), r"result\[0\].*and result\[1\].*identity_loss"),
    "of two models": (lambda y, t: (y, {"a": mse(y, t), "b": mse(y, -t)}), r"result\[1\]\['a'\].*result\[1\]\['b'\]"),
    "and their sum": (
        lambda y, t: (a := mse(y, t), b := mse(y, -t), a + b),
        r"result\[0\].*and result\[1\].*their sum",
    ),
    "and with a penalty": (lambda y, t: (a := mse(y, t), a + y.abs().mean()), r"result\[0\].*and result\[1\]"),
    "made of another": (lambda y, t: (mse(y, t), mse(y, -t) * 2), r"result\[0\].*and result\[1\]"),
    "two sums": (lambda y, t: (a := mse(y, t) + y.sum(), a + y.sum()), r"result\[0\].*and result\[1\]"),
    "two of the user's own": (lambda y, t: (sorted_by(y, t), y.mean()), r"result\[0\].*and result\[1\]"),
    "two marked": (
        lambda y, t: (poptorch.identity_loss(y, "mean"), poptorch.identity_loss(t * y, "sum")),
        r"result\[0\].*and result\[1\]",
    ),
    "not reduced": (lambda y, t: (nn.MSELoss(reduction="none")(y, t), y.mean()), r"result\[0\].*shape \(2, 2\)"),
    "marked, not reduced": (lambda y, t: (poptorch.identity_loss(y, "none"), mse(y, t)), r"result\[0\].*\(2, 2\)"),
}


@pytest.mark.parametrize(("results", "told"), REFUSED.values(), ids=REFUSED)
def test_what_can_not_be_told_is_refused(results: Results, told: str) -> None:
    """The error names the results among which the loss may be, and no weight has changed."""
    module = Returning(results)
    before = weights(module)
    with pytest.raises(ValueError, match=told):
        poptorch.trainingModel(module)(*step(2))
    assert all(torch.equal(one, other) for one, other in zip(before, weights(module), strict=True))


x, y, label = torch.randn(4, 3), torch.rand(4, 3), torch.tensor([0, 1, 2, 1])
sign = torch.tensor([1.0, -1.0, 1.0, -1.0])
MODULES: list[tuple[nn.Module, tuple[Any, ...]]] = [
    (nn.BCELoss(), (y,)),
    (nn.BCEWithLogitsLoss(), (y,)),
    (nn.CosineEmbeddingLoss(), (y, sign)),
    (nn.CrossEntropyLoss(), (label,)),
    (nn.CrossEntropyLoss(label_smoothing=0.1), (label,)),
    (nn.CrossEntropyLoss(), (y,)),
    (nn.GaussianNLLLoss(), (y, y)),
    (nn.HingeEmbeddingLoss(), (sign[:, None],)),
    (nn.HuberLoss(), (y,)),
    (nn.KLDivLoss(reduction="batchmean"), (y,)),
    (nn.L1Loss(), (y,)),
    (nn.MSELoss(), (y,)),
    (nn.MarginRankingLoss(), (y, sign[:, None])),
    (nn.MultiLabelMarginLoss(), (torch.zeros(4, 3, dtype=torch.long),)),
    (nn.MultiLabelSoftMarginLoss(), (y,)),
    (nn.MultiMarginLoss(), (label,)),
    (nn.NLLLoss(), (label,)),
    (nn.PoissonNLLLoss(), (y,)),
    (nn.SmoothL1Loss(), (y,)),
    (nn.SoftMarginLoss(), (sign[:, None],)),
    (nn.TripletMarginLoss(), (y, y + 1)),
    (nn.TripletMarginWithDistanceLoss(), (y, y + 1)),
]


class Classifier(nn.Module):
    """Returns a loss, and a number that is none."""

    def __init__(self, loss: nn.Module, others: tuple[Any, ...]) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.loss = loss
        self.others = others

    def forward(self, x: Tensor) -> Any:
        output = torch.sigmoid(self.fc(x))
        return self.loss(output, *self.others), output.exp().mean()


@pytest.mark.parametrize(("loss", "others"), MODULES, ids=[type(loss).__name__ for loss, _ in MODULES])
def test_every_loss_of_torch_is_known(loss: nn.Module, others: tuple[Any, ...]) -> None:
    """Beside another number with a gradient each is found."""
    module = Classifier(loss, others)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.5)
    expected = torch.autograd.grad(module(x)[0], module.fc.bias)[0]
    before = module.fc.bias.detach().clone()
    poptorch.trainingModel(module, None, optimizer)(x)
    torch.testing.assert_close(before - 0.5 * expected, module.fc.bias.detach())


def test_ctc_is_known() -> None:
    """The one whose inputs have another shape."""

    class Speech(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.bias = nn.Parameter(torch.zeros(5, 2, 4))

        def forward(self, lengths: Tensor) -> Any:
            scores = self.bias.log_softmax(2)
            loss = nn.CTCLoss()(scores, torch.tensor([[1, 2], [2, 3]]), torch.tensor([5, 5]), torch.tensor([2, 2]))
            return loss, scores.exp().square().mean()

    module = Speech()
    expected = torch.autograd.grad(module(torch.zeros(1))[0], module.bias)[0]
    poptorch.trainingModel(module, None, torch.optim.SGD(module.parameters(), lr=1.0))(torch.zeros(1))
    torch.testing.assert_close(-expected, module.bias.detach())


def test_inference_looks_for_no_loss() -> None:
    """Two losses may come out of a model that is not trained."""
    module = Returning(lambda y, t: (mse(y, t), functional.l1_loss(y, t)))
    assert 2 == len(poptorch.inferenceModel(module)(*step(2)))
