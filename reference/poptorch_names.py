"""The names under which a script that was written for PopTorch finds the reference: `poptorch` and `popdist`.

`python -m reference.run script.py` and `poprun` put the folder `reference/shims` on PYTHONPATH. It holds two modules,
`poptorch` and `popdist`, which call `install` when they are imported, and a third, `torchdata`, which is explained in
`torchdata_names.py`. So the names exist in those programs and in the processes that they start and nowhere else, and
nothing is installed anywhere.

**A poptorch that is really installed loses**, in these programs only: PYTHONPATH comes before what is installed. Who
starts a program in this way has asked for the emulation, and half of each (the options of one, the launcher of the
other) would be worse than either. The launcher says so (`note_of_hidden`, in `launch/shims.py`).
"""

import importlib
import sys
from functools import partial
from types import ModuleType
from typing import NoReturn

from .launch.refusing import refuse

# What PopTorch's own name for itself is followed by: the last one with this shape, and that it is not it.
_VERSION = "3.3.0+loaderspec"
# The modules of PopTorch that a script may import by name, as far as the reference has them.
_MODULES = ("enums", "optim", "options")


_LISTED = {
    "poptorch": "the last table of specs/6-device.md lists what else it does not, and what to use.",
    "popdist": "specs/7-launch.md lists the names of popdist that it does.",
}


def install() -> None:
    """Make `poptorch`, `popdist` and their modules importable in this process: the reference's own objects."""
    import reference
    from reference import popdist

    poptorch = ModuleType("poptorch", reference.__doc__)
    # With a path it counts as a package; an empty one, so that no module is loaded twice under two names.
    poptorch.__path__ = []
    poptorch.__file__ = reference.__file__
    vars(poptorch).update({name: getattr(reference, name) for name in reference.__all__}, __version__=_VERSION)
    names: dict[str, ModuleType] = {"poptorch": poptorch, "popdist": popdist, "popdist.poptorch": popdist.poptorch}
    for name in _MODULES:
        names[f"poptorch.{name}"] = _alone(importlib.import_module(f"{reference.__name__}.{name}"))
        vars(poptorch)[name] = names[f"poptorch.{name}"]
    sys.modules.update(names)
    for name, module in (("poptorch", poptorch), ("popdist", popdist)):
        vars(module)["__getattr__"] = partial(_missing, name)
        for asked in {name, module.__name__}:
            refuse(asked, partial(_not_served, name))


def _missing(module: str, name: str) -> NoReturn:
    raise AttributeError(_not_served(module, name))


def _not_served(module: str, name: str) -> str:
    """What to say of a name that a module has not."""
    return f"module {module!r} has no attribute {name!r}: the emulation does not serve it; {_LISTED[module]}"


def _alone(module: ModuleType) -> ModuleType:
    """The module; of a package one with the same names and no path, so that no part of it is loaded a second time."""
    if not hasattr(module, "__path__"):
        return module
    alone = ModuleType(module.__name__, module.__doc__)
    vars(alone).update({name: value for name, value in vars(module).items() if not name.startswith("__")}, __path__=[])
    return alone
