"""This process, as it is watched: decides which loader has which number, and what is given up when a tap fails."""

import itertools
import os
import sys
import weakref
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import Any, ParamSpec

from conformance.records.content import HASH
from conformance.records.writer import Recorder, open_record
from conformance.watch import facts, overlaps
from conformance.watch.datasets import base_of
from conformance.watch.options import FOLDER, Options, given, identifier
from conformance.watch.stopping import Stopping

_P = ParamSpec("_P")
# Datasets that weakref can't hold (a list, a range) are kept alive, so that their identity stays theirs: the last few.
_HELD = 8


class Watching:
    """What is known of this process's loaders. There is one, made by `watching`."""

    def __init__(self, folder: Path, options: Options) -> None:
        self.folder = folder
        self.options = options
        self.identify = identifier(options)
        self.recorder: Recorder = open_record(folder)
        self.stopping = Stopping(folder, options)
        self._same_data = [list(group) for group in options.same_data]
        self._batches: Counter[tuple[str, int]] = Counter()  # of the loaders that were made at one line
        self._lines: list[tuple[str, int]] = []  # of each loader
        self._hello: dict[str, Any] = {}
        self._numbers: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._datasets: dict[int, tuple[Callable[[], Any], int]] = {}
        self._held: deque[Any] = deque(maxlen=_HELD)
        self._count = itertools.count()
        self._firsts: dict[int, dict[str, Any]] = {}  # of each dataset: the loader that the user made of it last
        self._subsets = overlaps.Subsets(self._dataset)

    def hello(self) -> None:
        """Say who this process is, if that has changed: a process group is often made after the loader."""
        told = {**facts.process(), "same_data": self._same_data}
        if told != self._hello:
            self._hello = told
            self.recorder.hello(told)
            if self._same_data:
                self.recorder.say("same_data", {"groups": self._same_data})

    def same_data(self, groups: list[list[int]]) -> None:
        """These ranks work on one replica of a model."""
        self._same_data = sorted([*self._same_data, *(group for group in groups if group not in self._same_data)])

    def number(self, loader: Any, frame: FrameType | None = None) -> int:
        """The number of a loader, which gets one when it is made."""
        known = self._numbers.get(id(loader))
        if known is not None and known[0]() is loader:
            return known[1]
        self.hello()
        made = loader.__dict__.get("_loaderspec_made") or facts.made(loader, frame)
        dataset = self._dataset(base_of(loader.dataset))
        origin = self._firsts.get(dataset)
        if made["made_by"] and origin is not None:
            # A library has made another loader of the user's: the line is where the user made it.
            ours = {name: made[name] for name in ("made_by", "dispatched")}
            made = {"file": origin["file"], "line": origin["line"], "rebuilt_from": origin["loader"], **ours}
        told = facts.loader(loader, made)
        told["dataset"] = dataset
        by_content = told["kind"] == "iterable" or made["dispatched"]
        told["ids"] = "named" if self.options.named else "content" if by_content else "index"
        told["named"], told["hash"] = self.options.named, HASH
        number = self.recorder.loader({**told, **self._subsets.of(loader, len(self._lines))})
        self._lines.append((made["file"], made["line"]))
        self._numbers[id(loader)] = (weakref.ref(loader), number)
        loader.__dict__["_loaderspec_made"] = made
        if not made["made_by"] or origin is None:
            self._firsts[dataset] = {**made, "loader": number}
        return number

    def count(self, loader: int) -> None:
        """One more batch of a loader came."""
        self._batches[self._lines[loader]] += 1

    def stops(self, loader: int) -> bool:
        """Whether this process has seen enough, now that it wants another batch of this loader."""
        return self.stopping.due(self._batches[self._lines[loader]], self._batches.total)

    def _dataset(self, base: Any) -> int:
        known = self._datasets.get(id(base))
        if known is not None and known[0]() is base:
            return known[1]
        number = next(self._count)
        try:
            keeper: Callable[[], Any] = weakref.ref(base)
        except TypeError:
            self._held.append(base)
            keeper = _Kept(self._held, base)
        self._datasets[id(base)] = (keeper, number)
        return number


class _Kept:
    """What is held by a queue, as long as that holds it."""

    def __init__(self, queue: deque[Any], value: Any) -> None:
        self._queue = queue
        self._address = id(value)

    def __call__(self) -> Any:
        return next((each for each in self._queue if id(each) == self._address), None)


_watching: Watching | None = None
_off = False


def watching() -> Watching:
    """What this process watches."""
    global _watching
    if _watching is None:
        _watching = Watching(Path(os.environ[FOLDER]), given())
    return _watching


def on() -> bool:
    """Whether this process is watched: not once a tap has failed."""
    return not _off


@contextmanager
def unwatched() -> Iterator[None]:
    """Nothing is written down of what this process does in here."""
    global _off
    before, _off = _off, True
    try:
        yield
    finally:
        _off = before


def tapped(tap: Callable[_P, None]) -> Callable[_P, None]:
    """A tap that never lets the job feel its own faults: the first one is told in the report, and ends the watching."""

    @wraps(tap)
    def safe(*given: _P.args, **more: _P.kwargs) -> None:
        if _off:
            return
        try:
            tap(*given, **more)
        except Exception as error:
            give_up(tap.__name__, error)

    return safe


def give_up(where: str, error: BaseException) -> None:
    """Watch no further in this process, and say why."""
    global _off
    _off = True
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    at = f"{Path(frame.tb_frame.f_code.co_filename).name}:{frame.tb_lineno}" if frame is not None else ""
    hook: Any = sys.modules.get("_loaderspec_hook")
    if hook is not None:
        hook.failed(f"{where} {at}", error)
    if _watching is not None:
        _watching.recorder.say("failed", {"where": where, "why": f"{type(error).__name__}: {error}"})
