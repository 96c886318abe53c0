"""Where a started program finds `poptorch`, `popdist` and `torchdata`: `reference/shims` is first on its path."""

import os
import sys
from importlib.machinery import PathFinder
from pathlib import Path

SHIMS = Path(__file__).resolve().parents[1] / "shims"


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
