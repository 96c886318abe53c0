"""Decides how archives become files, and compressed streams plain ones. Each comes as (path, stream).

What is yielded is (path, stream) again; the path of a file in an archive goes on after that of the archive.
"""

import bz2
import gzip
import lzma
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import PurePath
from posixpath import join
from typing import Any

from torch.utils.data import IterDataPipe, functional_datapipe
from torch.utils.data.datapipes.utils.common import StreamWrapper

from ..rules.checks import check_integer, show

_OPENED: dict[str, Callable[..., Any]] = {"gzip": gzip.open, "lzma": lzma.open, "bzip2": bz2.open, "bz2": bz2.open}
_SUFFIXES = {".gz": "gzip", ".xz": "lzma", ".lzma": "lzma", ".bz2": "bzip2"}


class _Archives(IterDataPipe[Any]):
    """What yields the files of archives; `length` is what `len` says of their number, or -1."""

    def __init__(self, datapipe: IterDataPipe[Any], length: int = -1) -> None:
        super().__init__()
        self.datapipe = datapipe
        self.length = check_integer("length", length, least=-1)

    def __len__(self) -> int:
        if self.length < 0:
            raise TypeError(f"How many files there are is not known before: give {type(self).__name__} a length.")
        return self.length


@functional_datapipe("load_from_tar")
class TarArchiveLoader(_Archives):
    """Yields the files in tar archives, compressed or not. A stream that can't be searched is read in one go."""

    def __init__(self, datapipe: IterDataPipe[Any], mode: str = "r:*", length: int = -1) -> None:
        super().__init__(datapipe, length)
        self.mode = mode

    def __iter__(self) -> Iterator[Any]:
        for path, stream in self.datapipe:
            can_seek = stream.seekable() if hasattr(stream, "seekable") else hasattr(stream, "seek")
            mode = self.mode if can_seek else self.mode.replace(":", "|")
            with tarfile.open(fileobj=stream, mode=mode) as archive:  # type: ignore[call-overload]
                for member in archive:
                    if member.isfile():
                        yield join(str(path), member.name), StreamWrapper(archive.extractfile(member))


@functional_datapipe("load_from_zip")
class ZipArchiveLoader(_Archives):
    """Yields the files in zip archives."""

    def __iter__(self) -> Iterator[Any]:
        for path, stream in self.datapipe:
            with zipfile.ZipFile(stream) as archive:
                for member in archive.infolist():
                    if not member.is_dir():
                        yield join(str(path), member.filename), StreamWrapper(archive.open(member))


@functional_datapipe("decompress")
class Decompressor(IterDataPipe[Any]):
    """Yields streams that decompress: gzip, lzma or bzip2, as `file_type` says, or else the end of the path."""

    def __init__(self, source_datapipe: IterDataPipe[Any], file_type: str | None = None) -> None:
        super().__init__()
        if file_type is not None and str(file_type).lower() not in _OPENED:
            raise ValueError(f"file_type is {show(file_type)}, but must be one of {', '.join(_OPENED)}. {_ELSE}")
        self.source_datapipe, self.file_type = source_datapipe, file_type

    def __iter__(self) -> Iterator[Any]:
        for path, stream in self.source_datapipe:
            kind = self.file_type or _SUFFIXES.get(PurePath(str(path)).suffix.lower())
            if kind is None:
                raise ValueError(
                    f"The name {show(path)} does not say how the file is compressed: its end should be one of "
                    f"{', '.join(_SUFFIXES)}, or give a file_type. {_ELSE}"
                )
            yield path, StreamWrapper(_OPENED[str(kind).lower()](stream))

    def __len__(self) -> int:
        return len(self.source_datapipe)


_ELSE = "Archives are read by load_from_tar and load_from_zip."
