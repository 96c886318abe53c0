"""What is running and what is open, read from /proc: the tests of the fleet look for what it leaves behind."""

import os
from pathlib import Path

import pytest

needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc to look at processes")


def marked(mark: str) -> list[int]:
    """The processes that carry this mark in their environment, without this one."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                environment = (folder / "environ").read_bytes().split(b"\0")
            except OSError:  # it has ended, or belongs to somebody else
                continue
            if f"LOADERSPEC_TEST_MARK={mark}".encode() in environment:
                found.append(int(folder.name))
    return found


def children() -> set[int]:
    """The processes that this one started and that are not reaped."""
    found = set()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == os.getpid():
                found.add(int(folder.name))
    return found


def descriptors() -> set[str]:
    """The descriptors that this process holds open, by number."""
    return set(os.listdir("/proc/self/fd"))
