"""A correct loader that can be stopped and gone on with: decides what the bad ones of chapter 9 change.

It counts what all ranks were given of the order that they share, so that other ranks go on with it too.
"""

from collections.abc import Iterator
from itertools import cycle, islice
from typing import Any, ClassVar

from tests.known_bad.correct import FULL, KnownBad, claim

RESUMING = claim(FULL, device_options=None, resume=True, elastic=True, end_of_epoch="next")
STEADY = claim(RESUMING, elastic=None)
COUNTING = claim(STEADY, epochs="automatic")


class Resuming(KnownBad):
    """One rank's loader, which can be stopped and gone on with."""

    claims: ClassVar[dict[str, Any]] = RESUMING
    families: ClassVar[tuple[str, ...]] = ("map", "life", "resume")

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.skipped = self.given = 0
        self.begun = self.ended = False

    @property
    def round(self) -> int:
        """The samples of one step of all ranks."""
        return int(self.request.combined_batch * self.request.world_size)

    # --- states -------------------------------------------------------------------------------------------------------

    def state_dict(self) -> Any:
        """Where all ranks are, when each is as far as this one."""
        # RESUME-4
        epoch, given = (self.epoch + 1, 0) if self.ended else (self.epoch, self.given)
        return {"epoch": epoch, "given": given, **self.facts()}

    def facts(self) -> dict[str, Any]:
        """What a state must have in common with the request (RESUME-11)."""
        return {
            "samples": len(self.request.dataset),
            "seed": self.request.seed if self.request.shuffle else None,
        }

    def load_state_dict(self, state: Any) -> None:
        """Go on from there."""
        for name, mine in self.facts().items():
            if state[name] != mine:
                raise ValueError(f"the state is of {name} {state[name]}, and this loader has {mine}")
        self.begun = self.ended = False
        self.epoch, self.skipped = state["epoch"], state["given"]
        # RESUME-5
        self.given = self.skipped

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch comes next; the one of the state that was loaded goes on."""
        if self.begun or epoch != self.epoch:
            self.skipped = self.given = 0
        self.epoch, self.begun, self.ended = epoch, False, False

    # --- what is left of an epoch -------------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Any]:
        if self.begun and self.claims["epochs"] == "automatic":
            self.set_epoch(self.epoch + 1)
        # RESUME-2
        skipped, self.skipped = self.skipped, 0
        self.given, self.begun, self.ended = skipped, True, False
        return self.deliver(self.left(skipped))

    def left(self, skipped: int) -> list[list[int]]:
        """The steps behind so many samples of the order."""
        order = self.order()
        rest = order[skipped:]
        return self.cut(self.shared_out(rest, order))

    def shared_out(self, rest: list[int], order: list[int]) -> list[int]:
        """This rank's part of what is left; what is repeated is taken from the beginning of the order."""
        ranks = self.request.world_size
        missing = -len(rest) % ranks
        if self.policy() == "drop":
            rest = rest[: len(rest) - len(rest) % ranks]
        elif self.policy() == "pad":
            rest = [*rest, *islice(cycle(order), missing)]
        return rest[self.request.rank :: ranks]

    def deliver(self, steps: list[list[int]]) -> Iterator[Any]:
        """Fetch each step, and count it as given."""
        for step in steps:
            batch = self.fetch(step)
            # RESUME-1
            self.given += self.round
            yield batch
        self.ended = True


class Stopping(Resuming):
    """The same for those that are judged by chapter 9 alone."""

    claims: ClassVar[dict[str, Any]] = STEADY
    families: ClassVar[tuple[str, ...]] = ("resume",)

    def facts(self) -> dict[str, Any]:
        """What a state must have in common with the request: steps and ranks as well."""
        return {**super().facts(), "round": self.round}


class CorrectStopping(Stopping):
    """Refuses other requests."""


class CountsItsEpochs(Stopping):
    """Counts its epochs itself."""

    claims: ClassVar[dict[str, Any]] = COUNTING


class EndsEmpty(Stopping):
    """Gives an empty rest of an epoch that is over."""

    claims: ClassVar[dict[str, Any]] = claim(STEADY, end_of_epoch="empty")

    def state_dict(self) -> Any:
        """Where it is; the end is a place in the epoch like any other."""
        return {**super().state_dict(), "epoch": self.epoch, "given": self.given}


# The first one is judged as a loader that is not stopped as well.
CORRECT_RESUMING = (Resuming, CorrectStopping, CountsItsEpochs, EndsEmpty)
