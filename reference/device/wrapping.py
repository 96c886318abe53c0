"""Decides that a module is trained by one model at a time, and how it is freed: by `destroy()`, its own or the model's.

Two models that train one module would each keep a state of its optimizer, and undo one another's updates. So the model
that was made last has the module, with a warning if it took it from another one, and that one's next call is an error.
PopTorch raises the error at once; but its data-loading tutorial wraps one module twice, and must run.
"""

import warnings
import weakref
from typing import Any

import torch

_trained: "weakref.WeakKeyDictionary[torch.nn.Module, weakref.ref[Any]]" = weakref.WeakKeyDictionary()

# PopTorch's words, which scripts compare.
_TWICE = (
    "Model has already been wrapped in 'poptorch.trainingModel'. Call model.destroy() on the model to unwrap before "
    "wrapping again."
)


class Borrowed:
    """A method of the model that a module has while it is trained; a copy of the module is not trained."""

    def __init__(self, name: str, otherwise: object, model: Any = None) -> None:
        """`otherwise` is what it returns when there is no model."""
        self._name = name
        self._otherwise = otherwise
        self._model = None if model is None else weakref.ref(model)

    def __call__(self) -> object:
        """Call the model's method, if there is still a model."""
        model = None if self._model is None else self._model()
        return self._otherwise if model is None else getattr(model, self._name)()

    def __deepcopy__(self, memo: object) -> "Borrowed":
        return Borrowed(self._name, self._otherwise)

    def __reduce__(self) -> tuple[Any, tuple[()]]:
        # None: who loads a module that was saved need not have this class.
        return type(None), ()


# What PopTorch gives to the user's module, and what it returns without a model.
_BORROWED = {"destroy": None, "copyWeightsToHostIfNeeded": False}


def claim(module: torch.nn.Module, model: Any) -> None:
    """Note that the model trains the module from now on. Warns if another one did."""
    if _trainer(module) is not None:
        warnings.warn(
            f"{_TWICE} The earlier model trains it no more, and its next call is an error.", UserWarning, stacklevel=4
        )
    _trained[module] = weakref.ref(model)
    for name, otherwise in _BORROWED.items():
        if isinstance(getattr(module, name, None), Borrowed | None):
            # Beside torch's own bookkeeping; a module with a method of this name keeps it.
            vars(module)[name] = Borrowed(name, otherwise, model)


def check_trains(module: torch.nn.Module, model: Any) -> None:
    """Raise RuntimeError if another model has taken the module; take it if nobody has it."""
    trainer = _trainer(module)
    if trainer is None:
        _trained[module] = weakref.ref(model)
    elif trainer is not model:
        raise RuntimeError(f"{_TWICE} Another model trains the module now: call that one.")


def _trainer(module: torch.nn.Module) -> Any:
    """Return the model that trains the module, or None."""
    found = _trained.get(module)
    return None if found is None else found()


def free(module: torch.nn.Module, model: Any) -> None:
    """Note that the model trains the module no more."""
    if _trainer(module) is model:
        del _trained[module]
