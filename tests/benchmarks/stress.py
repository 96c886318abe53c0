"""Does an asynchronous loader ever hang, or leave anything behind? Thousands are made, and few come to a quiet end.

    python -m tests.benchmarks.stress --loaders 3000 --sharing file_system

Each is read, left, dropped, refused, interrupted (once or twice), or killed, beside a load that keeps the processors
busy (`fates.py` draws it, `stressed.py` does it); datasets raise, die, hang, and close what they have open. After
each one its process counts its descriptors, processes, threads and temporary files, and when that process has ended
its processes and torch's segments of shared memory are looked for. Nobody is waited for longer than --patience
seconds. With the same seed the same fates come; moments differ. The exit code is 1 if anything hung, was left or was
wrong.
"""

import argparse
import contextlib
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from conformance.processes.descendants import adopt_orphans, children, direct_children, end_strays, listed, text_of
from tests.benchmarks.fates import Fate, draw
from tests.benchmarks.stressed import WRONG, host

_A_PROCESS = 50  # loaders, one after the other, unless it ends before
_SHARED_MEMORY = Path("/dev/shm")


@dataclass
class Tally:
    """What was seen: how loaders ended, and what was wrong, each with its fate."""

    outcomes: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    longest: float = 0.0

    def add(self, other: "Tally") -> None:
        """What another one has seen."""
        self.outcomes += other.outcomes
        self.wrong += other.wrong
        self.longest = max(self.longest, other.longest)

    def note(self, fate: Fate, came: str, left: Sequence[str] = ()) -> None:
        """One loader has come to its end."""
        self.outcomes[f"{fate.end}: {came}" if not came.startswith(WRONG) else WRONG] += 1
        if came.startswith((WRONG, "HANGS")):
            self.wrong.append(f"{came} {fate}")
        if left:
            self.wrong.append(f"LEFT {', '.join(left)} {fate}")


def stress(fates: Sequence[Fate], sharing: str, patience: float, errors: Path) -> Tally:
    """Let all loaders live and end: in one process, and when it has ended, in another one that goes on."""
    tally = Tally()
    known = set(direct_children(os.getpid()))
    begun = 0
    while begun < len(fates):
        some = fates[begun:]
        some = some[: 1 + next((at for at, fate in enumerate(some) if fate.ends_process), len(some))]
        count = _one_process(some, sharing, patience, errors, tally)
        begun += count
        if left := _processes_left(known, patience):
            tally.wrong.append(f"LEFT, of a process that has ended: {', '.join(left)} {some[count - 1]}")
        end_strays(known)
    return tally


def _one_process(fates: Sequence[Fate], sharing: str, patience: float, errors: Path, tally: Tally) -> int:
    """Start a process, send it what its loaders are to get, and end it; how many loaders it had."""
    context = get_context("fork")
    line, theirs = context.Pipe()
    child = context.Process(target=host, args=(theirs, fates, sharing, str(errors)))
    child.start()
    theirs.close()
    assert child.pid is not None
    with contextlib.suppress(OSError):
        os.setpgid(child.pid, child.pid)
    try:
        for count, fate in enumerate(fates, 1):
            began = time.monotonic()
            try:
                told = _follow(line, fate, child.pid, patience)
            except EOFError:
                tally.note(fate, f"{WRONG}its process died")
                return count
            tally.longest = max(tally.longest, time.monotonic() - began)
            if told is None:
                _show_where_it_stands(child.pid)
                tally.note(fate, "HANGS")
                return count
            tally.note(fate, *told)
        child.join(patience)
        if child.is_alive():
            _show_where_it_stands(child.pid)
            tally.note(fates[-1], "HANGS at the end of its process")
        return len(fates)
    finally:
        child.kill()
        child.join()
        line.close()


def _follow(line: Any, fate: Fate, pid: int, patience: float) -> tuple[str, list[str]] | None:
    """Send a loader what it is to get; what came of it, or None if nothing did within the patience."""
    if not line.poll(patience):
        return None
    line.recv()
    for delay in fate.delays:
        if line.poll(delay):
            break
        if fate.end == "killed":
            os.kill(pid, signal.SIGKILL)
            return "killed", []
        # As from a terminal: to all that are in the group.
        os.killpg(pid, signal.SIGINT)
    if not line.poll(patience):
        return None
    came, left = line.recv()
    return came, left


def _show_where_it_stands(pid: int) -> None:
    """Let the process write the stacks of its threads to its error file."""
    os.kill(pid, signal.SIGUSR1)
    time.sleep(1.0)


def _processes_left(known: set[int], patience: float) -> list[str]:
    """What has lost its parent, and does not end."""
    deadline = time.monotonic() + patience
    while left := [
        process
        for child in direct_children(os.getpid())
        if child not in known
        for process in (child, *children(child))
        if text_of(f"/proc/{process}/stat").rpartition(")")[2].split()[:1] not in ([], ["Z"])
    ]:
        if time.monotonic() > deadline:
            return [f"process {text_of(f'/proc/{process}/comm').strip()} {process}" for process in left]
        time.sleep(0.02)
    return []


def _segments_left(before: set[str], patience: float) -> list[str]:
    """New segments of shared memory that no process has mapped, and that do not go: ours, or a neighbour's."""
    deadline = time.monotonic() + patience
    while left := [name for name in _segments() - before if not _is_used(name)]:
        if time.monotonic() > deadline:
            return [f"LEFT segment {name}" for name in left]
        time.sleep(0.1)
    return []


def _segments() -> set[str]:
    return {name for name in listed(str(_SHARED_MEMORY)) if name.startswith("torch_")}


def _is_used(name: str) -> bool:
    processes = [each for each in listed("/proc") if each.isdigit()]
    return any(f"{_SHARED_MEMORY}/{name}" in text_of(f"/proc/{process}/maps") for process in processes)


@contextlib.contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep so many processors busy meanwhile."""
    context = get_context("fork")
    processes = [context.Process(target=_turn, daemon=True) for _ in range(count)]
    for process in processes:
        process.start()
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.join()


def _turn() -> None:
    while os.getppid() != 1:
        sum(range(10_000))


def _progress(tally: Tally, count: int) -> None:
    if sys.stderr.isatty():
        done = sum(tally.outcomes.values())
        print(f"\r\033[K{done} of {count}, {len(tally.wrong)} wrong", end="", file=sys.stderr, flush=True)


def main(words: Sequence[str] | None = None) -> int:
    """Run, and say what was seen. The exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loaders", type=int, default=3000, help="how many (default 3000)")
    parser.add_argument("--sharing", choices=("file_system", "file_descriptor"), default="file_descriptor")
    parser.add_argument("--seed", type=int, default=0, help="another seed draws other fates (default 0)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first loader (default 0)")
    parser.add_argument("--at-once", type=int, default=6, help="how many live at once, each by itself (default 6)")
    parser.add_argument("--busy", type=int, default=os.cpu_count(), help="processes of the load (default: as cores)")
    parser.add_argument("--patience", type=float, default=120.0, help="seconds for a loader (default 120)")
    parser.add_argument("--errors", type=Path, help="a file for what the processes print to stderr")
    asked = parser.parse_args(words)
    fates = [draw(asked.seed, number) for number in range(asked.first, asked.first + asked.loaders)]
    began = time.monotonic()
    tally, before = Tally(), _segments()
    with tempfile.TemporaryDirectory(prefix="stress-") as folder, busy(asked.busy):
        # Each has a folder in it.
        tempfile.tempdir = os.environ["TMPDIR"] = folder
        errors = asked.errors or Path(folder, "errors")
        parts = [fates[at : at + _A_PROCESS] for at in range(0, len(fates), _A_PROCESS)]
        with ProcessPoolExecutor(asked.at_once, get_context("fork"), adopt_orphans) as streams:
            for found in streams.map(
                partial(stress, sharing=asked.sharing, patience=asked.patience, errors=errors), parts
            ):
                tally.add(found)
                _progress(tally, len(fates))
    # torch keeps those of a process that was killed until all are gone that have shared memory with it.
    tally.wrong += _segments_left(before, asked.patience)
    for outcome, count in sorted(tally.outcomes.items()):
        print(f"{count:6}  {outcome}")
    for wrong in tally.wrong:
        print(wrong)
    print(
        f"{asked.sharing}: {sum(tally.outcomes.values())} loaders, {len(tally.wrong)} hung, left something or were "
        f"wrong; the longest took {tally.longest:.1f} s, all {time.monotonic() - began:.0f} s"
    )
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
