"""What a process holds: decides what is counted for each LEAK clause, as `loader/leaks.py` does. Linux only."""

import os
from pathlib import Path
from typing import Any


def held_processes() -> set[Any]:
    """The processes below this one, at any depth."""
    return set(children_of(os.getpid()))


def held_descriptors() -> set[Any]:
    """As many numbers as there are open descriptors."""
    return set(range(len(os.listdir("/proc/self/fd"))))


def held_threads() -> set[Any]:
    """As many numbers as there are threads."""
    return set(range(len(os.listdir("/proc/self/task"))))


def held_files() -> set[Any]:
    """The files in this process's own temporary folder, and shared-memory segments that no other process uses."""
    family = {os.getpid(), *children_of(os.getpid())}
    others = [name for name in os.listdir("/proc") if name.isdigit() and int(name) not in family]
    used = "".join(text_of(f"/proc/{process}/maps") for process in others)
    segments = [name for name in os.listdir("/dev/shm") if f"/dev/shm/{name}" not in used]
    return {*segments, *map(str, Path(os.environ["TMPDIR"]).rglob("*"))}


def held_anything() -> set[Any]:
    """All of these."""
    counted = {"process": held_processes(), "descriptor": held_descriptors(), "thread": held_threads()}
    return {(what, each) for what, held in {**counted, "file": held_files()}.items() for each in held}


def resident_bytes() -> int:
    """The memory that this process and those below it hold."""
    held = [text_of(f"/proc/{process}/statm").split()[1:2] for process in (os.getpid(), *children_of(os.getpid()))]
    return sum(int(pages) for found in held for pages in found) * os.sysconf("SC_PAGE_SIZE")


def children_of(process: int) -> list[int]:
    """The processes below a process, at any depth; one that has ended and that nobody has waited for is there too."""
    tasks = Path(f"/proc/{process}/task").glob("*/children")
    below = [int(child) for task in tasks for child in text_of(task).split()]
    return [*below, *(each for child in below for each in children_of(child))]


def text_of(path: str | Path) -> str:
    """What a file of /proc says, or nothing if its process has ended."""
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return ""
