"""A loader that lives through one thing after the other: decides what is done with each epoch, and what comes of it.

Nothing that raises ends the reading: a consumer who breaks out of one loop after the other tries again. What the last
epoch is, the judges look at; so with one that is `held`, which is read to its end after the last.
"""

import pickle
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace

from conformance.faults import disturbed, hooks, scenario
from conformance.loader import generators, kinds
from conformance.loader.member import Reading
from conformance.loader.reading import Pass, Reader, read_epochs
from conformance.processes import calls
from conformance.processes.calls import Stopped
from conformance.trace import Epoch


def _live(going: Reading) -> None:
    reader, words = going.reader, going.scenario.words
    held: dict[int, Pass] = {}
    for number, word in enumerate([*words, ""]):
        begun = _begin(reader, number, going.epochs)
        if begun is None:
            continue
        if word == "held":
            held[len(going.epochs)] = begun
        _WORDS[word](reader, begun)
        going.epochs.append(begun.epoch(left=word in _LEAVING))
        # A loop that was left releases its iterator.
        del begun
    for at, begun in held.items():
        going.epochs[at] = (begun if begun.failure else reader.tolerant_rest(begun)).epoch()


def _begin(reader: Reader, number: int, epochs: list[Epoch]) -> Pass | None:
    try:
        return reader.begin(number)
    except Stopped as stopped:
        epochs.append(Epoch(number, (), failure=stopped.failure))
        return None


def _all_steps(reader: Reader, begun: Pass) -> None:
    """All steps, and never the end: as many as there are without a rest."""
    most = begun.length if isinstance(begun.length, int) else 1
    while len(begun.steps) < most and not begun.failure:
        before = len(begun.steps)
        reader.tolerant_step(begun)
        if len(begun.steps) == before:
            return


def _beyond(reader: Reader, begun: Pass) -> None:
    reader.tolerant_rest(begun)
    if not begun.failure:
        with suppress(Stopped):
            # What comes then is judged by WORK-15, and no step of this epoch.
            reader.step(Pass(begun.number, begun.length, begun.iterator))


_LEAVING = ("begun", "left", "last")
_WORDS: Mapping[str, Callable[[Reader, Pass], object]] = {
    "": Reader.tolerant_rest,
    "begun": lambda reader, begun: None,
    "left": Reader.tolerant_step,
    "held": Reader.tolerant_step,
    "last": _all_steps,
    "beyond": _beyond,
    "failed": Reader.tolerant_rest,
}


def _read_hooked(going: Reading) -> None:
    """Read all epochs, and write down what was not done as the hooks say."""
    assert going.watch is not None
    if disturbed.DISTURBED.keys() & set(going.scenario.words):
        disturbed.read(going.reader, going.scenario.words, going.task.epochs, going.epochs)
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
    merge = going.implementation.offers.get("merge")
    blob = calls.called("state_dict", None, lambda: pickle.dumps(going.reader.loader.state_dict()))
    going.epochs.append(begun.epoch(left=True))
    del begun
    resumed = replace(going.reader, loader=going.load())

    def load_state() -> None:
        state = pickle.loads(blob)
        resumed.loader.load_state_dict(merge([state]) if merge else state)

    try:
        calls.called("load_state_dict", None, load_state)
        going.epochs.append(resumed.rest(resumed.begin(number)).epoch())
    finally:
        with suppress(Stopped):
            calls.close(resumed.loader)


def _begin_many(going: Reading) -> None:
    """Begin epoch after epoch, and write down how much memory comes with their orders."""
    kinds.watch_memory(going.reader, going.remarks, leaves_after=1, kind="", growth=kinds.OF_ORDERS)


# Imported, so that a process that only reads knows what these conducts need.
KNOWN = scenario
CONDUCTS: Mapping[str, Callable[[Reading], None]] = {
    "lives": _live,
    "hooked": _read_hooked,
    "orders": _begin_many,
}
WITHOUT_LOADER: Mapping[str, Callable[[Reading], None]] = {}
