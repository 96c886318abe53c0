"""The wrapper around the user's module: what a script calls, what it sees, and what is refused."""

import copy
from typing import Any

import pytest
import torch

import reference as poptorch
from tests.reference.device.device_probes import Regression, options, step, weights


def test_the_users_own_module_is_trained() -> None:
    """After a call it holds the new weights (DEVICE-11)."""
    module = Regression()
    before = weights(module)
    poptorch.trainingModel(module)(*step(2))
    assert not any(torch.equal(one, other) for one, other in zip(before, weights(module), strict=True))


def test_attributes_are_read_through() -> None:
    """Weights, methods and whatever the user put there (DEVICE-11)."""
    module = Regression()
    module.note = "mine"
    model = poptorch.trainingModel(module)
    assert (module.net, "mine", module) == (model.net, model.note, model.model)
    assert list(module.state_dict()) == list(model.state_dict())
    assert repr(module) == repr(model)


def test_an_attribute_that_nobody_has_is_named() -> None:
    """The error says whom was asked."""
    with pytest.raises(AttributeError, match=r"Neither the emulated device nor Regression has 'compileFast'"):
        _ = poptorch.inferenceModel(Regression()).compileFast


def test_a_state_is_loaded_into_the_module() -> None:
    """load_state_dict through the wrapper reaches the next call."""
    model = poptorch.inferenceModel(Regression(seed=1))
    model.load_state_dict(Regression(seed=2).state_dict())
    x, _ = step(2)
    assert torch.equal(Regression(seed=2)(x), model(x))


def test_a_model_can_be_copied() -> None:
    """A copy trains a module of its own."""
    model = poptorch.trainingModel(Regression())
    twin = copy.deepcopy(model)
    before = weights(model)
    twin(*step(2))
    assert all(torch.equal(one, other) for one, other in zip(before, weights(model), strict=True))
    assert not torch.equal(before[0], weights(twin)[0])


def test_the_life_of_a_model() -> None:
    """Compiling, attaching and destroying are kept account of, and change no weight and no result."""
    module = Regression()
    model = poptorch.trainingModel(module)
    before = weights(module)
    assert (False, False) == (model.isCompiled(), model.isAttachedToDevice())
    model.compile(*step(2))
    assert (True, True) == (model.isCompiled(), model.isAttachedToDevice())
    model.copyWeightsToHost()
    model.copyWeightsToDevice()
    model.copyNamedBuffersToDevice()
    assert model.copyWeightsToHostIfNeeded() is False
    assert all(torch.equal(one, other) for one, other in zip(before, weights(module), strict=True))
    model.detachFromDevice()
    assert not model.isAttachedToDevice()
    model.attachToDevice()
    assert model.isAttachedToDevice()
    model.destroy()
    model.destroy()
    assert not model.isCompiled()
    model(*step(2))
    assert model.isCompiled()


def test_a_trained_model_is_inferred_with() -> None:
    """Training and inference share one module, and so its weights; a model may be given in its place."""
    training = poptorch.trainingModel(Regression())
    inference = poptorch.inferenceModel(training)
    training(*step(4))
    x, _ = step(2)
    assert torch.equal(training.model(x), inference(x))


def test_the_mode_is_the_users() -> None:
    """train() and eval() through the wrapper set the module's mode, and a call leaves it."""
    module = Regression()
    model = poptorch.inferenceModel(module)
    model(step(2)[0])
    assert module.training
    assert model.eval() is model
    assert not module.training
    assert model.train().training


def test_options_are_frozen_when_a_model_is_built() -> None:
    """A later change would silently not reach it."""
    made = options(2)
    model = poptorch.inferenceModel(Regression(), made)
    with pytest.raises(AttributeError, match="Can't modify frozen Options"):
        made.deviceIterations(3)
    with pytest.raises(AttributeError, match="Can't modify frozen Options"):
        model.options.deviceIterations(3)
    assert 2 == model.options.device_iterations


def test_synthetic_data_reaches_the_next_model() -> None:
    """The tutorial's case: switched on late, a model that exists goes on with real data, the next one does not."""
    made = options()
    x, _ = step(2)
    before = poptorch.inferenceModel(Regression(), made)
    made.enableSyntheticData(True)
    after = poptorch.inferenceModel(Regression(), made)
    assert torch.equal(Regression()(x), before(x))
    assert not torch.equal(Regression()(x), after(x))


def test_steps_may_have_any_size_that_divides() -> None:
    """The tutorial's other case: a model of 1 replica is called with a loader's steps for 4."""
    model = poptorch.inferenceModel(Regression(), options(2))
    model.compile(step(4)[0])
    assert [4, 16] == [len(model(step(samples)[0])) for samples in (4, 16)]


def test_inference_with_accumulation_is_refused() -> None:
    """The error names the option and says what to use (DEVICE-8)."""
    with pytest.raises(ValueError, match=r"gradientAccumulation is 2.*set it to 1.*deviceIterations"):
        poptorch.inferenceModel(Regression(), options(accumulation=2))


def test_a_refused_model_freezes_nothing() -> None:
    """Its options can be mended."""
    made = options(accumulation=2)
    with pytest.raises(ValueError, match="gradientAccumulation"):
        poptorch.inferenceModel(Regression(), made)
    made.Training.gradientAccumulation(1)


def test_a_period_must_divide() -> None:
    """Every 2nd of 3 results leaves a rest (DEVICE-6)."""
    with pytest.raises(ValueError, match=r"one result in 2, but a replica makes 3 .*give a period that does"):
        poptorch.inferenceModel(Regression(), options(3).outputMode(poptorch.OutputMode.EveryN, 2))


BAD: list[tuple[Any, type[Exception], str]] = [
    (lambda: poptorch.trainingModel(3), TypeError, "model is 3 of type int, but must be of type Module"),
    (lambda: poptorch.inferenceModel(Regression(), {}), TypeError, "options is {} of type dict"),
    (lambda: poptorch.trainingModel(Regression(), None, 0.1), TypeError, "optimizer is 0.1 of type float"),
    (
        lambda: poptorch.trainingModel(Regression(), None, torch.optim.SGD(Regression().parameters(), lr=1)),
        ValueError,
        "trains no parameter of the Regression",
    ),
    (
        lambda: poptorch.trainingModel(m := Regression(), None, torch.optim.LBFGS(m.parameters())),
        ValueError,
        "LBFGS.*give another one",
    ),
    (
        lambda: poptorch.inferenceModel(m := Regression()).setOptimizer(torch.optim.SGD(m.parameters(), lr=1)),
        ValueError,
        "trains nothing",
    ),
]


@pytest.mark.parametrize(("build", "kind", "named"), BAD)
def test_what_cannot_be_a_model_is_refused(build: Any, kind: type[Exception], named: str) -> None:
    """By its value and type, with what to do."""
    with pytest.raises(kind, match=named):
        build()


def test_a_new_learning_rate_keeps_the_momentum() -> None:
    """setOptimizer with one of the same class goes on with its state; a scheduler's change needs no call."""
    ours, plain = Regression(), Regression()
    model = poptorch.trainingModel(ours, None, torch.optim.SGD(ours.parameters(), lr=0.1, momentum=0.9))
    optimizer = torch.optim.SGD(plain.parameters(), lr=0.1, momentum=0.9)
    for call, rate in enumerate((0.1, 0.02, 0.01)):
        if call == 1:
            model.setOptimizer(torch.optim.SGD(ours.parameters(), lr=rate, momentum=0.9))
        optimizer.param_groups[0]["lr"] = rate
        model._executor.optimizer.param_groups[0]["lr"] = rate
        tensors = step(4, seed=call)
        model(*tensors)
        optimizer.zero_grad()
        plain(*tensors)[1].backward()
        optimizer.step()
    torch.testing.assert_close(weights(ours), weights(plain))


def test_words_for_the_hardware_change_nothing() -> None:
    """Blocks, overlaps and prints are accepted."""

    class Blocks(Regression):
        def __init__(self) -> None:
            super().__init__()
            self.net = poptorch.BeginBlock(self.net, "first", ipu_id=0)

        @poptorch.BlockFunction(ipu_id=1)
        def inner(self, x: torch.Tensor) -> torch.Tensor:
            return x

        def forward(self, x: torch.Tensor, target: torch.Tensor | None = None) -> Any:
            x = poptorch.set_overlap_for_input(x, poptorch.OverlapMode.OverlapAccumulationLoop)
            with poptorch.Block("second", ipu_id=1):
                x = poptorch.recomputationCheckpoint(poptorch.nop(self.inner(x)))
            output = super().forward(poptorch.set_available_memory(x, 0.2))
            output = poptorch.ipu_print_tensor(output, "out")
            return poptorch.set_overlap_for_output(output, poptorch.OverlapMode.NoOverlap)

    x, _ = step(2)
    assert torch.equal(Regression()(x), poptorch.inferenceModel(Blocks())(x))
    assert not poptorch.ipuHardwareIsAvailable()
