"""Decides what `trainingModel` and `inferenceModel` return: the user's module, as it would run on the device.

    model = poptorch.trainingModel(module, options, optimizer=torch.optim.SGD(module.parameters(), lr=0.1))
    for images, labels in loader:
        outputs, loss = model(images, labels)

The device is emulated where the module is, so there is one copy of the weights, and it is the user's own: nothing must
be copied, attached or compiled. The calls for that are accepted and do nothing but keep account.

A model reads its options once, when it is built: what is set afterwards (`enableSyntheticData`, the only setter that is
open then) reaches the next model, and never one that exists. The size of a step is not among the options: each call
divides the tensors it is given, so one model takes steps of any size that divides.

The module runs in the mode in which its owner has left it, `train()` or `eval()`.
"""

from typing import Any

import torch

from ..options.options import Options
from ..rules.checks import check_type
from .errors import ModelError
from .executor import Executor, parameters_of, plan_calls
from .wrapping import check_trains, claim, free

_DEFAULT_LEARNING_RATE = 0.01


class PoplarExecutor:
    """A module on the device: call it with the tensors of one step. Made by `trainingModel` and `inferenceModel`."""

    def __init__(
        self, model: torch.nn.Module, options: Options, training: bool, optimizer: torch.optim.Optimizer | None
    ) -> None:
        """Freeze the options and read them. Raises ValueError or TypeError for what can't be."""
        # First, as what is not found here is looked for in it.
        self._user_model = model
        self._options = options.clone()
        self._training = training
        plan = plan_calls(self._options, training)
        # Only here: the user's own options may be those of a training and of an inference model.
        self._options.set(output_mode=plan.mode)
        self._executor = Executor(model, self._options, plan, optimizer)
        if training:
            claim(model, self)
        options._freeze()
        self._options._freeze()
        self._is_compiled = False
        self._is_attached = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run one step of [device iterations x accumulation x replicas x micro-batch, ...] tensors.

        Returns what the module returns, of the micro-batches that the output mode names. Raises ValueError for a step
        that does not divide, RuntimeError if another model has taken the module.
        """
        self._take_module()
        results = self._executor.run((args, kwargs))
        self._is_compiled = self._is_attached = True
        return results

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Refuse a step that could not be run. Nothing is run, and no weight changes."""
        self._take_module()
        self._executor.prepare((args, kwargs))
        self._is_compiled = self._is_attached = True

    def _take_module(self) -> None:
        if self._training:
            check_trains(self._user_model, self)

    def isCompiled(self) -> bool:
        """Whether `compile` or a call came before, and `destroy` did not."""
        return self._is_compiled

    def destroy(self) -> None:
        """Free the device and the module, which may be wrapped again. May be called any number of times.

        A call afterwards takes the device again; the weights stay.
        """
        free(self._user_model, self)
        self._is_compiled = self._is_attached = False

    def attachToDevice(self) -> None:
        """Take the device. A call does so by itself."""
        self._is_attached = True

    def detachFromDevice(self) -> None:
        """Leave the device to another model."""
        self._is_attached = False

    def isAttachedToDevice(self) -> bool:
        """Whether the model has the device."""
        return self._is_attached

    def copyWeightsToHost(self) -> None:
        """Do nothing: after every call the module has the weights already."""
        # DEVICE-11

    def copyWeightsToHostIfNeeded(self) -> bool:
        """Return False, for the module has the weights already."""
        return False

    def copyWeightsToDevice(self) -> None:
        """Do nothing: a call uses the weights that the module has."""

    def copyNamedBuffersToDevice(self) -> None:
        """Do nothing: a call uses the buffers that the module has."""

    def setOptimizer(self, optimizer: torch.optim.Optimizer) -> None:
        """Train with this optimizer from now on.

        One of the same class, without a state of its own, continues with the state (a momentum, say) of the one before:
        this is how scripts change a learning rate.
        """
        before = self._executor.optimizer
        if before is None:
            raise ValueError("setOptimizer was called on an inferenceModel, which trains nothing: leave it out.")
        _check_optimizer(optimizer, self._user_model)
        if type(optimizer) is type(before) and not optimizer.state:
            mine = set(parameters_of(optimizer))
            optimizer.state.update({key: value for key, value in before.state.items() if key in mine})
        self._executor.optimizer = optimizer

    def train(self, mode: bool = True) -> "PoplarExecutor":
        """Set the module's mode, as `module.train(mode)` does."""
        self._user_model.train(mode)
        return self

    def eval(self) -> "PoplarExecutor":
        """Set the module's mode, as `module.eval()` does."""
        return self.train(False)

    @property
    def model(self) -> torch.nn.Module:
        """The user's module."""
        return self._user_model

    @property
    def options(self) -> Options:
        """The model's own copy of its options, frozen; `output_mode` says what Default stands for."""
        return self._options

    def __getattr__(self, name: str) -> Any:
        # DEVICE-11: asked for what is not found here. While a copy is being made there may be no module yet.
        if name == "_user_model":
            raise AttributeError(name)
        try:
            return getattr(self._user_model, name)
        except AttributeError:
            raise AttributeError(
                f"Neither the emulated device nor {type(self._user_model).__name__} has {name!r}: use an attribute of "
                f"the module, or one of a model that PopTorch's scripts call; specs/6-device.md lists those that are "
                f"not served, and what to use instead."
            ) from None

    def __repr__(self) -> str:
        return repr(self._user_model)


def trainingModel(
    model: torch.nn.Module | PoplarExecutor,
    options: Options | None = None,
    optimizer: torch.optim.Optimizer | None = None,
) -> PoplarExecutor:
    """Return the module as the device trains it; without an optimizer, by torch's SGD with a learning rate of 0.01.

    The module returns its loss, alone or among its results (`losses.py`). Another model that trains it loses it, with a
    warning (`wrapping.py`).
    """
    module = _module_of(model)
    if optimizer is None:
        optimizer = torch.optim.SGD(module.parameters(), lr=_DEFAULT_LEARNING_RATE)
    _check_optimizer(optimizer, module)
    return PoplarExecutor(module, _checked(options), True, optimizer)


def inferenceModel(model: torch.nn.Module | PoplarExecutor, options: Options | None = None) -> PoplarExecutor:
    """Return the module as the device runs it without training. A training model may be given in its place."""
    return PoplarExecutor(_module_of(model), _checked(options), False, None)


def _module_of(model: Any) -> torch.nn.Module:
    module = model.model if isinstance(model, PoplarExecutor) else model
    check_type("model", module, torch.nn.Module)
    assert isinstance(module, torch.nn.Module)
    return module


def _checked(options: Options | None) -> Options:
    if options is None:
        return Options()
    check_type("options", options, Options)
    return options


def _check_optimizer(optimizer: object, module: torch.nn.Module) -> None:
    """Raise unless the optimizer can train the module."""
    check_type("optimizer", optimizer, torch.optim.Optimizer)
    assert isinstance(optimizer, torch.optim.Optimizer)
    if isinstance(optimizer, torch.optim.LBFGS):
        raise ModelError(
            "The optimizer is LBFGS, which runs the model several times in one update, but a device runs it once: "
            "give another one, SGD or Adam for example."
        )
    own = {id(parameter) for parameter in module.parameters()}
    if not any(id(parameter) in own for parameter in parameters_of(optimizer)):
        raise ModelError(
            f"The optimizer trains no parameter of the {type(module).__name__} that is wrapped, so nothing would be "
            f"learnt: build it with the parameters of this module, SGD(model.parameters(), lr=0.1) for example."
        )
