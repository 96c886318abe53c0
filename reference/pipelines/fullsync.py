"""Decides how ranks agree: on the seed of an epoch, on how many elements each yields, and on who has failed.

All ranks exchange messages of one size by gloo, in rounds. A rank says what it is about to do; when two ranks are about
to do different things, all of them raise, and none waits for a message that never comes.

    begin   the seed of the epoch; rank 0's holds
    step    how many elements it has ready, and whether there are more, no more, or an error after them

In a step every rank yields the least number that one of them has ready. A rank reads at least one element before it
says so, so that each round yields something, or shows that somebody has none.
"""

import contextlib
import struct
from datetime import timedelta
from itertools import count
from time import monotonic
from typing import Any, NamedTuple, NoReturn

import torch
import torch.distributed as dist

from ..rules.checks import show

BEGIN, STEP = 1, 2
MORE, END, FAILURE = 0, 1, 2
LAST_WORDS = 2.0  # seconds in which a rank that noticed a failure may say that it is still there
_TEXT = 400
_FORMAT = f"<qqQq{_TEXT}s"
_DOING = {BEGIN: "begins", STEP: "asks for elements of"}
_numbers = count()


class Message(NamedTuple):
    """What a rank says in a round: `doing` BEGIN or STEP, `epoch` from 0; `value` is a seed or a number of elements."""

    doing: int
    epoch: int
    value: int
    state: int = MORE
    text: str = ""

    def packed(self) -> torch.Tensor:
        """As bytes of the size that all messages have."""
        text = self.text.encode()[:_TEXT]
        data = struct.pack(_FORMAT, self.doing, self.epoch, self.value, self.state, text)
        return torch.frombuffer(bytearray(data), dtype=torch.uint8)


def _unpacked(data: torch.Tensor) -> Message:
    doing, epoch, value, state, text = struct.unpack(_FORMAT, data.numpy().tobytes())
    return Message(doing, epoch, value, state, text.rstrip(b"\0").decode(errors="replace"))


def check_timeout(timeout: float) -> float:
    """Return the seconds that a rank waits for the others. Raises ValueError unless there are some."""
    if not timeout > 0:
        raise ValueError(f"timeout is {show(timeout)}, but seconds of waiting must be more than 0.")
    return timeout


def check_group() -> None:
    """Raise RuntimeError unless this process is one of a group."""
    if not (dist.is_available() and dist.is_initialized()):
        raise RuntimeError(
            "There is no process group, so nobody to agree with: call torch.distributed.init_process_group first, "
            "or leave out DistributedReadingService and fullsync."
        )


class Agreement:
    """A group of this process and the other ranks, for these messages only."""

    def __init__(self, timeout: float) -> None:
        self.timeout = timedelta(seconds=timeout)
        self.group: Any = None
        self.lost: str | None = None
        self.key = ""

    def open(self) -> None:
        """Make the group, once. Every rank must do so, in the same order."""
        if self.group is None and self.lost is None:
            check_group()
            self.rank, self.world_size = dist.get_rank(), dist.get_world_size()
            # Made late, after workers were forked: they would keep its connections open when this process is gone.
            self.group = dist.new_group(backend="gloo", timeout=self.timeout)
            self.key = f"loaderspec/pipes/{next(_numbers)}"

    def exchange(self, message: Message) -> list[Message]:
        """Tell all ranks, and return what all of them say. RuntimeError if one is gone or does something else."""
        self.open()
        if self.lost is not None:
            raise RuntimeError(self.lost)
        ours = message.packed()
        theirs = [torch.empty_like(ours) for _ in range(self.world_size)]
        try:
            dist.all_gather(theirs, ours, group=self.group)
        except (RuntimeError, ValueError) as error:
            self._find_lost(error)
        messages = [_unpacked(data) for data in theirs]
        for rank, other in enumerate(messages):
            if other[:2] != message[:2]:
                raise RuntimeError(
                    f"Rank {rank} {_DOING[other.doing]} epoch {other.epoch} while rank {self.rank} "
                    f"{_DOING[message.doing]} epoch {message.epoch}: begin epochs, and leave them early, on all "
                    f"ranks together."
                )
        return messages

    def _find_lost(self, error: Exception) -> NoReturn:
        """Name the rank that is gone: the one that has left a note, or the one that says nothing any more."""
        # PIPE-12: the others are told that this rank is there, and each closes its group, so nobody waits for long.
        self._note("lost")
        self._drop()
        deadline = monotonic() + LAST_WORDS
        if self._read_note(self.rank, deadline) == "lost":
            notes = {rank: self._read_note(rank, deadline) for rank in range(self.world_size)}
        else:
            notes = {0: "it has died, and what the ranks share with it"}
        gone = {rank: note for rank, note in notes.items() if note != "lost"}
        told = "; ".join(f"rank {rank}: {note}" for rank, note in gone.items()) or "it is not known which"
        self.lost = f"A rank has left the others ({told}). Look there for the first error."
        raise RuntimeError(self.lost) from error

    def close(self, reason: str) -> None:
        """Leave the group, with a note for ranks that still wait. May be called any number of times."""
        if self.group is not None:
            self._note(reason)
            self._drop()
        self.lost = self.lost or f"This rank has left the group: {reason}"

    def _note(self, text: str) -> None:
        """Leave a note for the other ranks."""
        # The store is gone where the rank that holds it is, or where the user has closed the default group.
        with contextlib.suppress(RuntimeError, ValueError):
            _store().set(f"{self.key}/{self.rank}", text[:_TEXT])

    def _read_note(self, rank: int, deadline: float) -> str:
        """What a rank has left, once it has."""
        try:
            _store().wait([f"{self.key}/{rank}"], timedelta(seconds=max(0.1, deadline - monotonic())))
            return str(_store().get(f"{self.key}/{rank}").decode(errors="replace"))
        except (RuntimeError, ValueError):
            return "it has died, or hangs"

    def _drop(self) -> None:
        group, self.group = self.group, None
        with contextlib.suppress(RuntimeError, ValueError, AssertionError):
            dist.destroy_process_group(group)


def told(error: BaseException) -> str:
    """An error in a line, for other ranks. torch's pipes add a second line, and the rank itself shows the rest."""
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"


def _store() -> Any:
    return dist.distributed_c10d._get_default_store()
