"""Explores every interleaving of one consumer and its producers around a ring: decides what a state of the whole is.

A producer carries out its commands in order, and begins each as soon as it can; that it has written, and that the
consumer hears of it, are two steps, so that every order of events that processes could come to is one path. What a slot
of shared memory holds is written down too: the rules are judged by what the consumer would read.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from reference.ahead.ring import Content, Due, Phase, Ring


class Broken(AssertionError):
    """A state in which the protocol has failed; the text says how."""


@dataclass(frozen=True)
class Setting:
    """What is explored: `items` an epoch, over `epochs` that are begun, `resets` of them in the middle of another.

    A `stream` is read by producers that find its end themselves, each with every P-th item; otherwise the consumer
    knows the number of items beforehand.
    """

    ring: Ring
    items: int
    epochs: int = 2
    resets: int = 1
    stream: bool = False


Memory = tuple[tuple[int, int] | str, ...]
"""What each slot holds: (epoch, item), or that it holds none."""


class Producer(NamedTuple):
    """A producer: its commands, its place in its stream, and what it has said that nobody has heard."""

    commands: tuple[Due, ...] = ()
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
        following = list(_steps(setting, world))
        _check(world, bool(following))
        for other in following:
            if other not in seen:
                seen.add(other)
                to_do.append(other)
    return len(seen)


def _steps(setting: Setting, world: World) -> Iterator[World]:
    for number, producer in enumerate(world.producers):
        if producer.commands:
            yield _produced(setting, world, number)
        if producer.said:
            yield _heard(setting, world, number)
    if world.ring.is_closed:
        return
    if world.ring.is_wanted and not world.is_waiting and not world.is_at_end:
        yield _asked(setting, world)
    if not world.is_waiting:
        yield from _begun(setting, world)
    yield world._replace(ring=world.ring.close(), held=None, is_waiting=False)


def _produced(setting: Setting, world: World, number: int) -> World:
    """A producer has written the slot of its first command, or found the end of its stream."""
    producer = world.producers[number]
    due, *rest = producer.commands
    item = _item(setting, producer, number, due)
    content = Content.ITEM if item < setting.items else Content.END
    done = Producer(
        commands=tuple(rest),
        epoch=due.place.epoch,
        read=1 + (producer.read if producer.epoch == due.place.epoch else 0),
        said=(*producer.said, (due.slot, content)),
    )
    if content is Content.ITEM:
        world = world._replace(memory=_put(world.memory, due.slot, (due.place.epoch, item)))
    return _begun_to_write(setting, _with(world, number, done))


def _item(setting: Setting, producer: Producer, number: int, due: Due) -> int:
    if not setting.stream:
        return due.place.step
    read = producer.read if producer.epoch == due.place.epoch else 0
    return number + setting.ring.producers * read


def _begun_to_write(setting: Setting, world: World) -> World:
    """Every producer begins with its first command at once: whoever reads that slot now reads half an item."""
    for number, producer in enumerate(world.producers):
        if producer.commands and _item(setting, producer, number, producer.commands[0]) < setting.items:
            world = world._replace(memory=_put(world.memory, producer.commands[0].slot, "half an item"))
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
        producers[due.producer] = producers[due.producer]._replace(commands=(*producers[due.producer].commands, due))
    return _begun_to_write(setting, world._replace(ring=ring, producers=tuple(producers)))


def _check(world: World, can_go_on: bool) -> None:
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
    if world.is_waiting and not any(producer.commands or producer.said for producer in world.producers):
        raise Broken(f"deadlock: the consumer waits for item {world.delivered}, and nobody works on it")
    if not can_go_on and any(slot.phase is not Phase.FREE for slot in ring.slots):
        raise Broken("the ring is closed, and a slot is still in use")


def _with(world: World, number: int, producer: Producer) -> World:
    producers = (*world.producers[:number], producer, *world.producers[number + 1 :])
    return world._replace(producers=producers)


def _put(memory: Memory, at: int, value: tuple[int, int] | str) -> Memory:
    return (*memory[:at], value, *memory[at + 1 :])
