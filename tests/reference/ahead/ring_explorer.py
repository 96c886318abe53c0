"""Explores every interleaving of one consumer and its producers around a ring: decides what a state of the whole is.

A producer carries out its orders one after the other; that one lies in its line, that it was taken from there, that its
slot is written, and that the consumer hears of it, are steps of their own, so that every order of events that processes
could come to is one path. A line has room for `bound` messages each way, and a producer reads it only between two
items. What a slot of shared memory holds is written down too: the rules are judged by what the consumer would read.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from reference.ahead.ring import Content, Due, Phase, Ring


class Broken(AssertionError):
    """A state in which the protocol has failed; the text says how."""


class Sending(Enum):
    """What the consumer does with a message for which its line has no room."""

    KEEPS = "keeps it, and writes it with the next one, or while it waits for a producer: the rule of `line.py`"
    KEEPS_UNTIL_THE_NEXT = "keeps it, and writes it with the next one"
    WAITS = "waits for room, and hears nothing meanwhile, not even its timeout"


@dataclass(frozen=True)
class Setting:
    """What is explored: `items` an epoch, over `epochs` that are begun, `resets` of them in the middle of another.

    A `stream` is read by producers that find its end themselves, each with every P-th item; otherwise the consumer
    knows the number of items beforehand. The item `hangs` is never made; the consumer's timeout is there for it.
    """

    ring: Ring
    items: int
    epochs: int = 2
    resets: int = 1
    stream: bool = False
    bound: int = 1
    sending: Sending = Sending.KEEPS
    hangs: int | None = None


Memory = tuple[tuple[int, int] | str, ...]
"""What each slot holds: (epoch, item), or that it holds none."""


LEFT = None
"""The message that the orders before it are wanted no more; it takes room like any other."""


class Producer(NamedTuple):
    """A producer and both ways of its line: its orders, its place in its stream, and what nobody has heard of yet."""

    unsent: tuple[Due | None, ...] = ()
    """What the consumer could not write yet."""
    line: tuple[Due | None, ...] = ()
    orders: tuple[Due, ...] = ()
    """What was taken from the line; it works on the first one."""
    epoch: int = -1
    read: int = 0
    said: tuple[tuple[int, Content], ...] = ()


class World(NamedTuple):
    """One state of the whole."""

    ring: Ring
    producers: tuple[Producer, ...]
    memory: Memory
    held: tuple[int, int] | None = None
    """The slot that the consumer looks at, and the item that it was given there."""
    delivered: int = 0
    is_waiting: bool = False
    is_at_end: bool = False
    epochs: int = 0
    resets: int = 0


def explore(setting: Setting) -> int:
    """Return the number of states that can be reached. Broken in the first one where the protocol has failed."""
    start = _given_out(
        setting,
        World(setting.ring, (Producer(),) * setting.ring.producers, ("empty",) * len(setting.ring.slots)),
    )
    seen, to_do = {start}, [start]
    while to_do:
        world = to_do.pop()
        following = [_written(setting, other) for other in _steps(setting, world)]
        _check(world)
        _check_end(setting, world, bool(following))
        for other in following:
            if other not in seen:
                seen.add(other)
                to_do.append(other)
    return len(seen)


def _steps(setting: Setting, world: World) -> Iterator[World]:
    yield from _steps_of_lines(setting, world)
    if world.ring.is_closed or _is_stuck(setting, world):
        return
    if world.ring.is_wanted and not world.is_waiting and not world.is_at_end:
        yield _asked(setting, world)
    if not world.is_waiting:
        yield from _begun(setting, world)
    # Terminated, or while it waits an interrupt or a timeout.
    yield world._replace(ring=world.ring.close(), held=None, is_waiting=False)


def _steps_of_lines(setting: Setting, world: World) -> Iterator[World]:
    """What goes on while the consumer decides nothing."""
    is_stuck = _is_stuck(setting, world)
    for number, producer in enumerate(world.producers):
        if not producer.orders and producer.line:
            yield _begun_to_write(setting, _with(world, number, _listened(producer)))
        # It may wait for room, and does so with what it has written last.
        if producer.orders and len(producer.said) < setting.bound and not _hangs(setting, producer, number):
            yield _produced(setting, world, number)
        if producer.said and _listens(world) and not is_stuck:
            yield _heard(setting, world, number)


def _listens(world: World) -> bool:
    """Whether the consumer is in a call that waits; it has no thread that would listen in between."""
    return world.is_waiting or not world.ring.is_wanted or world.ring.is_closed


def _written(setting: Setting, world: World) -> World:
    """What was kept is written as soon as there is room, if the consumer is there to do so."""
    is_there = _listens(world) and setting.sending is not Sending.KEEPS_UNTIL_THE_NEXT
    if not is_there and not _is_stuck(setting, world) and not world.ring.is_closed:
        return world
    return world._replace(producers=tuple(_flushed(setting, producer) for producer in world.producers))


def _is_stuck(setting: Setting, world: World) -> bool:
    """Whether the consumer stands in a send."""
    return setting.sending is Sending.WAITS and any(producer.unsent for producer in world.producers)


def _hangs(setting: Setting, producer: Producer, number: int) -> bool:
    return _item(setting, producer, number, producer.orders[0]) == setting.hangs


def _sent(setting: Setting, producer: Producer, message: Due | None) -> Producer:
    """The producer once the consumer has sent it something: written if there is room, behind what was kept."""
    return _flushed(setting, producer._replace(unsent=(*producer.unsent, message)))


def _flushed(setting: Setting, producer: Producer) -> Producer:
    room = setting.bound - len(producer.line)
    return producer._replace(line=producer.line + producer.unsent[:room], unsent=producer.unsent[room:])


def _listened(producer: Producer) -> Producer:
    """The producer once it has taken all that lies in its line, which it does between two items."""
    came = tuple(message for message in producer.line if message is not LEFT)
    return producer._replace(line=(), orders=producer.orders + came)


def _produced(setting: Setting, world: World, number: int) -> World:
    """A producer has written the slot of its first order, or found the end of its stream, and listens."""
    producer = world.producers[number]
    due, *rest = producer.orders
    item = _item(setting, producer, number, due)
    content = Content.ITEM if item < setting.items else Content.END
    done = producer._replace(
        orders=tuple(rest),
        epoch=due.place.epoch,
        read=1 + (producer.read if producer.epoch == due.place.epoch else 0),
        said=(*producer.said, (due.slot, content)),
    )
    if content is Content.ITEM:
        world = world._replace(memory=_put(world.memory, due.slot, (due.place.epoch, item)))
    return _begun_to_write(setting, _with(world, number, _listened(done)))


def _item(setting: Setting, producer: Producer, number: int, due: Due) -> int:
    if not setting.stream:
        return due.place.step
    read = producer.read if producer.epoch == due.place.epoch else 0
    return number + setting.ring.producers * read


def _begun_to_write(setting: Setting, world: World) -> World:
    """Every producer begins with its first order at once: whoever reads that slot now reads half an item."""
    for number, producer in enumerate(world.producers):
        if producer.orders and _item(setting, producer, number, producer.orders[0]) < setting.items:
            world = world._replace(memory=_put(world.memory, producer.orders[0].slot, "half an item"))
    return world


def _heard(setting: Setting, world: World, number: int) -> World:
    (slot, content), *rest = world.producers[number].said
    world = _with(world, number, world.producers[number]._replace(said=tuple(rest)))
    world = world._replace(ring=world.ring.filled(slot, content))
    return _asked(setting, world) if world.is_waiting else _given_out(setting, world)


def _asked(setting: Setting, world: World) -> World:
    world = _given_out(setting, world._replace(ring=world.ring.release(), held=None))
    ring, answer = world.ring.ask()
    held = (answer, world.delivered) if isinstance(answer, int) else None
    world = _given_out(setting, world._replace(ring=ring, is_waiting=answer is None, held=held))
    if answer is Content.END:
        if world.delivered != setting.items:
            raise Broken(f"the epoch ends after {world.delivered} of {setting.items} items")
        return world._replace(is_at_end=True)
    if isinstance(answer, int):
        found = world.memory[answer]
        if found != (ring.next.epoch, world.delivered):
            raise Broken(f"item {world.delivered} is due, and {found} comes")
        return world._replace(delivered=world.delivered + 1)
    return world


def _begun(setting: Setting, world: World) -> Iterator[World]:
    is_reset = world.ring.is_wanted and not world.is_at_end
    if world.epochs == setting.epochs or (is_reset and world.resets == setting.resets):
        return
    for epoch in (*world.ring.offers(), None):
        begun = world._replace(
            ring=world.ring.begin(epoch),
            held=None,
            delivered=0,
            is_at_end=False,
            epochs=world.epochs + 1,
            resets=world.resets + is_reset,
            producers=tuple(_sent(setting, producer, LEFT) for producer in world.producers),
        )
        yield _given_out(setting, begun)


def _given_out(setting: Setting, world: World) -> World:
    """All that is due is given out: the consumer does so at once after whatever it does."""
    ring, producers = world.ring, list(world.producers)
    while (due := ring.due()) is not None:
        if not setting.stream and due.place.step == setting.items:
            ring = ring.no_more()
            continue
        ring = ring.assign(due)
        producers[due.producer] = _sent(setting, producers[due.producer], due)
    return world._replace(ring=ring, producers=tuple(producers))


def _check(world: World) -> None:
    ring = world.ring
    if world.held is not None and world.memory[world.held[0]] != (ring.next.epoch, world.held[1]):
        raise Broken(f"the consumer holds item {world.held[1]}, and reads {world.memory[world.held[0]]} there")
    for slot in ring.slots:
        ahead = slot.place.epoch - ring.next.epoch if slot.place and slot.phase is not Phase.STALE else 0
        if ahead > ring.load_indefinitely:
            raise Broken(f"epoch {ring.next.epoch} is read, and one {ahead} further on is loaded")
    if not ring.is_wanted and not ring.early_preload and not ring.is_closed:
        loaded = sum(slot.phase is not Phase.FREE for slot in ring.slots)
        if loaded > 1:
            raise Broken(f"{loaded} items are loaded before an epoch is begun")


def _check_end(setting: Setting, world: World, can_go_on: bool) -> None:
    """Whoever waits is waited for by nobody, and what is closed is free; what hangs is for the timeout to end."""
    if _is_stuck(setting, world) and not can_go_on:
        raise Broken("deadlock: the consumer waits for room in a line that nobody reads, and can't hear its timeout")
    if setting.hangs is not None:
        return
    if world.is_waiting and not any(_steps_of_lines(setting, world)):
        raise Broken(f"deadlock: the consumer waits for item {world.delivered}, and nobody works on it")
    if not can_go_on and any(slot.phase is not Phase.FREE for slot in world.ring.slots):
        raise Broken("the ring is closed, and a slot is still in use")


def _with(world: World, number: int, producer: Producer) -> World:
    producers = (*world.producers[:number], producer, *world.producers[number + 1 :])
    return world._replace(producers=producers)


def _put(memory: Memory, at: int, value: tuple[int, int] | str) -> Memory:
    return (*memory[:at], value, *memory[at + 1 :])
