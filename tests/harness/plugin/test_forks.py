"""What makes the suite's own processes quick, and what it sees of those of a loader."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from conformance.loader import leaks
from conformance.processes import huge_pages
from tests.harness.proc import needs_proc


def test_memory_in_huge_pages_is_as_it_was() -> None:
    """What a process holds is the same after it was put into huge pages."""
    held = bytearray(range(256)) * (1 << 15)
    huge_pages.gather()
    assert bytes(range(256)) * (1 << 15) == held


@contextmanager
def spinning() -> Iterator[None]:
    """A child process that never waits, and has begun."""
    child = subprocess.Popen([sys.executable, "-c", "print(1, flush=True)\nwhile True: pass"], stdout=subprocess.PIPE)
    try:
        assert child.stdout is not None
        child.stdout.readline()
        yield
    finally:
        child.kill()
        child.communicate()


@needs_proc
def test_a_process_that_never_waits_is_at_work() -> None:
    """As long as a child of it wants a processor, a loader is not taken to be quiet."""
    with spinning():
        assert leaks.at_work()


def test_a_run_of_pytest_that_is_not_ours_imports_nothing_of_ours() -> None:
    """The plugin that pytest finds imports neither numpy nor Hypothesis, nor the judges."""
    program = "import sys, conformance.plugin; print(*{'numpy', 'hypothesis', 'conformance.clauses'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "\n" == done.stdout
