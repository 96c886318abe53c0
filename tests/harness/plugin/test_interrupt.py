"""A person who presses Ctrl-C: the run ends, and nothing of it is left."""

import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness import runs
from tests.harness.proc import marked, needs_proc

# Tells that the loader is being read, and waits for what never comes.
ADAPTER = """
import os, threading
PIPE = os.open(os.environ["LOADERSPEC_TEST_PIPE"], os.O_WRONLY)

def load(request):
    if len(request.dataset) != 4:
        os.write(PIPE, b"x")
        threading.Event().wait()
    return [[1000, 1001], [1002, 1003]]
"""


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A temporary folder near the root: a run does not use one whose path is too long for sockets."""
    with tempfile.TemporaryDirectory(prefix="t-", dir="/tmp") as folder:
        yield Path(folder)


def started(words: list[str], folder: Path, installed: Path, temporary: Path) -> subprocess.Popen[bytes]:
    """Start a run whose processes carry a mark, with a pipe that tells when the loader is reached."""
    mine = {"LOADERSPEC_TEST_MARK": str(folder), "TMPDIR": str(temporary)}
    return subprocess.Popen(
        [sys.executable, *words],
        cwd=folder,
        env={**runs.environment(installed), **mine, "LOADERSPEC_TEST_PIPE": str(folder / "fifo")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


COMMAND = "import sys; from conformance.cli import main; sys.exit(main())"
WAYS = {
    "pytest": ["-m", "pytest", "--pyargs", "conformance", "--impl=adapter.py", "-k", "BATCH-1"],
    "command": ["-c", COMMAND, "run", "adapter.py"],
}


@pytest.mark.deep
@needs_proc
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=lambda number: number.name)
@pytest.mark.parametrize("way", WAYS)
def test_a_run_that_is_ended_leaves_nothing(
    way: str, number: signal.Signals, tmp_path: Path, temporary: Path, installed: Path
) -> None:
    """Whoever ends the run, and however: its processes end, those that hang as well, and its files go."""
    (tmp_path / "adapter.py").write_text(ADAPTER)
    os.mkfifo(tmp_path / "fifo")
    process = started(WAYS[way], tmp_path, installed, temporary)
    with open(tmp_path / "fifo", "rb", buffering=0) as reached:
        assert b"x" == reached.read(1)
        assert [True] == [path.name.startswith("loaderspec-") for path in temporary.iterdir()]
        process.send_signal(number)
        process.wait(120)
        # The end of the pipe: the last process that held it is gone.
        while reached.read(100):
            pass
    for pid in marked(str(tmp_path)):
        wait_for(pid)
    assert [] == [path for path in temporary.iterdir() if path.name.startswith("loaderspec-")]
    assert process.returncode != 0


def wait_for(pid: int) -> None:
    """Wait until a process that is none of ours has ended."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    with os.fdopen(descriptor) as ended:
        select.select([ended], [], [])
