"""Output of many programs comes out line by line, whole and with a tag (LAUNCH-8)."""

import fcntl
import os
import struct
import termios
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import IO

import pytest

from reference.launch.tagging import TaggedOutput

LARGE = 1_000_000
PATIENCE = 60


@pytest.fixture
def sink(tmp_path: Path) -> Iterator[IO[bytes]]:
    """A file for the lines."""
    with open(tmp_path / "lines", "w+b") as file:
        yield file


def wait_until_read(pipe: int) -> None:
    """Return when nothing is in the pipe any more: what comes next is another piece."""
    end = monotonic() + PATIENCE
    while struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4))[0]:
        assert monotonic() < end, "nobody reads the pipe"
        sleep(0.001)


def written(sink: IO[bytes], pieces: list[tuple[int, str, str]], indices: list[int]) -> list[str]:
    """The lines that come of pieces, each written by an instance to a stream."""
    output = TaggedOutput(indices, (sink.fileno(), sink.fileno()))
    streams = {(index, name): open(output.path(index, name), "w") for index, name in {piece[:2] for piece in pieces}}  # noqa: SIM115
    for index, name, text in pieces:
        streams[index, name].write(text)
        streams[index, name].flush()
        if index in indices:
            wait_until_read(streams[index, name].fileno())
    for stream in streams.values():
        stream.close()
    output.close()
    sink.seek(0)
    return sink.read().decode().splitlines()


def test_a_line_that_comes_in_pieces_is_one_line(sink: IO[bytes]) -> None:
    """Whatever another program writes meanwhile."""
    pieces = [(0, "stdout", "loss 0."), (1, "stdout", "other\n"), (0, "stdout", "25\nnext"), (0, "stdout", "\n")]
    assert ["[1,0]<stdout>:loss 0.25", "[1,0]<stdout>:next", "[1,1]<stdout>:other"] == sorted(
        written(sink, pieces, [0, 1])
    )


def test_a_last_line_needs_no_end(sink: IO[bytes]) -> None:
    """It gets one."""
    assert ["[1,2]<stderr>:failed"] == written(sink, [(2, "stderr", "failed")], [2])


def test_an_empty_line_is_a_line(sink: IO[bytes]) -> None:
    """With its tag, as every other."""
    assert ["[1,0]<stdout>:", "[1,0]<stdout>:a", "[1,0]<stdout>:"] == written(sink, [(0, "stdout", "\na\n\n")], [0])


def test_a_line_may_be_larger_than_a_pipe(sink: IO[bytes]) -> None:
    """It is collected until its end has come."""
    lines = written(sink, [(0, "stdout", "x" * LARGE + "\n"), (0, "stderr", "y" * LARGE)], [0])
    assert ["[1,0]<stderr>:" + "y" * LARGE, "[1,0]<stdout>:" + "x" * LARGE] == sorted(lines)


def test_what_is_not_shown_is_thrown_away(sink: IO[bytes]) -> None:
    """Only instance 1 is asked for."""
    assert ["[1,1]<stdout>:b"] == written(sink, [(0, "stdout", "a\n"), (1, "stdout", "b\n")], [1])


def test_programs_run_on_when_nobody_reads() -> None:
    """The launcher's own stream is gone; nothing blocks."""
    reader, writer = os.pipe()
    os.close(reader)
    output = TaggedOutput([0], (writer, writer))
    with open(output.path(0, "stdout"), "w") as stream:
        stream.write("x\n" * LARGE)
    output.close()
    os.close(writer)
