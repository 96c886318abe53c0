"""Decides which `reference` the emulated names lead to: the one in whose folder this file lies.

It is imported where the program's own folder comes first, so another module of that name may stand in the way.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def find() -> None:
    """Let `import reference` find the package. Raises ImportError if it finds another one."""
    spec = find_spec("reference")
    if spec is None:
        # Last, so that it hides nothing.
        sys.path.append(str(_PACKAGE.parent))
    elif spec.origin is None or Path(spec.origin).resolve().parent != _PACKAGE:
        raise ImportError(
            f"poptorch, popdist and torchdata are to be emulated by {_PACKAGE}, but `import reference` finds another "
            f"module, {spec.origin or list(spec.submodule_search_locations or [])}: rename it, or take it off the path."
        )
