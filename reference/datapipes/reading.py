"""Decides how open files become lines, rows and objects. Each file comes as (path, stream), as `open_files` gives it.

A stream is closed when it was read, and when reading stops in the middle. Bytes that are no text are an error, unless
`errors` says otherwise.
"""

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

from torch.utils.data import IterDataPipe, functional_datapipe

from ..rules.checks import check_integer


@contextmanager
def _closing(stream: Any) -> Iterator[Any]:
    """Close what can be closed, however it was left."""
    try:
        yield stream
    finally:
        if callable(getattr(stream, "close", None)):
            stream.close()


def _decoded(lines: Iterable[Any], encoding: str, errors: str) -> Iterator[str]:
    for line in lines:
        yield line.decode(encoding, errors) if isinstance(line, bytes) else line


@functional_datapipe("readlines")
class LineReader(IterDataPipe[Any]):
    """Yields (path, line) for each line, or the line alone; as bytes or text, as the file was opened, or decoded."""

    def __init__(
        self,
        source_datapipe: IterDataPipe[Any],
        *,
        skip_lines: int = 0,
        strip_newline: bool = True,
        decode: bool = False,
        encoding: str = "utf-8",
        errors: str = "strict",
        return_path: bool = True,
    ) -> None:
        super().__init__()
        self.source_datapipe = source_datapipe
        self.skip_lines = check_integer("skip_lines", skip_lines, least=0)
        self.strip_newline, self.decode, self.return_path = strip_newline, decode, return_path
        self.encoding, self.errors = encoding, errors

    def __iter__(self) -> Iterator[Any]:
        for path, stream in self.source_datapipe:
            with _closing(stream):
                lines: Iterator[Any] = islice(stream, self.skip_lines, None)
                lines = _decoded(lines, self.encoding, self.errors) if self.decode else lines
                for line in lines:
                    if self.strip_newline:
                        ends: Any = b"\r\n" if isinstance(line, bytes) else "\r\n"
                        line = line.strip(ends)
                    yield (path, line) if self.return_path else line


class _Rows(IterDataPipe[Any]):
    """What the two parsers of CSV share; `reader` is the one of the standard library."""

    reader: Callable[..., Any]

    def __init__(
        self,
        source_datapipe: IterDataPipe[Any],
        *,
        skip_lines: int = 0,
        decode: bool = True,
        encoding: str = "utf-8",
        errors: str = "strict",
        return_path: bool = False,
        **fmtparams: Any,
    ) -> None:
        super().__init__()
        self.source_datapipe = source_datapipe
        self.skip_lines = check_integer("skip_lines", skip_lines, least=0)
        self.decode, self.encoding, self.errors = decode, encoding, errors
        self.return_path, self.fmtparams = return_path, fmtparams

    def __iter__(self) -> Iterator[Any]:
        for path, stream in self.source_datapipe:
            with _closing(stream):
                lines: Iterator[Any] = islice(stream, self.skip_lines, None)
                lines = _decoded(lines, self.encoding, self.errors) if self.decode else lines
                for row in type(self).reader(lines, **self.fmtparams):
                    yield (path, self.made(row)) if self.return_path else self.made(row)

    def made(self, row: Any) -> Any:
        """What is yielded of a row."""
        return row


@functional_datapipe("parse_csv")
class CSVParser(_Rows):
    """Yields the rows of CSV files as lists of strings, or as tuples."""

    reader = staticmethod(csv.reader)

    def __init__(self, source_datapipe: IterDataPipe[Any], *, as_tuple: bool = False, **asked: Any) -> None:
        super().__init__(source_datapipe, **asked)
        self.as_tuple = as_tuple

    def made(self, row: Any) -> Any:
        """What is yielded of a row."""
        return tuple(row) if self.as_tuple else row


@functional_datapipe("parse_csv_as_dict")
class CSVDictParser(_Rows):
    """Yields the rows of CSV files as dicts, whose keys are in each file's first row."""

    reader = staticmethod(csv.DictReader)


@functional_datapipe("parse_json_files")
class JsonParser(IterDataPipe[Any]):
    """Yields (path, object) for each file of JSON; further arguments go to `json.loads`."""

    def __init__(self, source_datapipe: IterDataPipe[Any], **kwargs: Any) -> None:
        super().__init__()
        self.source_datapipe, self.kwargs = source_datapipe, kwargs

    def __iter__(self) -> Iterator[Any]:
        for path, stream in self.source_datapipe:
            with _closing(stream):
                yield path, json.loads(stream.read(), **self.kwargs)

    def __len__(self) -> int:
        return len(self.source_datapipe)
