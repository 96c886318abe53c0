"""A run whose processes are ended by the loader, or by the kernel, is INVALID and not violated."""

from pathlib import Path

import pytest

from tests.harness import runs
from tests.harness.proc import needs_proc

# Ends the process that imported it, and from which all ranks are forked: as the kernel does that is short of memory.
ADAPTER = """
import os, signal

claims = dict(when_keeping="uneven")

def load(request):
    if len(request.dataset) == 3:
        os.kill(os.getppid(), signal.SIGKILL)
    return Steps(request)

class Steps:
    def __init__(self, request):
        self.request = request

    def __iter__(self):
        request = self.request
        for index in range(request.rank, len(request.dataset), request.world_size):
            yield [request.dataset[index]]
"""
SENTENCE = "the implementation's process was killed by SIGKILL while"


@pytest.fixture
def adapter(tmp_path: Path) -> str:
    """The adapter's file."""
    (tmp_path / "adapter.py").write_text(ADAPTER)
    return "adapter.py"


@needs_proc
@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["alone", "two processes"])
def test_pytest_ends_with_the_code_of_a_wrong_adapter(
    options: tuple[str, ...], adapter: str, tmp_path: Path, installed: Path
) -> None:
    """Exit code 4 and one sentence; what was not judged after it is skipped."""
    ran = runs.run_pytest(tmp_path, f"--impl={adapter}", "--tier=quick", "-k", "PART", *options, installed=installed)
    assert 4 == ran.code, ran.out + ran.err
    assert SENTENCE in " ".join(ran.out.split())
    assert "VIOLATED" not in ran.out
    assert "Traceback" not in ran.out + ran.err


@needs_proc
def test_the_command_ends_with_the_code_of_a_wrong_adapter(adapter: str, tmp_path: Path, installed: Path) -> None:
    """Exit code 4 and one sentence."""
    ran = runs.run_command(tmp_path, "run", adapter, "--tier=quick", installed=installed)
    assert 4 == ran.code, ran.out + ran.err
    assert SENTENCE in " ".join(ran.err.split())
    assert "Traceback" not in ran.err
