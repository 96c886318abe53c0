"""A module is trained by one model at a time, until it is freed; and what else scripts ask a model for."""

import copy
import io
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch

import reference as poptorch
from reference import OutputMode
from tests.reference.device.device_probes import Regression, options, step, weights

TWICE = r"^Model has already been wrapped in 'poptorch\.trainingModel'\. Call model\.destroy\(\)"


@pytest.mark.parametrize("wrapped", [False, True])
def test_wrapping_twice_is_told(wrapped: bool) -> None:
    """By a warning with PopTorch's words; and the earlier model is of no use any more, whatever is asked of it."""
    module = Regression()
    earlier = poptorch.trainingModel(module)
    with pytest.warns(UserWarning, match=TWICE):
        later = poptorch.trainingModel(earlier if wrapped else module)
    before = weights(module)
    for ask in (earlier, earlier.compile):
        with pytest.raises(RuntimeError, match=TWICE):
            ask(*step(2))
    assert torch.equal(before[0], weights(module)[0])
    later(*step(2))
    assert not torch.equal(before[0], weights(module)[0])


def test_a_model_that_was_displaced_may_take_the_module_back() -> None:
    """Once the other one has freed it."""
    module = Regression()
    earlier = poptorch.trainingModel(module)
    with pytest.warns(UserWarning, match=TWICE):
        later = poptorch.trainingModel(module)
    earlier.destroy()
    later(*step(2))
    later.destroy()
    earlier(*step(2))
    with pytest.raises(RuntimeError, match=TWICE):
        later(*step(2))


FREED: list[Callable[[Any, Any], Any]] = [
    lambda module, model: module.destroy(),
    lambda module, model: model.destroy(),
    lambda module, model: [module.destroy(), module.destroy(), model.destroy()],
]


@pytest.mark.parametrize("free", FREED)
def test_a_module_that_was_freed_can_be_wrapped_again(free: Callable[[Any, Any], Any]) -> None:
    """By `destroy` of the user's own module, or of the model; any number of times."""
    module = Regression()
    model = poptorch.trainingModel(module)
    free(module, model)
    assert not model.isAttachedToDevice()
    with warnings.catch_warnings(action="error"):
        again = poptorch.trainingModel(module)
    before = weights(module)
    again(*step(2))
    assert not torch.equal(before[0], weights(module)[0])
    again.destroy()
    poptorch.trainingModel(again)


def test_a_model_that_nobody_has_frees_its_module() -> None:
    """A script may build one in a function, and forget it."""
    module = Regression()
    with warnings.catch_warnings(action="error"):
        poptorch.trainingModel(module)(*step(2))
        poptorch.trainingModel(module)(*step(2))
    module.destroy()


def test_a_trained_module_may_be_validated() -> None:
    """Any number of inference models share the module with the one that trains it."""
    module = Regression()
    training = poptorch.trainingModel(module)
    found = [poptorch.inferenceModel(module), poptorch.inferenceModel(training)]
    training(*step(2))
    assert torch.equal(*(model(step(2)[0]) for model in found))


def test_a_trained_module_says_that_its_weights_are_there() -> None:
    """copyWeightsToHostIfNeeded of the user's own module: nothing is ever needed (DEVICE-11)."""
    module = Regression()
    model = poptorch.trainingModel(module)
    assert (False, False) == (module.copyWeightsToHostIfNeeded(), model.copyWeightsToHostIfNeeded())
    assert (False, None) == (copy.deepcopy(module).copyWeightsToHostIfNeeded(), copy.deepcopy(module).destroy())


def test_a_copy_of_a_trained_module_is_not_trained() -> None:
    """Nor does it drag the model along, into a file or another process."""
    module = Regression()
    model = poptorch.trainingModel(module)
    for twin in (copy.deepcopy(module), pickle.loads(pickle.dumps(module)), _saved(module)):
        poptorch.trainingModel(twin)(*step(2))
    assert b"reference.device" not in pickle.dumps(module.__dict__)
    assert model.isCompiled() is False


def _saved(module: torch.nn.Module) -> torch.nn.Module:
    file = io.BytesIO()
    torch.save(module, file)
    file.seek(0)
    loaded = torch.load(file, weights_only=False)
    assert isinstance(loaded, torch.nn.Module)
    return loaded


def test_a_module_keeps_a_method_of_that_name() -> None:
    """What the user calls destroy stays the user's."""

    class Own(Regression):
        def destroy(self) -> str:
            return "mine"

    module = Own()
    model = poptorch.trainingModel(module)
    assert "mine" == module.destroy()
    model.destroy()
    poptorch.trainingModel(module)


@pytest.mark.parametrize(
    ("build", "expected"), [(poptorch.trainingModel, OutputMode.Final), (poptorch.inferenceModel, OutputMode.All)]
)
def test_a_model_says_what_default_stands_for(build: Any, expected: OutputMode) -> None:
    """In its own options; the user's stay as they are, for the next model."""
    made = options(2)
    assert (expected, OutputMode.Default) == (build(Regression(), made).options.output_mode, made.output_mode)
    kept = build(Regression(), options(2).outputMode(OutputMode.Sum)).options
    assert OutputMode.Sum is kept.output_mode


def test_an_error_of_a_model_is_poptorchs() -> None:
    """Scripts catch poptorch.Error, and print what it says; it is a ValueError as well."""
    model = poptorch.inferenceModel(Regression(), options(2))
    with pytest.raises(poptorch.Error, match="3 samples") as caught:
        model(step(3)[0])
    assert isinstance(caught.value, ValueError)
    assert (str(caught.value), "") == (caught.value.message, caught.value.location)
    assert issubclass(poptorch.RecoverableError, poptorch.Error)
    assert issubclass(poptorch.UnrecoverableError, poptorch.Error)


REFUSED: list[Callable[[], Any]] = [
    lambda: poptorch.inferenceModel(Regression(), options(accumulation=2)),
    lambda: poptorch.inferenceModel(Regression(), options(3).outputMode(OutputMode.EveryN, 2)),
    lambda: poptorch.trainingModel(Regression(), options(2))(*step(3)),
    lambda: poptorch.trainingModel(torch.nn.Identity(), None, torch.optim.SGD(Regression().parameters(), lr=1)),
]


@pytest.mark.parametrize("build", REFUSED)
def test_what_a_model_can_not_be_is_poptorchs_error(build: Callable[[], Any]) -> None:
    """Whether it is refused when it is built or when it is called."""
    with pytest.raises(poptorch.Error):
        build()


def test_a_model_takes_the_way_for_a_cpu() -> None:
    """isRunningOnIpu is False, in a model as outside."""

    class Asking(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x if poptorch.isRunningOnIpu() else x + 1

    assert not poptorch.isRunningOnIpu()
    assert [1.0] == poptorch.inferenceModel(Asking())(torch.zeros(1)).tolist()
