"""The ring: decides which slot of shared memory is filled next, by whom, and when it may be read and filled again.

Pure bookkeeping, no I/O: the accessor keeps one `Ring` in the consumer's process, asks it what is due, and tells it
what the producers say. A *place* is a step of an epoch, (epoch, step). Places are given out in order, each with a free
slot, and are read in order, whatever slot they lie in. A slot goes only these ways:
"""

from enum import StrEnum
from typing import Any, NamedTuple


class Phase(StrEnum):
    """What a slot is doing."""

    FREE = "free"
    FILLING = "filling"  # a producer writes, for a place that is still wanted
    READY = "ready"
    HELD = "held"  # the consumer looks at it
    STALE = "stale"  # a producer still writes, for a place that nobody wants any more


class Move(NamedTuple):
    """One way from phase to phase: which side goes it, and when."""

    name: str
    who: str
    before: Phase
    after: Phase
    when: str


MOVES = (
    Move("assign", "consumer", Phase.FREE, Phase.FILLING, "a place is due, and a producer is asked to fill it"),
    Move("fill", "producer", Phase.FILLING, Phase.READY, "its producer says: an item, an error, or no more data"),
    Move("take", "consumer", Phase.READY, Phase.HELD, "its place is asked for, and holds an item or an error"),
    Move("skip", "consumer", Phase.READY, Phase.FREE, "its place is asked for, and its producer had no more data"),
    # ASYNC-2: not when it was read, but when the next step is asked for.
    Move("release", "consumer", Phase.HELD, Phase.FREE, "the next step is asked for, or another epoch begun"),
    Move("discard", "consumer", Phase.READY, Phase.FREE, "its epoch was left, or the ring is closed"),
    Move("abandon", "consumer", Phase.FILLING, Phase.STALE, "its epoch was left, or the ring is closed"),
    Move("return", "producer", Phase.STALE, Phase.FREE, "its producer says that it no longer writes"),
)
_MOVES = {move.name: move for move in MOVES}


class Content(StrEnum):
    """What a producer put into a slot."""

    ITEM = "item"
    ERROR = "error"
    END = "end"  # this producer has no more data in this epoch


class Place(NamedTuple):
    """A step of an epoch. The ring counts epochs as they are begun."""

    epoch: int
    step: int


class Slot(NamedTuple):
    """One slot of the ring, and what it is used for now."""

    phase: Phase = Phase.FREE
    place: Place | None = None
    producer: int = 0
    content: Content | None = None

    def go(self, name: str, **changes: Any) -> "Slot":
        """The slot after a move. AssertionError if the table has no such way."""
        move = _MOVES[name]
        assert self.phase is move.before, f"a slot that is {self.phase.value} can't {name}"
        return Slot() if move.after is Phase.FREE else self._replace(phase=move.after, **changes)


class Due(NamedTuple):
    """What is to be asked of a producer."""

    slot: int
    place: Place
    producer: int


class Ring(NamedTuple):
    """The state of the protocol. Every method that changes something returns another ring."""

    slots: tuple[Slot, ...]
    producers: int = 1
    early_preload: bool = False
    load_indefinitely: bool = True
    next: Place = Place(0, 0)
    """What the consumer is given next."""
    load: Place = Place(0, 0)
    """What is given out to a producer next."""
    turn: int = 0
    """The producer that is asked next, unless it has no more data: each in its turn, from 0 on in every epoch."""
    is_wanted: bool = False
    """Whether the consumer has begun an epoch."""
    is_closed: bool = False
    ended: frozenset[int] = frozenset()
    """The producers that have no more data in the epoch of `load`."""
    ends: tuple[Place, ...] = ()
    """For each epoch whose end is known, the place after its last one."""

    # --- loading --------------------------------------------------------------------------------------------------

    def due(self) -> Due | None:
        """What can be given out now, if anything."""
        # ASYNC-3: what is ahead lies in a slot, and there are no more than buffer_size.
        free = next((at for at, slot in enumerate(self.slots) if slot.phase is Phase.FREE), None)
        if free is None or self.is_closed or not self._may_load():
            return None
        order = [(self.turn + step) % self.producers for step in range(self.producers)]
        return Due(free, self.load, next(producer for producer in order if producer not in self.ended))

    def _may_load(self) -> bool:
        epochs_ahead = self.load.epoch - self.next.epoch
        if not self.is_wanted and not self.early_preload:
            # ASYNC-4: before the first epoch is begun, one step, and with early preload all slots.
            return self.load == (0, 0)
        # ASYNC-5: the next epoch ahead of time only if that is wanted; the one after it never.
        return epochs_ahead == 0 or (epochs_ahead == 1 and self.load_indefinitely)

    def assign(self, due: Due) -> "Ring":
        """The ring once the place was given out."""
        slot = self.slots[due.slot].go("assign", place=due.place, producer=due.producer)
        load = Place(self.load.epoch, self.load.step + 1)
        return self._with(due.slot, slot)._replace(load=load, turn=(due.producer + 1) % self.producers)

    def no_more(self) -> "Ring":
        """The ring once it is known that the epoch of `load` has no place `load`: loading continues with the next."""
        ends = (*self.ends, self.load)
        return self._replace(ends=ends, load=Place(self.load.epoch + 1, 0), turn=0, ended=frozenset())

    def filled(self, at: int, content: Content) -> "Ring":
        """The ring once the producer of a slot has said what is in it."""
        slot = self.slots[at]
        if slot.phase is Phase.STALE:
            return self._with(at, slot.go("return"))
        ring = self._with(at, slot.go("fill", content=content))
        if content is Content.END and slot.place is not None and slot.place.epoch == self.load.epoch:
            ring = ring._replace(ended=ring.ended | {slot.producer})
        return ring.no_more() if len(ring.ended) == ring.producers else ring

    # --- reading --------------------------------------------------------------------------------------------------

    def release(self) -> "Ring":
        """Give back the slot that the consumer held, if any."""
        held = [at for at, slot in enumerate(self.slots) if slot.phase is Phase.HELD]
        return self._with(held[0], self.slots[held[0]].go("release")) if held else self

    def ask(self) -> tuple["Ring", int | Content | None]:
        """Ask for the next step: the slot that holds it, Content.END at the end of the epoch, or None: not yet.

        Before it comes `release`, and then whatever is due is given out.
        """
        ring = self
        while (at := ring._slot_of(ring.next)) is not None and ring.slots[at].phase is Phase.READY:
            after = Place(ring.next.epoch, ring.next.step + 1)
            if ring.slots[at].content is not Content.END:
                return ring._with(at, ring.slots[at].go("take"))._replace(next=after), at
            ring = ring._with(at, ring.slots[at].go("skip"))._replace(next=after)
        return ring, Content.END if ring.next in ring.ends else None

    def offers(self) -> tuple[int, ...]:
        """The epochs that can be begun without losing what was loaded for them: this one if unused, and the next."""
        used = self.next.step > 0 or any(slot.phase is Phase.HELD for slot in self.slots)
        return (*(() if used else (self.next.epoch,)), self.next.epoch + 1)

    def begin(self, epoch: int | None = None) -> "Ring":
        """Begin one of the epochs that are on offer; None begins one for which nothing was loaded."""
        assert epoch is None or epoch in self.offers()
        # Loading is never behind reading.
        target = self.load.epoch + 1 if epoch is None else epoch
        if target == self.next.epoch:
            return self._replace(is_wanted=True)
        ring = self._left(target)
        if target > self.load.epoch:
            ring = ring._replace(load=Place(target, 0), turn=0, ended=frozenset())
        ends = tuple(end for end in self.ends if end.epoch >= target)
        return ring._replace(next=Place(target, 0), ends=ends, is_wanted=True)

    def close(self) -> "Ring":
        """The ring at its end: nothing is given out any more."""
        return self._left(None)._replace(is_closed=True)

    def _left(self, kept: int | None) -> "Ring":
        ring = self.release()
        for at, slot in enumerate(ring.slots):
            if slot.place is not None and slot.place.epoch != kept and slot.phase in _LEAVING:
                ring = ring._with(at, slot.go(_LEAVING[slot.phase]))
        return ring

    def _slot_of(self, place: Place) -> int | None:
        wanted = (Phase.FILLING, Phase.READY, Phase.HELD)
        return next((at for at, slot in enumerate(self.slots) if slot.place == place and slot.phase in wanted), None)

    def _with(self, at: int, slot: Slot) -> "Ring":
        return self._replace(slots=(*self.slots[:at], slot, *self.slots[at + 1 :]))


_LEAVING = {Phase.READY: "discard", Phase.FILLING: "abandon"}


def make_ring(slots: int, producers: int = 1, early_preload: bool = False, load_indefinitely: bool = True) -> Ring:
    """Return an empty ring; `slots` is the buffer size."""
    return Ring((Slot(),) * slots, producers, early_preload, load_indefinitely)


def diagram() -> str:
    """Return the moves as a Mermaid state diagram."""
    lines = [f"    {move.before.value} --> {move.after.value}: {move.name} ({move.who})" for move in MOVES]
    return "\n".join(["stateDiagram-v2", f"    [*] --> {Phase.FREE.value}", *lines])


if __name__ == "__main__":
    print(diagram())
