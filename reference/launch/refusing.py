"""Decides what an import of a name says that an emulated package does not have: it refuses, in a sentence.

`from poptorch import custom_op` and `import torchdata.dataloader2.linter` both end as an import of a submodule.
Python's own answer would be that there is none, or name a file of the emulation that nobody has heard of.
"""

import sys
from collections.abc import Callable
from typing import Any


class Refusal:
    """A finder that comes last and finds nothing: of the emulated packages it says why."""

    def __init__(self) -> None:
        self.told: dict[str, Callable[[str], str]] = {}
        """What to say of a name that a package does not have."""

    def find_spec(self, name: str, *given: Any) -> None:
        """Python asks this when no other finder knows the module."""
        package, _, last = name.rpartition(".")
        if package in self.told:
            # Without its name: Python passes over an error that bears it, in `from package import name`.
            raise ModuleNotFoundError(self.told[package](last))


_REFUSAL = Refusal()


def refuse(package: str, told: Callable[[str], str]) -> None:
    """Have imports of what this package does not have refused with that sentence."""
    _REFUSAL.told[package] = told
    if _REFUSAL not in sys.meta_path:
        sys.meta_path.append(_REFUSAL)
