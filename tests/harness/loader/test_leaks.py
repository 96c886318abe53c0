"""What counts as left behind by a loader that is gone."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.loader import leaks, patience
from conformance.processes import seen
from conformance.trace import RankRun

# Its names hold no number, and it opens nothing: it is a child of this process, and yet not to be told from a stranger.
_NEIGHBOUR = """
import itertools, os, sys
for letters in itertools.product("abcdefghijklm", repeat=3):
    sys.stdin.readline()
    os.mknod(sys.argv[1] + "".join(letters))
    print("written", flush=True)
"""


@pytest.fixture
def neighbour(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Another program of the machine, which writes one more file into /dev/shm before each look at what is held."""
    # Tests in other processes have neighbours as well: this one's names are its own.
    name = "neighbour-" + "".join("abcdefghij"[int(digit)] for digit in str(os.getpid())) + "-"
    process = subprocess.Popen(
        [sys.executable, "-c", _NEIGHBOUR, f"/dev/shm/{name}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    held = leaks.held

    def after_a_file(temporary: str | None) -> leaks.Resources:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "written\n"
        return held(temporary)

    monkeypatch.setattr(leaks, "held", after_a_file)
    try:
        yield
    finally:
        process.kill()
        process.communicate()
        for path in Path("/dev/shm").glob(name + "*"):
            path.unlink()


@pytest.fixture
def segment() -> Iterator[Path]:
    """A file in /dev/shm that this process has made."""
    path = Path(f"/dev/shm/mine-{os.getpid()}")
    yield path
    path.unlink(missing_ok=True)


def without_segments(folder: Path) -> leaks.Resources:
    """What is held now, as if /dev/shm were empty."""
    held = leaks.held(str(folder))
    return leaks.Resources(held.processes, held.zombies, held.descriptors, held.threads, held.files, frozenset())


def test_what_a_neighbour_leaves_is_not_ours(neighbour: None, tmp_path: Path) -> None:
    """Files of another program, which come while nothing of ours runs, are not counted."""
    assert [] == leaks.left_behind(without_segments(tmp_path), str(tmp_path), grace=3.0)


def test_what_bears_our_number_is_ours(neighbour: None, segment: Path, tmp_path: Path) -> None:
    """Beside a neighbour, a name with the number of this process is still counted."""
    segment.touch()
    left = leaks.left_behind(without_segments(tmp_path), str(tmp_path), grace=0.5)
    assert [("file", "1 shared-memory segment is left")] == left


def test_a_process_that_nobody_waits_for_is_left(tmp_path: Path) -> None:
    """A child that has ended counts as long as it is a zombie."""
    before = leaks.held(str(tmp_path))
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    left = leaks.left_behind(before, str(tmp_path), grace=0.0)
    os.waitpid(child, 0)
    assert ("process", "1 ended child process is left") in left
    assert not [told for about, told in leaks.left_behind(before, str(tmp_path), grace=0.0) if about == "process"]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Descriptors that rounds leave open; nothing is waited for, and nothing was seen before."""
    monkeypatch.setattr(patience, "GRACE", 0.0)
    monkeypatch.setattr(patience, "SHORT_GRACE", 0.0)
    monkeypatch.setattr(seen, "_ours", Counter())
    left: list[int] = []
    yield left
    for each in left:
        os.close(each)


def rounds_told(opened: list[int], leaky: int, folder: Path) -> tuple[str, ...]:
    """The remarks on a loader whose worker dies, and that leaves a descriptor in this many of its first rounds."""
    rounds = iter(range(100))

    def once() -> RankRun:
        if next(rounds) < leaky:
            opened.append(os.open(os.devnull, os.O_RDONLY))
        return RankRun(0, ())

    run = leaks.watching_leaks(once, str(folder), deadly=True)
    return tuple(told for _, told in run.remarks)


def test_a_death_at_a_bad_moment_is_no_leak(opened: list[int], tmp_path: Path) -> None:
    """What three rounds with a dying worker leave, and the fourth does not, came of the moment of the death."""
    assert rounds_told(opened, 3, tmp_path) == ()


def test_what_every_death_leaves_is_a_leak(opened: list[int], tmp_path: Path) -> None:
    """What each round with a dying worker leaves is told."""
    assert rounds_told(opened, 100, tmp_path) == ("1 open descriptor is left",)
