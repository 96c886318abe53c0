"""The folder of a record: decides what of it is from the run before, and what the processes of this run have said."""

import ast
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.records.frames import SUFFIX
from conformance.watch.stopping import LAST_STEP, NOTE

DEFAULT = Path("loaderspec-watch")
_HELLOS = "processes-*.txt"
_OURS = (f"*{SUFFIX}", _HELLOS, NOTE, f"{LAST_STEP}*", "index.html")


class Foreign(ValueError):
    """The folder holds something that is not ours: the words say what, and what to do."""


@dataclass(frozen=True)
class Said:
    """A line that a process of the job wrote before its own first line."""

    what: str  # hello, or failed
    pid: int
    parent: int
    environment: dict[str, str]
    words: list[str]


def prepare(into: Path | None) -> Path:
    """Make the folder. Without --into it holds one run only; with it, a run goes on where the one before was stopped.

    Foreign if the folder that is to be emptied holds anything else.
    """
    folder = into or DEFAULT
    folder.mkdir(parents=True, exist_ok=True)
    if into is None:
        _empty(folder)
    for name in (NOTE, LAST_STEP):
        (folder / name).unlink(missing_ok=True)
    return folder.resolve()


def _empty(folder: Path) -> None:
    ours = {path for pattern in _OURS for path in folder.glob(pattern)} | {folder / "workers"}
    foreign = sorted(path.name for path in folder.iterdir() if path not in ours)
    if foreign:
        raise Foreign(f"{folder}/ holds {foreign[0]}, which is no record: give another folder with --into DIR")
    for path in ours:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def said(folder: Path) -> Iterator[Said]:
    """What the processes of the job said, of all hosts."""
    for path in sorted(folder.glob(_HELLOS)):
        for line in path.read_text("utf-8", errors="replace").splitlines():
            try:
                what, pid, parent, environment, words = ast.literal_eval(line)
            except (ValueError, SyntaxError):  # the end of a line that a full disk has cut
                continue
            yield Said(what, pid, parent, environment, [str(word) for word in words])


def stopped(folder: Path) -> bool:
    """Whether a process was stopped because enough was seen."""
    return (folder / NOTE).exists()


def tidy(folder: Path) -> None:
    """Take away what only the running job needed."""
    keys: Any = folder / "workers"
    shutil.rmtree(keys, ignore_errors=True)
