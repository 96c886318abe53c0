"""The pipes that torch has no more: parse_csv, header, prefetch, the dispatch by itself."""

import gc
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from torch.utils.data.datapipes.iter import IterableWrapper
from torch.utils.data.datapipes.iter.sharding import SHARDING_PRIORITIES

from reference.datapipes import CSVParser, Header, Prefetcher
from tests.reference.pipelines.pipe_probes import AT, Noted, numbers, raising


@pytest.fixture
def csv_file(tmp_path: Path) -> str:
    """A file with a heading, quotes, and a line break within quotes."""
    path = tmp_path / "rows.csv"
    path.write_text('name,size\n"a, b",1\n"two\nlines",2\n', encoding="utf-8")
    return str(path)


def test_rows_are_lists_of_strings(csv_file: str) -> None:
    """As the standard library's csv reads them."""
    pipe = IterableWrapper([csv_file]).open_files(encoding="utf-8").parse_csv()
    assert [["name", "size"], ["a, b", "1"], ["two\nlines", "2"]] == list(pipe)
    assert 3 == len(list(pipe))


def test_bytes_are_decoded(csv_file: str) -> None:
    """A file that was opened in binary mode reads the same; lines can be skipped, paths kept, tuples made."""
    pipe = IterableWrapper([csv_file]).open_files(mode="b")
    assert [(csv_file, ("a, b", "1")), (csv_file, ("two\nlines", "2"))] == list(
        pipe.parse_csv(skip_lines=1, return_path=True, as_tuple=True)
    )


def test_the_dialect_is_the_callers() -> None:
    """Further arguments go to csv.reader."""
    pipe = IterableWrapper([("here", ["a;b", "c;d"])])
    assert [["a", "b"], ["c", "d"]] == list(CSVParser(pipe, delimiter=";"))


def test_bytes_that_are_no_text_are_an_error() -> None:
    """Nothing is dropped in silence, unless the caller says so."""
    pipe = IterableWrapper([("here", [b"a\xff,b"])])
    with pytest.raises(UnicodeDecodeError):
        list(pipe.parse_csv())
    assert [["a", "b"]] == list(pipe.parse_csv(errors="ignore"))


def test_files_are_closed_when_they_are_read(csv_file: str) -> None:
    """And when reading stops in the middle."""
    with Path(csv_file).open(encoding="utf-8") as stream:
        rows = iter(CSVParser(Streams(csv_file, stream)))
        next(rows)
        assert not stream.closed
        del rows
        gc.collect()
        assert stream.closed


class Streams:
    """One open file, as a source."""

    def __init__(self, path: str, stream: Any) -> None:
        self.path, self.stream = path, stream

    def __iter__(self) -> Iterator[Any]:
        yield self.path, self.stream


@pytest.mark.parametrize(("limit", "expected"), [(0, 0), (3, 3), (9, 5), (None, 5)])
def test_a_header_is_the_first_elements(limit: int | None, expected: int) -> None:
    """As many as there are, at most."""
    assert list(range(expected)) == list(numbers(5).header(limit))


def test_a_header_reads_no_more_than_it_yields(tmp_path: Path) -> None:
    """The element behind the last may be dear."""
    noted = Noted(9, tmp_path / "reads")
    assert [0, 1] == list(Header(noted, 2))
    assert [0, 1] == [number for number, _ in noted.reads()]


def test_prefetching_changes_no_order() -> None:
    """In every epoch, with any buffer."""
    for size in (1, 2, 100):
        pipe = numbers(50).prefetch(size)
        assert [list(range(50))] * 2 == [list(pipe), list(pipe)]


def test_prefetching_raises_in_its_place() -> None:
    """What was read before comes first; the thread is gone."""
    elements = iter(numbers(20).map(raising).prefetch(5))
    assert list(range(AT)) == [next(elements) for _ in range(AT)]
    with pytest.raises(ValueError, match="boom"):
        next(elements)
    assert "prefetch" not in [thread.name for thread in threading.enumerate()]


def test_prefetching_reads_a_bounded_number_ahead(tmp_path: Path) -> None:
    """One is held, and as many as the buffer takes are ahead."""
    noted = Noted(50, tmp_path / "reads")
    elements = iter(noted.prefetch(3))
    for _ in range(5):
        next(elements)
    elements.close()
    assert 5 + 3 >= len(noted.reads())


@pytest.mark.parametrize("way", ["close", "forget", "again"])
def test_prefetching_that_is_left_early_ends_its_thread(way: str) -> None:
    """However it is left."""
    pipe = numbers(5000).prefetch(3)
    elements = iter(pipe)
    assert 0 == next(elements)
    if way == "close":
        elements.close()
    elif way == "again":
        assert list(range(5000)) == list(pipe)
    del elements
    gc.collect()
    assert "prefetch" not in [thread.name for thread in threading.enumerate()]


@pytest.mark.parametrize("size", [0, -1])
def test_a_buffer_has_room(size: int) -> None:
    """Nothing can be read ahead into nothing."""
    with pytest.raises(ValueError, match="buffer_size"):
        Prefetcher(numbers(1), size)


def test_a_dispatch_alone_changes_nothing() -> None:
    """It means something to workers only, and says so where it is asked to share over ranks."""
    assert [0, 1, 2] == list(numbers(3).sharding_round_robin_dispatch(SHARDING_PRIORITIES.MULTIPROCESSING))
    with pytest.raises(NotImplementedError, match="workers only"):
        numbers(3).sharding_round_robin_dispatch(SHARDING_PRIORITIES.DISTRIBUTED)
