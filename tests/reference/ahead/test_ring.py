"""The ring: no order of events loses, doubles, mixes up or overwrites an item, and none ends in waiting for ever."""

from pathlib import Path

import pytest

from reference.ahead.ring import MOVES, Content, Due, Phase, Place, Ring, Slot, diagram, make_ring
from tests.reference.ahead.ring_explorer import Broken, Sending, Setting, explore

SPEC = Path(__file__).parents[3] / "specs" / "5-asynchronous.md"

# slots, producers, items, epochs: the corners, and bounds at which every kind of waiting occurs.
SMALL = [(1, 1, 0, 3), (1, 1, 1, 3), (1, 2, 3, 3), (2, 1, 3, 3), (2, 2, 3, 2), (3, 1, 4, 2)]
SMALL_BUT_MANY_STATES = pytest.param(3, 2, 1, 2, marks=pytest.mark.deep)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("slots", [3, pytest.param(4, marks=pytest.mark.deep)])
def test_no_order_of_events_breaks_the_protocol(slots: int, stream: bool) -> None:
    """2 producers, 4 items, one reset, one shutdown: all states are sound, and there are many."""
    setting = Setting(make_ring(slots, 2), items=4, stream=stream)
    assert explore(setting) > 20_000


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("load_indefinitely", [False, True])
@pytest.mark.parametrize("early_preload", [False, True])
@pytest.mark.parametrize(("slots", "producers", "items", "epochs"), [*SMALL, SMALL_BUT_MANY_STATES])
def test_no_choice_breaks_the_protocol(
    slots: int, producers: int, items: int, epochs: int, early_preload: bool, load_indefinitely: bool, stream: bool
) -> None:
    """Small rings are sound with early preload and without, loading on and waiting, over two or three epochs."""
    ring = make_ring(slots, producers, early_preload, load_indefinitely)
    assert explore(Setting(ring, items, epochs, resets=1, stream=stream)) > 5


class EndsOneStepEarly(Ring):
    """Takes the last step for the end."""

    def ask(self) -> tuple[Ring, int | Content | None]:
        after = Place(self.next.epoch, self.next.step + 1)
        return (self, Content.END) if after in self.ends else super().ask()


class EndsWithTheFirstProducer(Ring):
    """Takes the end of one producer's data for the end of all data."""

    def filled(self, at: int, content: Content) -> Ring:
        is_end = content is Content.END and self.slots[at].phase is Phase.FILLING
        ring = self._replace(ended=frozenset(range(self.producers))) if is_end else self
        return super(EndsWithTheFirstProducer, ring).filled(at, content)


class SaysReadyTooEarly(Ring):
    """Raises the flag when a slot is given out, and not when it is written."""

    def assign(self, due: Due) -> Ring:
        ring = super().assign(due)
        return ring._with(due.slot, ring.slots[due.slot].go("fill", content=Content.ITEM))

    def filled(self, at: int, content: Content) -> Ring:
        return self if self.slots[at].phase is not Phase.STALE else super().filled(at, content)


class FreesOnReading(Ring):
    """Gives a slot back when it is read, and not when the next step is asked for."""

    def ask(self) -> tuple[Ring, int | Content | None]:
        ring, answer = super().ask()
        return ring.release(), answer


class FreesWhatIsStillWritten(Ring):
    """Gives a slot out again although the producer of an epoch that was left still writes it."""

    def begin(self, epoch: int | None = None) -> Ring:
        ring = super().begin(epoch)
        slots = tuple(Slot() if slot.phase is Phase.STALE else slot for slot in ring.slots)
        return ring._replace(slots=slots)

    def filled(self, at: int, content: Content) -> Ring:
        return self if self.slots[at].phase is Phase.FREE else super().filled(at, content)


class KeepsTheSlotsOfAnEpochThatWasLeft(Ring):
    """Never gives back what was ready when an epoch was left."""

    def _left(self, kept: int | None) -> Ring:
        ring = super()._left(kept)
        slots = [old if old.phase is Phase.READY else new for old, new in zip(self.slots, ring.slots, strict=True)]
        return ring._replace(slots=tuple(slots))


class HoldsWhileItAsks(Ring):
    """Gives back the old step only once the new one is there."""

    def release(self) -> Ring:
        at = self._slot_of(self.next)
        is_ready = at is not None and self.slots[at].phase is Phase.READY
        return super().release() if is_ready else self


class GivesAPlaceOutTwice(Ring):
    """Forgets, now and then, that a place was given out."""

    def assign(self, due: Due) -> Ring:
        return super().assign(due)._replace(load=due.place) if due.slot == 1 else super().assign(due)


class LosesAFreePlace(Ring):
    """Leaves a place out where the ring begins again."""

    def assign(self, due: Due) -> Ring:
        ring = super().assign(due)
        return ring._replace(load=Place(ring.load.epoch, ring.load.step + 1)) if due.slot == 2 else ring


class LoadsTheNextEpochUnasked(Ring):
    """Loads on at the end of the data, whether that is wanted or not."""

    def _may_load(self) -> bool:
        return self._replace(load_indefinitely=True).is_wanted or super()._may_load()


class PreloadsUnasked(Ring):
    """Fills all slots before an epoch is begun."""

    def _may_load(self) -> bool:
        return super()._may_load() or (not self.is_wanted and self.load.epoch == 0)


PLANTED = [
    (EndsOneStepEarly, "the epoch ends after"),
    (EndsWithTheFirstProducer, "the epoch ends after"),
    (SaysReadyTooEarly, "(half an item|empty) comes"),
    (FreesOnReading, "the consumer holds item|comes"),
    (FreesWhatIsStillWritten, "comes|reads|can't"),
    (KeepsTheSlotsOfAnEpochThatWasLeft, "deadlock|still in use"),
    (HoldsWhileItAsks, "deadlock|still in use"),
    (GivesAPlaceOutTwice, "is due, and|deadlock"),
    (LosesAFreePlace, "is due, and|ends after|deadlock"),
    (LoadsTheNextEpochUnasked, "further on is loaded"),
    (PreloadsUnasked, "before an epoch is begun"),
]


@pytest.mark.parametrize(("fault", "said"), PLANTED, ids=[fault.__name__ for fault, _ in PLANTED])
def test_a_planted_fault_is_found(fault: type[Ring], said: str) -> None:
    """Each fault of the protocol has an order of events that shows it."""
    settings = [
        Setting(fault(*make_ring(slots, producers, load_indefinitely=False)), 4, stream=stream)
        for slots, producers, stream in ((1, 1, False), (3, 2, False), (3, 2, True))
    ]
    with pytest.raises(Broken, match=said):
        _explore_all(settings)


def _explore_all(settings: list[Setting]) -> None:
    for setting in settings:
        explore(setting)


def deadlock(slots: int, sending: Sending, hangs: int | None = None, epochs: int = 1) -> str:
    """What goes wrong with one producer and a line that has room for one message each way, if anything does."""
    ring = make_ring(slots, load_indefinitely=epochs > 1)
    try:
        explore(Setting(ring, items=6, epochs=epochs, sending=sending, hangs=hangs))
    except Broken as error:
        return str(error)
    return ""


STUCK = "deadlock: the consumer waits for room in a line that nobody reads, and can't hear its timeout"


@pytest.mark.parametrize(("slots", "found"), [(3, ""), (4, STUCK)])
def test_two_that_wait_for_room_wait_for_each_other(slots: int, found: str) -> None:
    """One order in the line, one in the producer's hands, one answer under way: the fourth one is too many."""
    assert found == deadlock(slots, Sending.WAITS)


@pytest.mark.parametrize(("slots", "found"), [(1, ""), (2, STUCK)])
def test_who_waits_for_room_hears_no_timeout(slots: int, found: str) -> None:
    """A producer that hangs does not read its line (ERROR-7)."""
    assert found == deadlock(slots, Sending.WAITS, hangs=0)


@pytest.mark.parametrize("hangs", [None, 0, 3])
@pytest.mark.parametrize("slots", [1, 2, 3, 4, 5])
def test_who_keeps_what_has_no_room_is_never_stuck(slots: int, hangs: int | None) -> None:
    """Whatever hangs, and however many orders there are: the rule of the line."""
    assert deadlock(slots, Sending.KEEPS, hangs, epochs=2) == ""


def test_who_waits_for_a_producer_writes_what_was_kept() -> None:
    """Else there may be no next message with which it would go."""
    found = deadlock(1, Sending.KEEPS_UNTIL_THE_NEXT)
    assert found == "deadlock: the consumer waits for item 0, and nobody works on it"


def test_the_sound_ring_passes_where_the_faults_are_found() -> None:
    """The settings of the planted faults accuse nobody else."""
    for slots, producers, stream in ((1, 1, False), (3, 2, False), (3, 2, True)):
        assert explore(Setting(make_ring(slots, producers, load_indefinitely=False), 4, stream=stream)) > 10


def test_every_move_is_in_the_diagram() -> None:
    """The diagram of the specification is made from the table."""
    text = diagram()
    assert all(f"{move.before.value} --> {move.after.value}: {move.name}" in text for move in MOVES)


def test_the_specification_shows_the_diagram() -> None:
    """Chapter 5 shows the table as it is now; `python -m reference.ahead.ring` prints it."""
    assert diagram() in SPEC.read_text("utf-8")


def test_a_move_that_is_not_in_the_table_is_refused() -> None:
    """A slot that is free can't be read."""
    with pytest.raises(AssertionError, match="a slot that is free can't take"):
        Slot().go("take")
