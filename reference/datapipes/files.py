"""Decides how files are listed and opened through fsspec, which knows local disks, S3, HTTP and many others.

What a path means, and which further arguments there are, is fsspec's; it is imported when the first path is read.
"""

from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from importlib import import_module
from typing import Any

from torch.utils.data import IterDataPipe, functional_datapipe
from torch.utils.data.datapipes.utils.common import StreamWrapper


def _file_system(path: str, options: dict[str, Any]) -> tuple[Any, str]:
    """What serves a path, and the path as that knows it. Raises ModuleNotFoundError without fsspec."""
    try:
        core = import_module("fsspec.core")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"fsspec is needed to read {path}: pip install fsspec.") from error
    system, known = core.url_to_fs(path, **options)
    return system, str(known)


@functional_datapipe("list_files_by_fsspec")
class FSSpecFileLister(IterDataPipe[Any]):
    """Yields the paths in the folders `root`, one or many, whose names fit one of the `masks`, sorted."""

    def __init__(
        self, root: str | Sequence[str] | IterDataPipe[Any], masks: str | Sequence[str] = "", **kwargs: Any
    ) -> None:
        super().__init__()
        self.root: Any = [root] if isinstance(root, str) else root
        self.masks = [masks] if isinstance(masks, str) else list(masks)
        self.kwargs = kwargs

    def __iter__(self) -> Iterator[str]:
        for root in self.root:
            system, folder = _file_system(root, self.kwargs)
            found = [folder] if system.isfile(folder) else sorted(system.ls(folder, detail=False))
            for path in found:
                name = path.rstrip("/").rpartition("/")[2]
                if any(not mask or fnmatch(name, mask) for mask in self.masks):
                    yield system.unstrip_protocol(path) if "://" in root else path


@functional_datapipe("open_files_by_fsspec")
class FSSpecFileOpener(IterDataPipe[Any]):
    """Yields (path, stream) for each path; `kwargs_for_open` goes to the `open` of the file system."""

    def __init__(
        self,
        source_datapipe: IterDataPipe[str],
        mode: str = "r",
        *,
        kwargs_for_open: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        self.source_datapipe, self.mode = source_datapipe, mode
        self.kwargs_for_open, self.kwargs = kwargs_for_open or {}, kwargs

    def __iter__(self) -> Iterator[Any]:
        for path in self.source_datapipe:
            system, known = _file_system(path, self.kwargs)
            yield path, StreamWrapper(system.open(known, self.mode, **self.kwargs_for_open))

    def __len__(self) -> int:
        return len(self.source_datapipe)
