"""Pipes that read archives and compressed files, list and open files by fsspec, and keep what they fetch on disk."""

import bz2
import fcntl
import gzip
import hashlib
import io
import lzma
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from torch.utils.data import IterDataPipe
from torch.utils.data.datapipes.iter import IterableWrapper

from reference.dataloader2 import DataLoader2
from reference.pipelines.adapters import CacheTimeout
from tests.reference.pipelines.pipe_probes import over_workers

FILES = {"a.txt": b"one", "folder/b.txt": b"two"}


def contents(pipe: Any) -> list[tuple[str, bytes]]:
    """All that comes, read at once, as a stream may be gone later."""
    return [(path, stream.read()) for path, stream in pipe]


@pytest.fixture(params=["r:*", "gz", "unsearchable"])
def tar(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """A tar archive, as `open_files` gives it."""
    path = tmp_path / "all.tar"
    with tarfile.open(path, "w:gz" if request.param == "gz" else "w") as archive:
        for name, data in FILES.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
        archive.addfile(_folder())
    with path.open("rb") as stream:
        yield IterableWrapper([(str(path), Unsearchable(stream) if request.param == "unsearchable" else stream)], False)


def _folder() -> tarfile.TarInfo:
    folder = tarfile.TarInfo("empty")
    folder.type = tarfile.DIRTYPE
    return folder


class Unsearchable:
    """A stream that can be read once, like one of a network."""

    def __init__(self, stream: Any) -> None:
        self.read = stream.read


def test_a_tar_archive_is_its_files(tar: Any) -> None:
    """Folders are none; their paths go on behind the archive's."""
    found = contents(tar.load_from_tar(length=2))
    assert list(FILES.values()) == [data for _, data in found]
    assert [path.partition("all.tar/")[2] for path, _ in found] == list(FILES)
    assert 2 == len(tar.load_from_tar(length=2))
    with pytest.raises(TypeError, match="not known before"):
        len(tar.load_from_tar())


def test_a_zip_archive_is_its_files(tmp_path: Path) -> None:
    """As a tar archive is."""
    path = tmp_path / "all.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.mkdir("empty")
        for name, data in FILES.items():
            archive.writestr(name, data)
    pipe = IterableWrapper([str(path)]).open_files(mode="b").load_from_zip()
    assert [(f"{path}/{name}", data) for name, data in FILES.items()] == contents(pipe)


@pytest.mark.parametrize(("name", "compress"), [("x.gz", gzip), ("x.xz", lzma), ("x.bz2", bz2)])
def test_streams_are_decompressed(name: str, compress: Any, tmp_path: Path) -> None:
    """As the end of the name says."""
    path = tmp_path / name
    path.write_bytes(compress.compress(b"lines\nof it\n"))
    pipe = IterableWrapper([str(path)]).open_files(mode="b").decompress()
    assert [(str(path), b"lines\nof it\n")] == contents(pipe)
    assert ["lines", "of it"] == list(pipe.readlines(decode=True, return_path=False))


def test_how_a_file_is_compressed_must_be_known() -> None:
    """From its name, or from the caller."""
    stream = [("x", io.BytesIO(gzip.compress(b"it")))]
    with pytest.raises(ValueError, match="file_type"):
        list(IterableWrapper(stream).decompress())
    assert [("x", b"it")] == contents(IterableWrapper(stream).decompress("gzip"))
    with pytest.raises(ValueError, match="load_from_tar"):
        IterableWrapper(stream).decompress("tar")


def test_files_are_listed_and_opened_by_fsspec(tmp_path: Path) -> None:
    """Locally, and wherever fsspec can."""
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")
    for name in ("b.txt", "a.txt", "c.csv"):
        (tmp_path / name).write_text(name)
    from reference.datapipes import FSSpecFileLister

    pipe = FSSpecFileLister(str(tmp_path), masks=["*.txt"]).open_files_by_fsspec()
    assert [(str(tmp_path / name), name) for name in ("a.txt", "b.txt")] == contents(pipe)
    with fsspec.open("memory://folder/d.txt", "wb") as file:
        file.write(b"far")
    pipe = IterableWrapper(["memory://folder"]).list_files_by_fsspec().open_files_by_fsspec(mode="rb")
    assert [("memory:///folder/d.txt", b"far")] == contents(pipe)


class Fetched(IterDataPipe[Any]):
    """Gives (name, stream) for a name, and notes in a file what was fetched; `fails` is one that can't be."""

    def __init__(self, source: Any, log: Path, fails: str = "") -> None:
        self.source, self.log, self.fails = source, log, fails

    def __iter__(self) -> Iterator[Any]:
        for name in self.source:
            if name == self.fails:
                raise OSError("no network")
            with self.log.open("a") as log:
                log.write(f"{name}\n")
            yield name, io.BytesIO(name.encode() * 2)


class Placed:
    """Where files belong."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, name: str) -> str:
        return str(self.folder / name)


def cached(folder: Path, names: list[str], fails: str = "", **more: Any) -> Any:
    """A pipe of paths of files that are fetched once."""
    pipe = IterableWrapper(names).on_disk_cache(filepath_fn=Placed(folder / "cache"), **more)
    return Fetched(pipe, folder / "log", fails).end_caching(same_filepath_fn=True)


def fetched(folder: Path) -> list[str]:
    """What was fetched, in order."""
    return (folder / "log").read_text().split()


def test_a_file_is_fetched_once(tmp_path: Path) -> None:
    """In the first epoch; a new name is fetched later. Nothing but the files is left."""
    pipe = cached(tmp_path, ["a", "b"])
    paths = [str(tmp_path / "cache" / name) for name in ("a", "b", "c")]
    assert [paths[:2]] * 2 == [list(pipe), list(pipe)]
    assert [paths[2], *paths[:2]] == list(cached(tmp_path, ["a", "b", "c"]))
    assert ["a", "b", "c"] == fetched(tmp_path)
    assert {"a": b"aa", "b": b"bb", "c": b"cc"} == {
        path.name: path.read_bytes() for path in (tmp_path / "cache").iterdir()
    }


def test_a_fetch_that_failed_leaves_nothing(tmp_path: Path) -> None:
    """What was fetched before is there, and the next run goes on."""
    with pytest.raises(OSError, match="no network"):
        list(cached(tmp_path, ["a", "b"], fails="b"))
    assert ["a"] == [path.name for path in (tmp_path / "cache").iterdir()]
    assert 2 == len(list(cached(tmp_path, ["a", "b"])))
    assert ["a", "b"] == fetched(tmp_path)


def test_a_wrong_digest_is_fetched_again_or_refused(tmp_path: Path) -> None:
    """A file that was changed is fetched again; a source that gives something else is an error."""
    digest = hashlib.sha256(b"aa").hexdigest()
    wanted = {str(tmp_path / "cache" / "a"): digest}
    list(cached(tmp_path, ["a"], hash_dict=wanted))
    (tmp_path / "cache" / "a").write_bytes(b"spoilt")
    list(cached(tmp_path, ["a"], hash_dict=wanted))
    assert ["a", "a"] == fetched(tmp_path)
    with pytest.raises(ValueError, match="has not the sha256"):
        list(cached(tmp_path, ["b"], hash_dict={str(tmp_path / "cache" / "b"): digest}))


def parts(name: str, stream: Any) -> list[Any]:
    """Two files of one."""
    return [(f"{name}-{at}", io.BytesIO(stream.read() + bytes(str(at), "ascii"))) for at in range(2)]


def test_one_element_may_become_many_files(tmp_path: Path) -> None:
    """All of them are known by the element's path, so none is fetched again."""

    def pipe(names: list[str]) -> Any:
        begun = IterableWrapper(names).on_disk_cache(filepath_fn=Placed(tmp_path / "cache"))
        opened = Fetched(begun, tmp_path / "log").flatmap(parts, input_col=[0, 1])
        return opened.end_caching(filepath_fn=Placed(tmp_path / "cache"))

    expected = [str(tmp_path / "cache" / name) for name in ("a-0", "a-1", "b-0", "b-1")]
    assert expected == list(pipe(["a", "b"])) == list(pipe(["a", "b"]))
    assert ["a", "b"] == fetched(tmp_path)


def test_elements_that_are_read_ahead_may_be_cached(tmp_path: Path) -> None:
    """Each file is known by its own path."""
    begun = IterableWrapper(list("abcdef")).on_disk_cache(filepath_fn=Placed(tmp_path / "cache"))
    pipe = Fetched(begun, tmp_path / "log").prefetch(4).end_caching(same_filepath_fn=True)
    assert [6, 6] == [len(list(pipe)), len(list(pipe))]
    assert list("abcdef") == fetched(tmp_path)


def test_workers_that_want_the_same_files_fetch_each_once(tmp_path: Path) -> None:
    """Nothing shards here, so both workers want all of them."""
    with over_workers(cached(tmp_path, list("abcdefgh")), 2) as loader:
        paths = sorted(loader)
    assert sorted(2 * [str(tmp_path / "cache" / name) for name in "abcdefgh"]) == paths
    assert list("abcdefgh") == sorted(fetched(tmp_path))


def test_the_wait_for_another_process_is_bounded(tmp_path: Path) -> None:
    """By the adapter, for all caches of a graph."""
    (tmp_path / "cache").mkdir()
    with (tmp_path / "cache" / "a.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(TimeoutError, match="has not ended within 0 seconds"):
            list(DataLoader2(cached(tmp_path, ["a"]), CacheTimeout(0)))
    assert 1 == len(list(cached(tmp_path, ["a"])))
    with pytest.raises(ValueError, match="timeout"):
        CacheTimeout(-1)


def test_an_end_needs_a_beginning() -> None:
    """And two ways to say the path are one too many."""
    with pytest.raises(RuntimeError, match="on_disk_cache"):
        IterableWrapper([]).end_caching()
    with pytest.raises(ValueError, match="Give one"):
        IterableWrapper([]).on_disk_cache().end_caching(filepath_fn=str, same_filepath_fn=True)
