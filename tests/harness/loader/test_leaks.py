"""What counts as left behind by a loader that is gone."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.loader import leaks

# Its names hold no number, and it opens nothing: it is a child of this process, and yet not to be told from a stranger.
_NEIGHBOUR = """
import itertools, os, time
print("here", flush=True)
for letters in itertools.islice(itertools.product("abcdefghijklm", repeat=3), 2000):
    os.mknod("/dev/shm/neighbour-" + "".join(letters))
    time.sleep(0.005)
"""


@pytest.fixture
def neighbour() -> Iterator[None]:
    """Another program of the machine, which writes file after file into /dev/shm."""
    process = subprocess.Popen([sys.executable, "-c", _NEIGHBOUR], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        yield
    finally:
        process.kill()
        process.communicate()
        for path in Path("/dev/shm").glob("neighbour-*"):
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
