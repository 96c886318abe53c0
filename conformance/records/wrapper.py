"""`record(loader)`: decides what is written down of a loop over any iterable.

It never changes a batch, draws no random number, and never breaks the loop: what goes wrong in here is said once on
standard error, and the loop goes on without a record.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from conformance.records.blocks import Ids
from conformance.records.content import HASH, digest, row_digests
from conformance.records.crash import place_in
from conformance.records.crash import told as words
from conformance.records.names import NoIdentity, field_of
from conformance.records.place import gradients_are_off, place, random_fingerprints
from conformance.records.writer import Recorder, open_record

Batch = TypeVar("Batch")
# How samples are told apart: by content, by a field of the batch, or by what a function of the batch returns.
Identify = str | int | Callable[[Any], Any] | None

# Where a record goes if nothing else is said: `loaderspec watch` sets the variable for all that it starts.
FOLDER = "LOADERSPEC_RECORD"
DEFAULT_FOLDER = "loaderspec-record"


def is_tapped(loader: Any) -> bool:
    """Whether a loader is recorded already: `watch` puts its own answer here, once it has tapped torch's loader."""
    return False


def record(
    loader: Iterable[Batch],
    ids: Identify = None,
    *,
    folder: str | os.PathLike[str] | None = None,
    length: int | None = None,
    batch_size: int | None = None,
    drop_last: bool | None = None,
    rank: int | None = None,
    world_size: int | None = None,
) -> "Recorded[Batch]":
    """Iterate over `loader` as before, and write down which samples came: `for batch in record(loader): ...`

    A sample is told by its content (tensors, arrays, text, nested), row by row of a batch; or by `ids`: the name of the
    batch's field that holds the ids, or a function from a batch to the ids of its samples. Ids are integers or anything
    that has content. `folder` is where the record goes: else the environment variable LOADERSPEC_RECORD, else
    `loaderspec-record` in the working directory. `loaderspec audit FOLDER` judges it. Nothing empties it: a run that
    writes into the folder of an earlier one is judged as its restart.

    What the loader is to do, if it is to be judged by that: `length` samples in an epoch over all ranks, `batch_size`
    samples a batch, `drop_last`. `rank` and `world_size` are found by themselves under torch.distributed, torchrun, MPI
    and Slurm. `len()` and all attributes are those of `loader`.
    """
    caller = sys._getframe(1)
    about = {
        "file": caller.f_code.co_filename,
        "line": caller.f_lineno,
        "class": type(loader).__name__,
        "kind": "wrapped",
        "ids": "content" if ids is None else "named",
        "hash": HASH,
        "dataset_id": id(loader),
        "length": length,
        "batch_size": batch_size,
        "drop_last": drop_last,
    }
    given = {name: n for name, n in (("rank", rank), ("world_size", world_size)) if n is not None}
    where = os.fspath(folder or os.environ.get(FOLDER) or DEFAULT_FOLDER)
    tapped = ids is None and is_tapped(loader)
    return Recorded(loader, ids, None if tapped else open_record(where), about, given)


class Recorded(Generic[Batch]):
    """A loader, and its record. Use `record`."""

    def __init__(
        self,
        loader: Iterable[Batch],
        ids: Identify,
        recorder: Recorder | None,
        about: dict[str, Any],
        given: dict[str, int],
    ) -> None:
        self._loader = loader
        self._ids = ids
        self._recorder = recorder
        self._about = about
        self._given = given
        self._number: int | None = None

    def __iter__(self) -> Iterator[Batch]:
        if self._recorder is None:
            return iter(self._loader)
        caller = sys._getframe(1)
        return self._epoch(self._recorder, {"file": caller.f_code.co_filename, "line": caller.f_lineno})

    def __len__(self) -> int:
        return len(self._loader)  # type: ignore[arg-type]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._loader, name)

    def _epoch(self, recorder: Recorder, where: dict[str, Any]) -> Iterator[Batch]:
        epoch = _quietly(lambda: self._begin(recorder, where))
        how, place = "whole", None
        try:
            for batch in self._loader:
                if epoch is not None and self._number is not None:
                    recorder.batch(self._number, epoch, self._identities(recorder, batch))
                yield batch
        except GeneratorExit:
            how, place = "left", place_in(sys._getframe(1))
            raise
        except BaseException as error:
            how = f"error: {words(error)}"
            raise
        finally:
            if epoch is not None and self._number is not None:
                recorder.end_of_epoch(self._number, epoch, how, place)

    def _begin(self, recorder: Recorder, where: dict[str, Any]) -> int:
        try:
            steps = len(self)
        except Exception:  # whatever a loader without a length raises
            steps = None
        if self._number is None:
            recorder.hello({"argv": sys.argv, "cwd": os.getcwd(), **place(), **self._given})
            self._number = recorder.loader({**self._about, "steps": steps})
        facts = {**where, "steps": steps, "random": random_fingerprints(), "no_grad": gradients_are_off()}
        return recorder.epoch(self._number, facts)

    def _identities(self, recorder: Recorder, batch: Batch) -> Ids:
        """The ids of a batch; where they can't be told, that is told."""
        try:
            if self._ids is None:
                return row_digests(batch)
            values = _named(batch, self._ids)
            ids = _as_ids(values)
            for id, value in zip(ids, values, strict=True):
                if isinstance(id, bytes):
                    recorder.text(id, value)
            return ids
        except Exception as error:
            recorder.unnamed(str(error) if isinstance(error, NoIdentity) else f"{type(error).__name__}: {error}")
            _say_once(error)
            return _UNREAD


_UNREAD = [None]


def _named(batch: Any, ids: str | int | Callable[[Any], Any]) -> list[Any]:
    """What the user's field or function gives of a batch: one value a sample."""
    found = ids(batch) if callable(ids) else field_of(batch, ids, f"ids={ids!r}", "a batch")
    if hasattr(found, "tolist"):
        one_each = len(getattr(found, "shape", ())) > 1 and all(size == 1 for size in found.shape[1:])
        found = (found.reshape(-1) if one_each else found).tolist()
    found = [found] if isinstance(found, int | str | bytes) else list(found)
    return [int(each) if hasattr(each, "__index__") and not isinstance(each, bool) else each for each in found]


def _as_ids(values: list[Any]) -> list[int] | list[bytes]:
    """Integers as they are, anything else by its digest."""
    return values if all(type(each) is int for each in values) else [digest(each) for each in values]


_told = False


def _quietly(act: Callable[[], Any]) -> Any:
    """What it returns, or None and a line on standard error, once."""
    try:
        return act()
    except Exception as error:
        _say_once(error)
        return None


def _say_once(error: Exception) -> None:
    global _told
    if not _told:
        _told = True
        sys.stderr.write(f"loaderspec: the record has a gap: {type(error).__name__}: {error}\n")
