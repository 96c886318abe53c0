"""Decides that a module is trained by one model at a time, and how it is freed: by `destroy()`, its own or the model's.

Two models that train one module would each keep a state of its optimizer, and undo one another's updates.
"""

import weakref
from typing import Any

import torch

_trained: "weakref.WeakKeyDictionary[torch.nn.Module, weakref.ref[Any]]" = weakref.WeakKeyDictionary()


class Destroy:
    """What a trained module calls `destroy`: the model's own. A copy of the module is not trained, and has none."""

    def __init__(self, model: Any = None) -> None:
        self._model = None if model is None else weakref.ref(model)

    def __call__(self) -> None:
        """Free the module, if there is still a model of it."""
        model = None if self._model is None else self._model()
        if model is not None:
            model.destroy()

    def __deepcopy__(self, memo: object) -> "Destroy":
        return Destroy()

    def __reduce__(self) -> tuple[Any, tuple[()]]:
        # None: who loads a module that was saved need not have this class.
        return type(None), ()


def claim(module: torch.nn.Module, model: Any) -> None:
    """Note that the model trains the module. Raises RuntimeError if another one does."""
    other = _trained.get(module)
    if other is not None and other() is not None:
        error = RuntimeError(
            "Model has already been wrapped in 'poptorch.trainingModel'. Call model.destroy() on the model to unwrap "
            "before wrapping again."
        )
        # The message is PopTorch's own, which scripts compare.
        error.add_note("Or train a copy: poptorch.trainingModel(copy.deepcopy(model)).")
        raise error
    _trained[module] = weakref.ref(model)
    if isinstance(getattr(module, "destroy", None), Destroy | None):
        # Beside torch's own bookkeeping; a module with a method of this name keeps it.
        vars(module)["destroy"] = Destroy(model)


def free(module: torch.nn.Module, model: Any) -> None:
    """Note that the model trains the module no more."""
    if (other := _trained.get(module)) is not None and other() is model:
        del _trained[module]
