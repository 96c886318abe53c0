"""Decides under which names a script that was written for PopTorch finds the reference: `poptorch` and `popdist`.

`python -m reference.run script.py` and `poprun` put the folder `reference/shims` on PYTHONPATH. In it lie two modules,
`poptorch` and `popdist`, which call `install` when they are imported; of a third, `torchdata`, `pipe_names.py` tells.
So the names exist in those programs and in the processes that they start, in no other, and nothing is installed
anywhere.

**A poptorch that is really installed loses**, in these programs only: PYTHONPATH comes before what is installed. Who
starts a program in this way has asked for the emulation, and half of each (the options of one, the launcher of the
other) would be worse than either. The launcher says so (`note_of_hidden`).
"""

import os
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType

SHIMS = Path(__file__).resolve().parent / "shims"
# What PopTorch's own name for itself is followed by: the last one with this shape, and that it is not it.
_VERSION = "3.3.0+loaderspec"


def install() -> None:
    """Make `poptorch`, `popdist` and their modules importable in this process: the reference's own objects."""
    import reference
    from reference import popdist

    package = reference.__name__
    poptorch = ModuleType("poptorch", reference.__doc__)
    # With a path it counts as a package; an empty one, so that no module is loaded twice under two names.
    poptorch.__path__ = []
    poptorch.__file__ = reference.__file__
    vars(poptorch).update({name: getattr(reference, name) for name in reference.__all__}, __version__=_VERSION)
    names: dict[str, ModuleType] = {"poptorch": poptorch, "popdist": popdist, "popdist.poptorch": popdist.poptorch}
    for name, module in list(sys.modules.items()):
        if name.startswith(f"{package}.") and name.count(".") == 1 and name != popdist.__name__:
            names[f"poptorch.{name.rpartition('.')[2]}"] = module
            vars(poptorch).setdefault(name.rpartition(".")[2], module)
    sys.modules.update(names)


def with_shims(path: str | None) -> str:
    """Return a PYTHONPATH that begins with the shims, and then is as it was."""
    before = [part for part in (path or "").split(os.pathsep) if part and Path(part) != SHIMS]
    return os.pathsep.join([str(SHIMS), *before])


def note_of_hidden() -> str | None:
    """Return a sentence if a poptorch or popdist is installed that the program will not see, else None."""
    search = [part for part in sys.path if part and Path(part) != SHIMS]
    found = [PathFinder.find_spec(name, search) for name in ("poptorch", "popdist")]
    hidden = [str(Path(spec.origin).parent) for spec in found if spec is not None and spec.origin]
    if not hidden:
        return None
    return (
        f"The program gets the emulation, and not what is installed in {' and '.join(hidden)}: start it with plain "
        f"python to use that."
    )
