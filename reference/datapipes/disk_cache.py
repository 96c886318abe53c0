"""Decides what is kept on disk of elements that are dear to fetch.

`source.on_disk_cache(filepath_fn=...)`, then pipes that fetch, then `.end_caching(...)`: a file that is there
is not fetched again. Each is written beside its place and moved there, so a file that is there is whole. Of several
processes that want the same file one fetches it, and the others wait; the lock that says so ends with its process. One
element may become many files: then a list beside the element's own path names them, written when all of them are there.
"""

import fcntl
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from torch.utils.data import IterDataPipe, functional_datapipe

from ..pipelines.graph import walk
from ..rules.checks import show
from .base import without

_LIST, _LOCK = ".files", ".lock"
_POLL = 0.01  # seconds between two looks at a lock


class _Locked:
    """The right to fetch a file, which one process has at a time."""

    def __init__(self, path: str) -> None:
        self.path = Path(path + _LOCK)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.descriptor: int | None = None

    def take(self) -> bool:
        """Have it, if nobody has."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        self.descriptor = descriptor
        # Another process may have removed the file that was just locked.
        if not self.path.exists() or not os.path.samestat(os.fstat(descriptor), self.path.stat()):
            self._close()
            return self.take()
        return True

    def leave(self) -> None:
        """Let others have it."""
        if self.descriptor is not None:
            with suppress(FileNotFoundError):
                self.path.unlink()
            self._close()

    def _close(self) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None


@functional_datapipe("on_disk_cache")
class OnDiskCacheHolder(IterDataPipe[Any]):
    """Where caching begins: yields the elements whose files are not there. `filepath_fn` says an element's path.

    A file counts as there if its digest is that of `hash_dict`, where one is given, and `extra_check_fn(path)` is true.
    """

    def __init__(
        self,
        source_datapipe: IterDataPipe[Any],
        filepath_fn: Callable[[Any], str] | None = None,
        hash_dict: dict[str, str] | None = None,
        hash_type: str = "sha256",
        extra_check_fn: Callable[[str], bool] | None = None,
    ) -> None:
        super().__init__()
        self.source_datapipe, self.filepath_fn = source_datapipe, filepath_fn
        self.hash_dict, self.hash_type, self.extra_check_fn = hash_dict or {}, hash_type, extra_check_fn
        self.is_ended = False
        self._begin([])

    def _begin(self, wanted: Iterable[Any]) -> None:
        self.wanted = wanted
        self.ready: list[str] = []
        self.elsewhere: list[Any] = []
        self.fetched: dict[str, _Locked] = {}
        self.parts: list[str] = []

    def path_of(self, element: Any) -> str:
        """Where an element's file belongs."""
        return str(element if self.filepath_fn is None else self.filepath_fn(element))

    def found(self, path: str) -> list[str] | None:
        """The files of a path, or None if they must be fetched."""
        names = Path(path + _LIST).read_text("utf-8").splitlines() if Path(path + _LIST).exists() else [path]
        return names if all(self._is_whole(name) for name in names) else None

    def _is_whole(self, name: str) -> bool:
        if not Path(name).exists() or not self.has_its_digest(name):
            return False
        return self.extra_check_fn is None or bool(self.extra_check_fn(name))

    def has_its_digest(self, name: str) -> bool:
        """Whether a file is what `hash_dict` says, if that says anything."""
        if name not in self.hash_dict:
            return True
        with Path(name).open("rb") as file:
            return hashlib.file_digest(file, self.hash_type).hexdigest() == self.hash_dict[name]

    def __iter__(self) -> Iterator[Any]:
        for element in self.wanted if self.is_ended else self.source_datapipe:
            path = self.path_of(element)
            if (names := self.found(path)) is not None:
                self.ready += names
                continue
            lock = _Locked(path)
            if not lock.take():
                self.elsewhere.append(element)
                continue
            if (names := self.found(path)) is not None:
                self.ready += names
                lock.leave()
                continue
            self.fetched[path] = lock
            yield element
            if self.parts:
                # All of them are there: what comes after the last one belongs to the next element.
                _write(path + _LIST, "".join(f"{name}\n" for name in self.parts), "w")
                self.parts = []
                self.fetched.pop(path).leave()

    def note(self, name: str) -> None:
        """A file is there. Raises RuntimeError if it can't be told whose it is."""
        if name in self.fetched:
            self.fetched.pop(name).leave()
        elif len(self.fetched) == 1:
            self.parts.append(name)
        else:
            raise RuntimeError(
                f"It can't be told of which element {name} is a part, because elements were read ahead: let no "
                f"prefetch, batch or shuffle stand between on_disk_cache and end_caching, or give both the same paths."
            )

    def leave(self) -> None:
        """Let others fetch what was going to be fetched here."""
        for lock in list(self.fetched.values()):
            lock.leave()
        self.fetched, self.parts = {}, []

    def __getstate__(self) -> Any:
        return without(self, wanted=[], ready=[], elsewhere=[], fetched={}, parts=[])


@functional_datapipe("end_caching")
class EndOnDiskCacheHolder(IterDataPipe[str]):
    """Where caching ends: yields the paths of files, those that were fetched first, then those that were there.

    What comes here is (name, data): a stream, which is read, or with `skip_read` the data themselves. `filepath_fn`
    makes a path of the name, `same_filepath_fn` takes the one of `on_disk_cache`. Raises TimeoutError if another
    process takes longer than `timeout` seconds for a file.
    """

    def __init__(
        self,
        datapipe: IterDataPipe[Any],
        mode: str = "wb",
        filepath_fn: Callable[[Any], str] | None = None,
        *,
        same_filepath_fn: bool = False,
        skip_read: bool = False,
        timeout: float = 300,
    ) -> None:
        super().__init__()
        if filepath_fn is not None and same_filepath_fn:
            raise ValueError("filepath_fn and same_filepath_fn are both given: which of them says the path? Give one.")
        holders = [pipe for pipe in walk(datapipe) if isinstance(pipe, OnDiskCacheHolder) and not pipe.is_ended]
        if not holders:
            raise RuntimeError("end_caching ends what on_disk_cache has begun, but that stands nowhere before it.")
        self.datapipe, self.holder = datapipe, holders[0]
        self.holder.is_ended = True
        self.mode, self.skip_read, self.timeout = mode, skip_read, timeout
        self.filepath_fn = self.holder.filepath_fn if same_filepath_fn else filepath_fn

    def set_timeout(self, timeout: float) -> None:
        """Wait that many seconds for a file that another process fetches."""
        self.timeout = timeout

    def __iter__(self) -> Iterator[str]:
        wanted: Iterable[Any] = self.holder.source_datapipe
        there = list[str]()
        try:
            while True:
                self.holder._begin(wanted)
                for name, data in self.datapipe:
                    yield self._written(name, data)
                self.holder.leave()
                there += self.holder.ready
                wanted = self.holder.elsewhere
                if not wanted:
                    break
                # What another process has failed to fetch is fetched here, in the next round.
                self._wait(wanted)
        finally:
            self.holder.leave()
        yield from there

    def _written(self, name: Any, data: Any) -> str:
        path = str(name if self.filepath_fn is None else self.filepath_fn(name))
        content = data if self.skip_read else _read(data, "t" in self.mode)
        _write(path, content, self.mode)
        if not self.holder.has_its_digest(path):
            raise ValueError(f"{path} has not the {self.holder.hash_type} that hash_dict says: is the source the same?")
        self.holder.note(path)
        return path

    def _wait(self, elements: Iterable[Any]) -> None:
        for element in elements:
            lock, deadline = _Locked(self.holder.path_of(element)), monotonic() + self.timeout
            while not lock.take():
                if monotonic() >= deadline:
                    raise TimeoutError(
                        f"Another process fetches {self.holder.path_of(element)}, and has not ended within "
                        f"{show(self.timeout)} seconds: give end_caching, or the adapter CacheTimeout, more of them."
                    )
                sleep(_POLL)
            lock.leave()


def _read(stream: Any, is_text: bool) -> Any:
    """All that is in a stream, or in what yields parts of it; it is closed."""
    parts = list(stream)
    if callable(getattr(stream, "close", None)):
        stream.close()
    return ("" if is_text else b"").join(parts)


def _write(path: str, content: Any, mode: str) -> None:
    """Write a file beside its place, and move it there."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        with beside.open(mode.replace("a", "w"), encoding=None if "b" in mode else "utf-8") as file:
            file.write(content)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)
