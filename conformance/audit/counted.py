"""How many samples there are, as the user says it: decides how that is written, and which loader it is about.

`--samples 600` is about each loader that trains, `--samples 51=600` or `--samples train.py:51=600` about that of a
line. A map-style dataset says it itself.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.audit.configured import Unfit, table_of
from conformance.audit.view import View
from conformance.audit.words import listed


@dataclass(frozen=True)
class Counted:
    """So many different samples have the data of a loader. Without a line, of each loader that trains."""

    number: int
    file: str = ""
    line: int = 0
    where: str = "--samples"  # how the user finds it again

    def is_about(self, view: View) -> bool:
        """Whether it is about a loader."""
        if not counts(view):
            return False
        if not self.line:
            return not view.evaluates
        parts = Path(self.file).parts
        return view.line == self.line and (not parts or Path(view.file).parts[-len(parts) :] == parts)


def counts(view: View) -> bool:
    """Whether how many samples a loader has is for the user to say: it is iterated, and nothing in the record does."""
    return view.facts.get("kind") in ("iterable", "wrapped") and view.expected is None and bool(view.group.epochs)


def counted(words: str) -> Counted:
    """``600``, ``51=600`` or ``train.py:51=600``. ArgumentTypeError if it is something else."""
    where, _, number = words.rpartition("=")
    file, _, line = where.rpartition(":")
    known = number.isdigit() and int(number) > 0 and (not where or (line.isdigit() and int(line) > 0))
    if not known or (words.startswith("=")):
        raise argparse.ArgumentTypeError(f"{words!r} is no number of samples: give 600, LINE=600 or FILE:LINE=600")
    return Counted(int(number), file, int(line or 0), f"--samples {words}")


def configured(folder: Path) -> list[Counted]:
    """What pyproject.toml says of it. Unfit if that is no number of samples."""
    found = table_of(folder.resolve())
    if found is None:
        return []
    path, table = found
    told = table.get("samples", [])
    try:
        some = [counted(str(each)) for each in (told if isinstance(told, list) else [told])]
    except argparse.ArgumentTypeError as error:
        raise Unfit(f"{path.name}: samples of [tool.loaderspec.watch]: {error}") from error
    return [Counted(each.number, each.file, each.line, f"samples of {path.name}") for each in some]


def of_view(view: View, told: Sequence[Counted]) -> Counted | None:
    """What is said of a loader; what names its line counts more."""
    fits = [each for each in told if each.is_about(view)]
    return min(fits, key=lambda each: each.line == 0, default=None)


def unknown(views: Sequence[View], told: Sequence[Counted]) -> Iterator[str]:
    """What is said of numbers that are about no loader of the record."""
    for each in told if any(view.group.epochs for view in views) else ():
        if not any(each.is_about(view) for view in views):
            which = "is read at that line" if each.line else "trains"
            none = f"{each.where}: no iterable dataset or generator {which}, or the record says how long it is"
            yield none + _others(views)


def _others(views: Sequence[View]) -> str:
    """``; such are made at train.py:25``, of loaders whose number of samples is not known."""
    made = [f"{Path(view.file).name}:{view.line}" for view in views if view.group.epochs and view.expected is None]
    return f"; such are made at {listed(made, 3)}" if made else ""
