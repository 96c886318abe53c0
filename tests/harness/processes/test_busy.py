"""A process that waits for a processor is not taken to hang."""

import subprocess
import sys

import pytest

from conformance.processes import busy
from conformance.processes.busy import Extension

_WORKS = "print(flush=True)\nwhile True: pass"
_WAITS = "import threading\nprint(flush=True)\nthreading.Event().wait()"


def asked(program: str, monkeypatch: pytest.MonkeyPatch, crowded: bool) -> list[float]:
    """What is granted to a process that runs a program, until nothing more is."""
    monkeypatch.setattr(busy, "is_crowded", lambda: crowded)
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        extension = Extension([process.pid], patience=1.0)
        granted = [extension.more()]
        while granted[-1]:
            used = busy._seconds(process.pid)
            # So long as it gets on, it is asked again when it has.
            while program == _WORKS and busy._seconds(process.pid) < used + 0.1:
                pass
            granted.append(extension.more())
        return granted
    finally:
        process.kill()
        process.communicate()


def test_what_gets_on_is_waited_for_three_times_as_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a crowded machine, and not for ever."""
    assert [0.5, 0.5, 0.5, 0.5, 0.0] == asked(_WORKS, monkeypatch, crowded=True)


def test_what_does_nothing_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    """One look later, on the most crowded machine."""
    assert [0.5, 0.0] == asked(_WAITS, monkeypatch, crowded=True)


def test_a_machine_with_time_to_spare_grants_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the process does."""
    assert [0.0] == asked(_WORKS, monkeypatch, crowded=False)
