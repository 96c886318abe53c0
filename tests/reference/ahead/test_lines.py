"""Lines to producers: nothing that is sent waits for room, and everything comes out in its order."""

import os
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import Pipe
from multiprocessing.reduction import recv_handle
from pathlib import Path
from typing import Any

from reference.ahead.lines import Line, wait_for
from tests.reference.ahead.async_probes import PATIENCE

LARGE = b"x" * 3_000_000  # bytes, more than a line has room for


def ends() -> tuple[Line, Any]:
    """The consumer's end of a line, and the producer's."""
    ours, theirs = Pipe()
    return Line(ours), theirs


def test_a_large_message_does_not_wait_for_its_reader() -> None:
    """What there is no room for is kept, and written when there is some."""
    line, theirs = ends()
    line.send(LARGE)
    assert line.is_behind
    with ThreadPoolExecutor(1) as reader:
        message = reader.submit(theirs.recv)
        while line.is_behind:
            wait_for([line], PATIENCE)
        assert LARGE == message.result(PATIENCE)
    line.close()


def test_messages_and_descriptors_keep_their_order(tmp_path: Path) -> None:
    """A descriptor is a copy, which the sender's own end does not close."""
    line, theirs = ends()
    file = tmp_path / "file"
    file.write_text("hello")
    with file.open() as opened:
        line.send("before")
        line.send_descriptor(opened.fileno())
        line.send("after")
    assert "before" == theirs.recv()
    got = recv_handle(theirs)
    assert b"hello" == os.read(got, 9)
    assert "after" == theirs.recv()
    os.close(got)
    line.close()


def test_descriptors_that_never_left_are_closed() -> None:
    """Hanging up forgets what is unsent, and leaves nothing open."""
    line, _ = ends()
    before = len(os.listdir("/proc/self/fd"))
    line.send(LARGE)
    with open(os.devnull) as opened:
        line.send_descriptor(opened.fileno())
    assert before + 1 == len(os.listdir("/proc/self/fd"))
    line.close()
    assert before - 1 == len(os.listdir("/proc/self/fd"))


def test_who_has_hung_up_is_sent_nothing() -> None:
    """That it has shows when something is received."""
    line, theirs = ends()
    theirs.close()
    line.send(LARGE)
    assert not line.is_behind
    assert [0] == wait_for([line], 0)
    line.close()


def test_what_came_is_found_beside_what_is_unsent() -> None:
    """A producer that tells of a failure while its own line is full is heard."""
    (line, theirs), (quiet, _) = ends(), ends()
    line.send(LARGE)
    theirs.send("failure")
    assert [1] == wait_for([quiet, line], 0)
    assert "failure" == line.connection.recv()
    line.close()
    quiet.close()
