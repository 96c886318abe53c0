"""A line: whoever sends never waits, whatever the other side does, and nothing is lost or mixed up."""

import errno
import os
import select
from collections.abc import Iterator
from typing import Any

import pytest

from reference.ahead import shared_memory
from reference.ahead.line import NOTHING, Line, pair, ready

Pair = tuple[Line, Line]
MANY = 3000  # small messages: more than a line has room for


@pytest.fixture
def line() -> Iterator[Pair]:
    """Both ends of a line."""
    ends = pair()
    yield ends
    for end in ends:
        end.close()


def everything(one: Line, other: Line) -> list[Any]:
    """Return all that comes, while the other end writes what it has kept."""
    found = []
    while True:
        other.flush()
        message = one.receive()
        if message is NOTHING:
            return found
        found.append(message)


def test_who_sends_does_not_wait_for_room(line: Pair) -> None:
    """What a full line does not take is kept, and comes in its turn."""
    ours, theirs = line
    for number in range(MANY):
        ours.send(number)
    assert (bool(ours.unsent), everything(theirs, ours)) == (True, list(range(MANY)))


def test_both_may_send_at_once(line: Pair) -> None:
    """A megabyte each, before either listens."""
    ours, theirs = line
    for end, sign in ((ours, b"o"), (theirs, b"t")):
        end.send(sign * 1_000_000)
        end.send(sign)
    assert everything(ours, theirs) == [b"t" * 1_000_000, b"t"]
    assert everything(theirs, ours) == [b"o" * 1_000_000, b"o"]


def test_a_long_message_has_left_at_once(line: Pair) -> None:
    """Nobody must flush for it."""
    ours, theirs = line
    ours.send(list(range(500_000)))
    assert (len(ours.unsent), theirs.receive()) == (0, list(range(500_000)))


def test_a_message_that_has_come_in_part_is_not_waited_for(line: Pair) -> None:
    """Whoever is stopped while it writes holds up nobody."""
    ours, theirs = line
    ours.end.sendall(b"\0\0\0")
    assert theirs.receive() is NOTHING


def test_a_descriptor_comes_with_its_message(line: Pair) -> None:
    """However many messages are kept before it."""
    ours, theirs = line
    for number in range(MANY):
        ours.send(number)
    ours.send("memory", shared_memory.holding(b"12345"))
    assert everything(theirs, ours)[-1] == "memory"
    assert shared_memory.held(theirs.descriptor(), 5) == b"12345"


@pytest.mark.parametrize("unsent", [0, MANY])
def test_who_hangs_up_is_noticed_by_the_listener(line: Pair, unsent: int) -> None:
    """And not by who sends."""
    ours, theirs = line
    theirs.close()
    for number in range(1 + unsent):
        ours.send(number)
    with pytest.raises(EOFError):
        ours.receive()


def test_what_was_said_before_the_end_is_heard(line: Pair) -> None:
    """First what was said, then that nothing more will be."""
    ours, theirs = line
    ours.send("last words")
    ours.close()
    assert theirs.receive() == "last words"
    with pytest.raises(EOFError):
        theirs.receive()


def test_no_descriptor_is_left_of_a_line() -> None:
    """Whether what it was to carry was kept, was under way, or had come (LEAK-2)."""
    before = set(os.listdir("/proc/self/fd"))
    ours, theirs = pair()
    for number in range(MANY):
        ours.send(number, shared_memory.holding(b"1") if number % 100 == 0 else None)
    theirs.receive()
    ours.close()
    theirs.close()
    # Some of before may be gone: what another test let go of is closed when its garbage is collected.
    assert set() == set(os.listdir("/proc/self/fd")) - before


def test_waiting_writes_what_was_kept(line: Pair) -> None:
    """As soon as there is room."""
    ours, theirs = line
    for number in range(MANY):
        ours.send(number)
    kept = len(ours.unsent)
    while theirs.receive() is not NOTHING:
        pass
    assert (ready([ours], 0), len(ours.unsent) < kept) == ([], True)


class Held:
    """A socket that refuses descriptors: too many of this user's are under way."""

    def __init__(self, end: Any) -> None:
        self.end = end

    def __getattr__(self, name: str) -> Any:
        return getattr(self.end, name)

    def sendmsg(self, data: Any, rights: Any, flags: int) -> int:
        """Write, unless a descriptor goes with it."""
        if rights:
            raise OSError(errno.ETOOMANYREFS, "Too many references")
        return int(self.end.sendmsg(data, rights, flags))


def test_who_may_not_send_a_descriptor_does_not_ask_all_the_time(line: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is room in the line, so that it would be told at once that it may write."""
    ours, theirs = line
    free = ours.end
    ours.end = Held(free)  # type: ignore[assignment]
    ours.send("memory", shared_memory.holding(b"12345"))
    asked = []

    class Poll:
        def register(self, descriptor: int, events: int) -> None:
            asked.append(events)

        def poll(self, milliseconds: float) -> list[tuple[int, int]]:
            asked.append(milliseconds)
            ours.end = free
            return []

    monkeypatch.setattr(select, "poll", Poll)
    assert ready([ours], 60.0) == []
    assert asked[0] == select.POLLIN
    assert 0 < asked[1] < 1000
    assert (theirs.receive(), shared_memory.held(theirs.descriptor(), 5)) == ("memory", b"12345")
