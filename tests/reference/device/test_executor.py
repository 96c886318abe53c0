"""One call of a model: the updates that it makes, against plain torch, and the results that it returns."""

import copy
from math import prod
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import reference as poptorch
from reference import CommGroupType, OutputMode
from tests.reference.device.device_probes import OPTIMIZERS, Numbers, Regression, options, step, train_plainly, weights

FACTORS = st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3))


@settings(max_examples=40)
@given(FACTORS, st.integers(1, 3), st.sampled_from(sorted(OPTIMIZERS)), st.sampled_from([0, 4]), st.integers(1, 2))
def test_a_call_makes_the_updates_of_the_joined_batches(
    factors: tuple[int, int, int], micro_batch: int, name: str, width: int, calls: int
) -> None:
    """Mean reduction: one update for each device iteration, as of one batch (DEVICE-1, DEVICE-4)."""
    ours, plain = (Regression(seed=1, width=width) for _ in range(2))
    model = poptorch.trainingModel(ours, options(*factors), OPTIMIZERS[name](ours.parameters(), 0.05))
    optimizer = OPTIMIZERS[name](plain.parameters(), 0.05)
    for call in range(calls):
        tensors = step(micro_batch * prod(factors), seed=call)
        model(*tensors)
        joined = [each.chunk(factors[0]) for each in tensors]
        train_plainly(plain, optimizer, list(zip(*joined, strict=True)))
        torch.testing.assert_close(weights(ours), weights(plain))


@settings(max_examples=40)
@given(FACTORS, st.sampled_from(["sgd", "momentum", "adam"]))
def test_a_call_with_iterations_is_so_many_calls(factors: tuple[int, int, int], name: str) -> None:
    """Weights and optimizer pass from one device iteration to the next (DEVICE-3)."""
    tensors = step(2 * prod(factors))
    found = []
    for iterations in (factors[0], 1):
        module = Regression()
        optimizer = OPTIMIZERS[name](module.parameters(), 0.05)
        model = poptorch.trainingModel(module, options(iterations, *factors[1:]), optimizer)
        for part in zip(*(each.chunk(factors[0] // iterations) for each in tensors), strict=True):
            model(*part)
        found.append(weights(module))
    assert all(torch.equal(one, other) for one, other in zip(*found, strict=True))


@settings(max_examples=40)
@given(FACTORS)
def test_a_sum_is_a_mean_with_a_larger_learning_rate(factors: tuple[int, int, int]) -> None:
    """Sum with lr makes the update of Mean with lr x count (DEVICE-5)."""
    found = []
    for total, rate in ((True, 0.01), (False, 0.01 * factors[1] * factors[2])):
        module = Regression()
        optimizer = torch.optim.SGD(module.parameters(), lr=rate)
        poptorch.trainingModel(module, options(*factors, total=total), optimizer)(*step(2 * prod(factors)))
        found.append(weights(module))
    torch.testing.assert_close(*found)


# 12 samples, d = 2, r = 3, m = 2; the scalar is the sum of a micro-batch.
RETURNED: list[tuple[Any, list[float], list[float]]] = [
    ((OutputMode.Default,), [*range(12)], [1, 5, 9, 13, 17, 21]),
    ((OutputMode.All,), [*range(12)], [1, 5, 9, 13, 17, 21]),
    ((OutputMode.Final,), [6, 7, 8, 9, 10, 11], [13, 17, 21]),
    ((OutputMode.EveryN, 2), [6, 7, 8, 9, 10, 11], [13, 17, 21]),
    ((OutputMode.EveryN, 1), [*range(12)], [1, 5, 9, 13, 17, 21]),
    ((OutputMode.Sum,), [6, 8, 10, 12, 14, 16], [14, 22, 30]),
]


@pytest.mark.parametrize(("mode", "rows", "scalars"), RETURNED)
def test_a_mode_returns_what_it_says(mode: Any, rows: list[float], scalars: list[float]) -> None:
    """Micro-batches are joined in the order of the layout, scalars are stacked (DEVICE-2, DEVICE-6)."""
    model = poptorch.inferenceModel(Numbers(), options(2, replicas=3).outputMode(*mode))
    found = model(torch.arange(12.0))
    assert (rows, scalars) == (found[0].tolist(), found[1].tolist())


def test_every_second_counts_accumulations_too() -> None:
    """In training a replica has d x g results in a call (DEVICE-6)."""
    module = Regression()
    made = options(1, 4).outputMode(OutputMode.EveryN, 2)
    x, target = step(4)
    expected = module(x, target)[0][[1, 3]]
    torch.testing.assert_close(poptorch.trainingModel(module, made)(x, target)[0], expected)


def test_training_returns_the_last_result_of_each_replica() -> None:
    """The default in training is Final (DEVICE-6)."""
    output, loss = poptorch.trainingModel(Regression(), options(3, 2, 2))(*step(24))
    assert ((4, 2), (2,)) == (tuple(output.shape), tuple(loss.shape))


def test_a_single_scalar_stays_one() -> None:
    """One replica, one loss: a script may format it as a number."""
    loss = poptorch.trainingModel(Regression(), options(3, 2))(*step(6))[1]
    assert () == tuple(loss.shape)


def test_results_do_not_change_with_the_weights() -> None:
    """A weight that the model returns is the one of its own micro-batch."""

    class Telling(Regression):
        def forward(self, x: torch.Tensor, target: torch.Tensor | None = None) -> Any:
            return self.net[0].bias, super().forward(x, target)[1]

    module = Telling()
    first = module.net[0].bias.tolist()
    told, _ = poptorch.trainingModel(module, options(2).outputMode(OutputMode.All))(*step(4))
    assert first == told[:2].tolist()
    assert first != told[2:].tolist()


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (CommGroupType.Consecutive, [0, 0, 1, 1, 2, 2, 3, 3]),
        (CommGroupType.Orthogonal, [0, 1, 0, 1, 2, 3, 2, 3]),
        (CommGroupType.All, [0, 0, 0, 0, 1, 1, 1, 1]),
    ],
)
def test_replicas_of_a_group_share_an_input(kind: CommGroupType, expected: list[int]) -> None:
    """4 replicas in groups of 2 (or all): a step holds one micro-batch for each group, as the loader's does."""
    made = options(2, replicas=4).inputReplicaGrouping(2, kind)
    loader = poptorch.DataLoader(made, torch.arange(8.0))
    (first, *_) = loader
    assert expected == poptorch.inferenceModel(Numbers(), made)(first)[0].tolist()


def test_a_loaders_step_fits() -> None:
    """A DataLoader and a model with the same options agree on N (DEVICE-1)."""
    made = options(2, replicas=3)
    loader = poptorch.DataLoader(made, torch.arange(24.0), batch_size=2)
    model = poptorch.inferenceModel(Numbers(), made)
    assert [*range(24)] == [number for each in loader for number in model(each)[0].tolist()]


class Nested(torch.nn.Module):
    """Takes and gives what is not just a tensor."""

    def forward(self, pair: tuple[torch.Tensor, None], *, by: dict[str, torch.Tensor], scale: float) -> Any:
        return {"a": pair[0] * scale, "rest": [pair[1], (by["x"] - 1,)]}


def test_tensors_may_be_nested() -> None:
    """Tuples, lists, dicts, keywords, None and numbers go in; the same structure comes out, joined."""
    model = poptorch.inferenceModel(Nested(), options(2))
    found = model((torch.arange(4.0), None), by={"x": torch.arange(2)}, scale=2.0)
    assert [0, 2, 4, 6] == found["a"].tolist()
    assert (None, [-1, 0]) == (found["rest"][0], found["rest"][1][0].tolist())


def test_a_result_that_cannot_be_joined_is_refused() -> None:
    """A number is no tensor, and the error says what may be returned."""

    class Counting(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            return x, len(x)

    with pytest.raises(TypeError, match=r"returns 2 of type int.*return tensors"):
        poptorch.inferenceModel(Counting(), options(2))(torch.arange(4.0))


@pytest.mark.parametrize("samples", [0, 1, 5, 13])
def test_a_step_that_does_not_divide_is_refused(samples: int) -> None:
    """The error names the factors, and no weight has changed (DEVICE-7)."""
    module = Regression()
    before = weights(module)
    model = poptorch.trainingModel(module, options(2, 3, 2))
    named = rf"{samples} samples.*12 equal.*iterations 2 x gradient accumulation 3 x replicas.* 2"
    for call in (model, model.compile):
        with pytest.raises(ValueError, match=named):
            call(*step(samples))
    assert all(torch.equal(one, other) for one, other in zip(before, weights(module), strict=True))


def test_each_input_is_divided_by_itself() -> None:
    """One number for each micro-batch is as good as a row for each sample; one number for all is not."""

    class Scaled(torch.nn.Module):
        def forward(self, x: torch.Tensor, by: torch.Tensor) -> torch.Tensor:
            return x * by

    model = poptorch.inferenceModel(Scaled(), options(2))
    assert [0, 1, 20, 30] == model(torch.arange(4.0), torch.tensor([1.0, 10.0])).tolist()
    with pytest.raises(ValueError, match=r"Input 1 has no axis.*2 micro-batches"):
        model(torch.arange(4.0), torch.tensor(2.0))


def test_inputs_are_left_alone() -> None:
    """A model may work in place: the step belongs to the loader (DEVICE-12)."""

    class InPlace(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.mul_(2)

    given = torch.arange(4.0, requires_grad=True)
    assert [0, 2, 4, 6] == poptorch.inferenceModel(InPlace(), options(2))(given).tolist()
    assert [0, 1, 2, 3] == given.tolist()


@pytest.mark.parametrize("trains", [True, False])
def test_synthetic_data_reads_no_tensor(trains: bool) -> None:
    """Tensors without any data will do; results have the same shape, and are numbers (DEVICE-9)."""
    module = Regression()
    build = poptorch.trainingModel if trains else poptorch.inferenceModel
    tensors = [each.to("meta") for each in step(8)]
    output, loss = build(module, options(2, 1, 2).outputMode(OutputMode.All).enableSyntheticData(True))(*tensors)
    assert ((8, 2), (4,)) == (tuple(output.shape), tuple(loss.shape))
    assert all(each.isfinite().all() for each in (output, loss, *weights(module)))


def test_synthetic_labels_are_labels() -> None:
    """Whole numbers are zeros, which any loss and any table takes; the caller's random numbers are not drawn."""

    class Classifier(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.net = torch.nn.Linear(3, 5)

        def forward(self, x: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
            assert not label.any()
            return torch.nn.functional.cross_entropy(self.net(x), label)

    model = poptorch.trainingModel(Classifier(), options(2).enableSyntheticData(True))
    state = torch.get_rng_state()
    model(torch.full((4, 3), torch.nan), torch.full((4,), 99))
    assert torch.equal(state, torch.get_rng_state())


def test_gradients_do_not_leak_into_the_next_call() -> None:
    """What was in a gradient before a call does not count, and nothing is in one afterwards."""
    ours, plain = Regression(), Regression()
    ours(*step(2, seed=7))[1].backward()
    poptorch.trainingModel(ours, None, torch.optim.SGD(ours.parameters(), lr=0.1))(*step(4))
    train_plainly(plain, torch.optim.SGD(plain.parameters(), lr=0.1), [step(4)])
    torch.testing.assert_close(weights(ours), weights(plain))
    assert [None] * 2 == [parameter.grad for parameter in ours.parameters()]


def test_inference_changes_nothing() -> None:
    """It gives what the bare module gives, and the weights stay (DEVICE-14)."""
    module = Regression(width=4)
    before = copy.deepcopy(module)
    x, _ = step(12)
    found = poptorch.inferenceModel(module, options(3, replicas=2))(x)
    torch.testing.assert_close(found, before(x).detach())
    assert all(torch.equal(one, other) for one, other in zip(weights(module), weights(before), strict=True))
    assert not found.requires_grad


class Reordered(Regression):
    """Returns its loss first, marked."""

    def forward(self, x: torch.Tensor, target: torch.Tensor | None = None) -> Any:
        output = self.net(x)
        return poptorch.identity_loss((output - target) ** 2, "mean"), output


def test_a_marked_loss_may_stand_anywhere() -> None:
    """identity_loss says which result is the loss."""
    ours, plain = Reordered(), Regression()
    poptorch.trainingModel(ours, None, torch.optim.SGD(ours.parameters(), lr=0.1))(*step(4))
    train_plainly(plain, torch.optim.SGD(plain.parameters(), lr=0.1), [step(4)])
    torch.testing.assert_close(weights(ours), weights(plain))


@pytest.mark.parametrize(
    ("reduction", "expected"), [("sum", 6), (0, 6), ("mean", 2), (1, 2), ("none", [1, 2, 3]), (2, [1, 2, 3])]
)
def test_a_loss_is_reduced_as_asked(reduction: Any, expected: Any) -> None:
    """By a word, or by its number."""
    assert expected == poptorch.identity_loss(torch.tensor([1.0, 2.0, 3.0]), reduction).tolist()


def test_an_unknown_reduction_is_refused() -> None:
    """The error names the three that there are."""
    with pytest.raises(ValueError, match=r"'median': give 'sum', 'mean' or 'none'"):
        poptorch.identity_loss(torch.ones(2), "median")


NO_LOSSES: list[tuple[Any, str]] = [
    (lambda output: output, r"shape \(2, 2\).*identity_loss.*model\.train\(\)"),
    (lambda output: (output, output.mean().detach()), "no gradient"),
    (lambda output: None, "returns None, but in training it must return its loss"),
]


@pytest.mark.parametrize(("result", "named"), NO_LOSSES)
def test_a_model_without_a_loss_is_refused(result: Any, named: str) -> None:
    """A training model returns one number with a gradient, last."""

    class Lossless(Regression):
        def forward(self, x: torch.Tensor, target: torch.Tensor | None = None) -> Any:
            return result(self.net(x))

    with pytest.raises(ValueError, match=named):
        poptorch.trainingModel(Lossless())(*step(2))
