"""A loader that lives through one thing after the other: decides what is done with each epoch, and what comes of it.

Nothing that raises ends the reading: a consumer who breaks out of one loop after the other tries again.
"""

import pickle
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from conformance.loader.reading import Pass, Reader
from conformance.processes import calls
from conformance.processes.calls import Stopped
from conformance.trace import Epoch

# What becomes of an epoch, by the word that says so.
LIVES = {
    "begun": "one begun and left before its first step",
    "left": "one left after a step",
    "last": "one left in its last step",
    "held": "one read to its end after all others",
    "beyond": "one read beyond its end",
    "failed": "one that fails",
}
# What needs more than the loader, or the same epoch more than once.
FURTHER_LIVES = {
    "whole": "one read to its end",
    "fled": "one left after a step, before a sample that fails",
    "often": "one left after a step, ten times",
    "again": "one read twice",
    "beside": "one beside a step of another loader with another seed and epoch, twice",
    "saved": "one resumed after two steps by another loader, which is read on",
}
# What is listed alone, and not drawn among others.
LISTED_LIVES = {"peeked": "one in whose middle another iterator is begun, and left after a step"}
_OFTEN = 10
_BEFORE_A_STATE = 2  # steps


@dataclass
class Life:
    """The life of one loader. `make` gives a reader of another one of the request, with other fields.

    `epochs` are those that came, in the order in which they began; `passes` what was read of them, where it is kept.
    `pause` waits for what is read ahead.
    """

    reader: Reader
    make: Callable[[Mapping[str, Any]], Reader]
    epochs: list[Epoch]
    seed: int = 0
    merge: Callable[[list[Any]], Any] | None = None
    pause: Callable[[], None] = lambda: None
    held: dict[int, Pass] = field(default_factory=dict)
    passes: list[Pass] = field(default_factory=list)

    def live(self, words: list[str]) -> None:
        """Do with one epoch after the other what its word says, and read a last one to its end; then those held."""
        for number, word in enumerate([*words, ""]):
            self._begin_and(_ACTS[word], number, left=word in _LEAVING)
            for _ in range(_MORE_TIMES.get(word, 0)):
                self._begin_and(_ACTS[word], number, left=word in _LEAVING)
        for at, begun in self.held.items():
            self.epochs[at] = (begun if begun.failure else self.reader.tolerant_rest(begun)).epoch()

    def _begin_and(self, act: "Act", number: int, left: bool) -> None:
        try:
            begun = self.reader.begin(number)
        except Stopped as stopped:
            self.epochs.append(Epoch(number, (), failure=stopped.failure))
            return
        act(self, begun)
        self.epochs.append(begun.epoch(left=left))
        self.passes += [begun] if self.reader.keep_batches else []
        if len(self.epochs) - 1 not in self.held:
            # A loop that was left releases its iterator.
            begun.iterator = iter(())


Act = Callable[[Life, Pass], object]


def _step(life: Life, begun: Pass) -> None:
    life.reader.tolerant_step(begun)


def _flee(life: Life, begun: Pass) -> None:
    life.reader.tolerant_step(begun)
    life.pause()


def _rest(life: Life, begun: Pass) -> None:
    life.reader.tolerant_rest(begun)


def _hold(life: Life, begun: Pass) -> None:
    life.reader.tolerant_step(begun)
    life.held[len(life.epochs)] = begun


def _all_steps(life: Life, begun: Pass) -> None:
    """All steps, and never the end: as many as there are without a rest."""
    most = begun.length if isinstance(begun.length, int) else 1
    while len(begun.steps) < most and not begun.failure:
        before = len(begun.steps)
        life.reader.tolerant_step(begun)
        if len(begun.steps) == before:
            return


def _beyond(life: Life, begun: Pass) -> None:
    life.reader.tolerant_rest(begun)
    if not begun.failure:
        with suppress(Stopped):
            # What comes then is judged by WORK-15, and no step of this epoch.
            life.reader.step(Pass(begun.number, begun.length, begun.iterator))


def _beside(life: Life, begun: Pass) -> None:
    """A step, one of the other loader, which is then left and closed, and the rest."""
    life.reader.tolerant_step(begun)
    if begun.failure:
        return
    # What the other one does wrong is found by its own scenario.
    with suppress(Stopped):
        other = life.make({"seed": life.seed + 1})
        with suppress(Stopped):
            other.step(other.begin(begun.number + 1))
        calls.close(other.loader)
    life.reader.tolerant_rest(begun)


def _peek(life: Life, begun: Pass) -> None:
    """A step, one of another iterator of the same loader, which is then left, and the rest."""
    life.reader.tolerant_step(begun)
    if begun.failure:
        return
    # It may be refused.
    with suppress(Stopped):
        other = life.reader.begin(begun.number)
        life.reader.step(other)
        other.iterator = iter(())
    life.reader.tolerant_rest(begun)


def _resume(life: Life, begun: Pass) -> None:
    """Two steps, and the rest by another loader from the state; an epoch without more is read to its end."""
    try:
        if not life.reader.up_to(begun, _BEFORE_A_STATE):
            return
        blob = state_taken(life.reader)
        begun.iterator = iter(())
        calls.close(life.reader.loader)
        life.reader = life.make({})
        life.reader.method("load_state_dict", state_of(blob, life.merge))
        rest = life.reader.begin(begun.number)
    except Stopped as stopped:
        begun.failure = stopped.failure
        return
    life.reader.tolerant_rest(rest)
    begun.steps += rest.steps
    begun.batches += rest.batches
    begun.failure = rest.failure


def state_taken(reader: Reader) -> bytes:
    """The state of a loader, as a checkpoint holds it."""
    return bytes(calls.called("state_dict", None, lambda: pickle.dumps(reader.loader.state_dict())))


def state_of(blob: bytes, merge: Callable[[list[Any]], Any] | None) -> Any:
    """The state of one rank as it is loaded: what the adapter makes of all ranks' states, where it does."""
    state = pickle.loads(blob)
    return calls.called("load_state_dict", None, lambda: merge([state])) if merge else state


_LEAVING = ("begun", "left", "last", "often", "fled")
_MORE_TIMES = {"often": _OFTEN - 1, "again": 1, "beside": 1}
_ACTS: Mapping[str, Act] = {
    "": _rest,
    "whole": _rest,
    "begun": lambda life, begun: None,
    "left": _step,
    "fled": _flee,
    "held": _hold,
    "last": _all_steps,
    "beyond": _beyond,
    "failed": _rest,
    "often": _step,
    "again": _rest,
    "beside": _beside,
    "peeked": _peek,
    "saved": _resume,
}
