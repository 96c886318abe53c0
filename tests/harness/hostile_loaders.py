"""Loaders that do to their process what no loader should; an adapter file each would hide how alike they are."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

BATCHES = [[1000, 1001], [1002, 1003]]


def hangs(request: Any) -> Any:
    """Wait for what never comes."""
    threading.Event().wait()


def hangs_deaf(request: Any) -> Any:
    """Wait for what never comes, and ignore whoever asks to stop."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    threading.Event().wait()


def exits(request: Any) -> Any:
    """End the process without a word."""
    os._exit(7)


def exits_well(request: Any) -> Any:
    """End the process as if all were well."""
    os._exit(0)


def kills_itself(request: Any) -> Any:
    """End the process as the kernel does when memory is short."""
    os.kill(os.getpid(), signal.SIGKILL)


def crashes(request: Any) -> Any:
    """End the process as a fault in C code does."""
    signal.signal(signal.SIGSEGV, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGSEGV)


def prints(request: Any) -> Any:
    """Write to all outputs, by Python and past it."""
    print("NOISE" * 1000)
    sys.stderr.write("NOISE\n")
    os.write(1, b"NOISE\n")
    os.write(2, b"NOISE\n")
    return BATCHES


def closes_its_outputs(request: Any) -> Any:
    """Take away the outputs that the harness made."""
    os.closerange(0, 3)
    return BATCHES


def reads(request: Any) -> Any:
    """Ask the person."""
    return BATCHES if sys.stdin.read() == "" else []


def leaves_a_child(request: Any) -> Any:
    """Start a process and forget it."""
    subprocess.Popen([sys.executable, "-c", "import threading; threading.Event().wait()"])
    return BATCHES


def leaves_a_daemon(request: Any) -> Any:
    """Start a process that leaves the session and the parent, as a daemon does."""
    child = os.fork()
    if child == 0:
        os.setsid()
        if os.fork() == 0:
            for descriptor in range(3, 64):
                with suppress(OSError):
                    os.close(descriptor)
            threading.Event().wait()
        os._exit(0)
    os.waitpid(child, 0)
    return BATCHES


def leaves_a_child_and_exits(request: Any) -> Any:
    """Start a process, forget it, and end."""
    leaves_a_child(request)
    os._exit(7)


def leaves_a_thread(request: Any) -> Any:
    """Start a thread that keeps the interpreter alive."""
    threading.Thread(target=threading.Event().wait).start()
    return BATCHES


def changes_the_folder(request: Any) -> Any:
    """Go elsewhere, and leave other defaults behind."""
    os.chdir("/")
    os.umask(0o777)
    os.environ.clear()
    return BATCHES


def raises_keyboard_interrupt(request: Any) -> Any:
    """Behave as if the person had pressed a key."""
    raise KeyboardInterrupt


ENDINGS: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    "hangs": (hangs, "hung", "no answer within 0.5 s"),
    "hangs_deaf": (hangs_deaf, "hung", "no answer within 0.5 s"),
    "exits": (exits, "died", "the process ended with exit code 7"),
    "exits_well": (exits_well, "died", "the process ended with exit code 0"),
    "kills_itself": (kills_itself, "died", "the process ended with signal SIGKILL"),
    "crashes": (crashes, "died", "the process ended with signal SIGSEGV"),
    "raises_keyboard_interrupt": (raises_keyboard_interrupt, "raised", "KeyboardInterrupt"),
    "leaves_a_child_and_exits": (leaves_a_child_and_exits, "died", "the process ended with exit code 7"),
}

HARMLESS = {
    function.__name__: function
    for function in (
        prints,
        closes_its_outputs,
        reads,
        leaves_a_child,
        leaves_a_daemon,
        leaves_a_thread,
        changes_the_folder,
    )
}
