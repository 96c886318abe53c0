"""The program that a launcher starts: decides what an instance writes down, and what it does to its job.

It is a script that needs the standard library only, so that an instance starts quickly. Its first argument is the file
with its orders; what stands after it is there to arrive unchanged. It reports by files in the folder of those orders.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

WAITS = 30.0  # seconds in which something must happen, as chapter 7 says
EVENT = "event"  # the file that is there once an instance fails, or the launcher is sent a signal
_LIVES = 4 * WAITS  # of a child that nobody ends
_LAST = 36  # lines that are written at once, and fit into a pipe
_PIECE = 1499  # bytes of a line that are written at once: no multiple of what a character has
SIZES = (0, 1, 40, 3_000, 70_000, 200_000)  # of lines of LAUNCH-8
_WIDE = (3_000, 70_000)  # those of characters that have three bytes, which a piece may cut in two
# What Python's text streams and str.splitlines() take for the end of a line, and other programs don't; a byte that is
# no UTF-8; and a line of nothing but a return.
AWKWARD = (b"10%\r20%\r30%", "f\u00fcr \u2028 \x0b \x0c \x1c \x85".encode(), b"\xff is no text", b"\r")
# What the others exit with when they are told to end: those before the one that fails, and those after it.
OWN_CODES = (1, 143)
# Works forever, as far as a launcher can see, and is told nothing of signals.
_CHILD = f"import time; time.sleep({_LIVES})"


def main(orders: Path, words: list[str]) -> int:
    """Do as ordered. The exit code of this instance."""
    given = json.loads(orders.read_text("utf-8"))
    folder, does = orders.parent, given["does"]
    processes = {"instance": os.getpid()}
    if "child" in does:
        child = subprocess.Popen([sys.executable, "-S", "-c", _CHILD], start_new_session="apart" in does)
        processes["child"] = child.pid
    _write(folder / f"started-{os.getpid()}.json", {name: [pid, birth(pid)] for name, pid in processes.items()})
    told: dict[str, Any] = {"words": words}
    if given["implementation"]:
        told |= _asked(given)
    if {"own", "saved"} & set(does):
        _exit_when_told(given, told)
    _write(folder / f"told-{os.getpid()}.json", told)
    if "lines" in does:
        write_lines(told["who"]["instance"])
        # While what was written last is still in the pipes.
        os._exit(0)
    if {"term", "int", "fails", "killed"} & set(does):
        return _until_ended(folder, given, told)
    return 0


def birth(pid: int) -> str:
    """When a process was started, in the clock ticks of /proc: with its id this names it for good. "" if it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]


def lines(instance: int, stream: str) -> Iterator[bytes]:
    """The lines that an instance writes to a stream; the last one has no end."""
    yield from _lines_in_pieces(instance, stream)
    yield from _lines_at_once(instance, stream)


def _lines_in_pieces(instance: int, stream: str) -> Iterator[bytes]:
    for number, size in enumerate(SIZES):
        character = "\u20ac" if size in _WIDE else "x"
        yield f"{instance} {stream} {number} {character * size}".encode() if size else b""
    yield from AWKWARD


def _lines_at_once(instance: int, stream: str) -> Iterator[bytes]:
    """Those with which it ends, as a program does that fails with a long traceback."""
    yield from (f"{instance} {stream} last {number} {'x' * _PIECE}".encode() for number in range(_LAST))
    yield f"{instance} {stream} is through".encode()


def write_lines(instance: int) -> None:
    """Write to both streams at once, in pieces; then the rest, each as one."""
    streams = {"stdout": sys.stdout.buffer, "stderr": sys.stderr.buffer}
    writers = [threading.Thread(target=_write_stream, args=(instance, *each)) for each in streams.items()]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    for name, stream in streams.items():
        stream.write(b"\n".join(_lines_at_once(instance, name)))
        stream.flush()


def _write_stream(instance: int, name: str, stream: IO[bytes]) -> None:
    text = b"\n".join((*_lines_in_pieces(instance, name), b""))
    for at in range(0, len(text), _PIECE):
        stream.write(text[at : at + _PIECE])
        stream.flush()


def _asked(given: dict[str, Any]) -> dict[str, Any]:
    """What the adapter's functions say in this instance."""
    # The folder of this script has modules that are no modules of a script.
    sys.path[:] = [*sys.path[1:], *(each for each in given["path"] if each not in sys.path)]
    os.chdir(given["folder"])
    from conformance.launch.asked import asked

    return asked(given["implementation"], given["samples"], Path(given["meets"]))


def failing(given: dict[str, Any]) -> int:
    """The index of the instance that fails, or -1."""
    does = given["does"]
    if not {"fails", "killed"} & set(does):
        return -1
    return 1 if "second" in does else int(given["instances"]) - 1


def _exit_when_told(given: dict[str, Any], told: dict[str, Any]) -> None:
    """From now on exit at SIGTERM with a code of its own, as what writes a checkpoint does, unless this one fails."""
    place = told.get("who", {}).get("instance", 0)
    code = OWN_CODES[place > failing(given)] if "own" in given["does"] else 0
    if place != failing(given):
        signal.signal(signal.SIGTERM, lambda number, frame: os._exit(code))


def _until_ended(folder: Path, given: dict[str, Any], told: dict[str, Any]) -> int:
    """Fail once all instances run, if that is this one's part; the others wait to be ended, or have ended."""
    does = given["does"]
    event = folder / EVENT
    if told.get("who", {}).get("instance") == failing(given):
        wait_for(lambda: len(list(folder.glob("told-*.json"))) >= given["instances"])
        if "done" in does:
            wait_for(lambda: _running(folder) == 1)
        event.touch()
        if "killed" in does:
            os.kill(os.getpid(), signal.SIGTERM if "mildly" in does else signal.SIGKILL)
        return int(given["code"])
    if "done" in does:
        return 0
    if wait_for(event.exists):
        time.sleep(WAITS)
        (folder / f"vain-{os.getpid()}").touch()
    return 0


def _running(folder: Path) -> int:
    """How many instances run."""
    started = (json.loads(path.read_text("utf-8"))["instance"] for path in folder.glob("started-*.json"))
    return sum(bool(born) and birth(pid) == born for pid, born in started)


def wait_for(condition: Callable[[], bool], seconds: float = WAITS) -> bool:
    """Wait until something is so; whether it came."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def _write(path: Path, found: dict[str, Any]) -> None:
    """Write a file that is there whole or not at all."""
    part = path.with_suffix(".part")
    part.write_text(json.dumps(found), "utf-8")
    part.rename(path)


if __name__ == "__main__":
    # Python takes the one for Ctrl-C: an instance that does nothing about it ends, as any program does.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
