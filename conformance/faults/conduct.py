"""What a consumer of chapter 10 does: one thing after the other, a look at the hooks, and many epochs begun."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from conformance.faults import hooks, scenario
from conformance.loader import endings, generators, kinds
from conformance.loader.living import Life, state_of, state_taken
from conformance.loader.member import Reading
from conformance.loader.reading import Reader, read_epochs
from conformance.processes import calls
from conformance.processes.calls import Stopped
from conformance.trial.words import count


def _live_through(going: Reading, words: list[str]) -> None:
    """Let the loader live through this, word by word, and then read a last epoch."""

    def make(others: Mapping[str, Any]) -> Reader:
        return replace(going.reader, loader=going.load(**others))

    merge = going.implementation.offers.get("merge")
    life = Life(going.reader, make, going.epochs, going.scenario.seed, merge)
    try:
        life.live(words)
    finally:
        # The one that goes on from a state; whoever made the first one closes that.
        if life.reader is not going.reader:
            with suppress(Stopped):
                calls.close(life.reader.loader)


def _read_hooked(going: Reading) -> None:
    """Read all epochs, and write down what was not done as the hooks say."""
    assert going.watch is not None
    disturbed = [word for word in going.scenario.words if word in scenario.DISTURBED]
    if disturbed:
        # A last epoch follows.
        before = len(going.task.epochs) - 1
        _live_through(going, [*disturbed, *["whole"] * before][:before])
    else:
        read_epochs(going.reader, going.task.epochs, going.epochs)
    if "restored" in going.scenario.words:
        _read_a_rest(going, going.task.epochs[-1] + 1)
    if generators.WORD in going.scenario.words:
        told = generators.not_decisive(
            lambda generator: going.load(generator=generator), going.reader, going.task.epochs, going.epochs
        )
    else:
        told = hooks.not_honoured(going.watch, going.scenario, going.epochs)
    if told:
        going.remarks.append(("hook", told))


def _read_a_rest(going: Reading, number: int) -> None:
    """Read two steps of an epoch, and its rest by another loader of the request, from the state of the first."""
    begun = going.reader.begin(number)
    going.reader.up_to(begun, 2)
    blob = state_taken(going.reader)
    going.epochs.append(begun.epoch(left=True))
    del begun
    resumed = replace(going.reader, loader=going.load())

    try:
        resumed.method("load_state_dict", state_of(blob, going.implementation.offers.get("merge")))
        going.epochs.append(resumed.rest(resumed.begin(number)).epoch())
    finally:
        with suppress(Stopped):
            calls.close(resumed.loader)


def _begin_many(going: Reading) -> None:
    """Begin epoch after epoch, and write down how much memory comes with their orders, or with states of them."""
    reader = going.reader
    if "saved" in going.scenario.words:
        reader = replace(reader, when_held=lambda: reader.method("state_dict"))
    kinds.watch_memory(reader, going.remarks, leaves_after=1, kind="", growth=kinds.OF_ORDERS)


def _kill_the_reader(going: Reading) -> None:
    """Let another process read some steps and be killed, and write down how many processes it leaves."""
    assert going.watch is not None

    def read() -> Any:
        loader = going.load()
        iterator = iter(loader)
        return loader, iterator, [next(iterator) for _ in range(going.place)]

    told = endings.left_by_a_killed_reader(read, going.watch.folder)
    if told is not None:
        left, started = told
        going.remarks.append(("orphans", f"{left} of {count(started, 'child process')}" if left else ""))


# Imported, so that a process that only reads knows what these conducts need.
KNOWN = scenario
CONDUCTS: Mapping[str, Callable[[Reading], None]] = {
    "lives": lambda going: _live_through(going, going.scenario.words),
    "hooked": _read_hooked,
    "orders": _begin_many,
}
WITHOUT_LOADER: Mapping[str, Callable[[Reading], None]] = {"killed": _kill_the_reader}
