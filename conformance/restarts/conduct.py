"""How a loader is interrupted and resumed: decides when a state is taken, and what is done with it in the next run.

In the first run the state is taken, and the loader goes on as if nothing had happened: that is what must come from the
state as well. In the next one, in another process, a new loader of the same request is given the state first; then the
epoch is begun as every epoch is, by `set_epoch` where the loader has it, and `iter`.
"""

import pickle
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from conformance.loader.member import Reading
from conformance.loader.reading import Pass, Reader, length_of, read_epochs
from conformance.processes.calls import called
from conformance.restarts import scenario
from conformance.trace import Epoch, Saved


@dataclass(frozen=True)
class Restarts:
    """A consumer that takes states and loads them: the words of the scenario, and the epochs that it reads.

    `make` gives another loader of the same request, `keep` is told the state, `merge` (if the adapter has it) makes one
    state of those of all ranks; `goes_on`: a state of an epoch's end is one of the next (`end_of_epoch="next"`).
    `fails`: a sample of the rest does.
    """

    reader: Reader
    make: Callable[[], Any]
    numbers: tuple[int, ...]
    words: frozenset[str]
    epochs: list[Epoch]
    keep: Callable[[Saved], None]
    merge: Callable[[list[Any]], Any] | None
    goes_on: bool
    fails: bool

    # --- the run in which the state is taken --------------------------------------------------------------------------

    def save(self, place: int) -> None:
        """Read all epochs; in the last but one, take a state after this many steps."""
        *before, number, _ = self.numbers
        if "broken" in self.words:
            for each in before:
                self._leave(each)
        else:
            read_epochs(self.reader, tuple(before), self.epochs)
        early = self._state() if "unbegun" in self.words else None
        going = self.reader.begin(number)
        if "failed" in self.words:
            self._save_after_an_error(going)
            return
        more = self.reader.up_to(going, place)
        if "asked" in self.words:
            self._ask()
        first = pickled(self._state()) if "twice" in self.words else b""
        state = self._state() if early is None else early
        saved = Saved(pickled(state), not more)
        if more:
            self._rest(going)
        self.epochs.append(going.epoch())
        if "onward" in self.words:
            later = self._save_in(self.numbers[-1]).blob
        else:
            read_epochs(self.reader, self.numbers[-1:], self.epochs)
            later = pickled(state) if "held" in self.words else first
        self.keep(replace(saved, later=later))
        if "used" in self.words:
            self._load(state)
            read_epochs(self.reader, self._numbers_after(not more), self.epochs)

    def _save_after_an_error(self, going: Pass) -> None:
        """Take the state that a job saves which ends by an error, if there is one."""
        self.epochs.append(self.reader.tolerant_rest(going).epoch())
        if going.failure and going.failure.kind == "raised":
            self.keep(Saved(pickled(self._state())))

    def _ask(self) -> None:
        """Ask for what a progress bar and a log ask for."""
        length_of(self.reader.loader)
        with suppress(Exception):
            repr(self.reader.loader)

    def _leave(self, number: int) -> None:
        """Read one step of an epoch, as somebody does who breaks out of the loop."""
        going = self.reader.begin(number)
        self.reader.step(going)
        self.epochs.append(going.epoch(left=True))

    def _rest(self, going: Pass) -> None:
        more = True
        while more:
            more = self.reader.step(going)
            # At the end, too: a checkpoint is written there more than anywhere else.
            if "watched" in self.words:
                pickled(self._state())

    # --- the run that goes on -----------------------------------------------------------------------------------------

    def go_on(self, saved: tuple[Saved, ...], rank: int) -> None:
        """Load the state of this rank, or what the adapter makes of all of them, and read on."""
        mine = saved[rank % len(saved)]
        merge, states = self.merge, self._loaded([mine] if self.merge is None else list(saved))
        state = states[0] if merge is None else called("load_state_dict", None, lambda: merge(states))
        numbers = self._numbers_after(mine.at_the_end)
        self._begin_with(state, numbers, mine.at_the_end)
        if "shared" in self.words:
            other = replace(self, reader=replace(self.reader, loader=self.make()))
            other._begin_with(state, numbers, mine.at_the_end)

    def _begin_with(self, state: Any, numbers: tuple[int, ...], at_the_end: bool) -> None:
        reader = self.reader
        if "inside" in self.words and reader.sets_epoch and hasattr(reader.loader, "set_epoch"):
            called("set_epoch", numbers[0], lambda: reader.loader.set_epoch(numbers[0]))
            reader = replace(reader, sets_epoch=False)
        under_way = reader.begin(numbers[0]) if {"amid", "begun"} & self.words else None
        if under_way is not None and "amid" in self.words:
            reader.step(under_way)
        self._load(state)
        if "asked" in self.words:
            self._ask()
            # As a framework does for each loader that has it, beside the user's own loop.
            if self.reader.sets_epoch and hasattr(reader.loader, "set_epoch"):
                called("set_epoch", numbers[0], lambda: reader.loader.set_epoch(numbers[0]))
        if under_way is not None and "begun" in self.words:
            self.epochs.append(reader.rest(under_way).epoch())
        if "relayed" in self.words:
            self.keep(Saved(pickled(self._state()), at_the_end))
        going = reader.begin(numbers[0])
        # As in `iterator = iter(loader)`: the old one goes when there is a new one.
        del under_way
        if "anew" in self.words:
            self.keep(Saved(pickled(self._state()), at_the_end))
        more = True
        if self.fails and "left" in self.words:
            reader.tolerant_rest(going)
        elif {"again", "left"} & self.words:
            more = reader.step(going)
        if "again" in self.words:
            self.keep(Saved(pickled(self._state()), not more))
        if more and "left" not in self.words:
            self._rest(going)
        self.epochs.append(going.epoch(left="left" in self.words))
        del going
        if "onward" in self.words and numbers[1:]:
            self.keep(self._save_in(numbers[1]))
        else:
            read_epochs(self.reader, numbers[1:], self.epochs)

    def _save_in(self, number: int) -> Saved:
        """The state after a step of an epoch, which is read to its end."""
        going = self.reader.begin(number)
        more = self.reader.step(going)
        saved = Saved(pickled(self._state()), not more)
        if more:
            self.reader.rest(going)
        self.epochs.append(going.epoch())
        return saved

    def _numbers_after(self, at_the_end: bool) -> tuple[int, ...]:
        """The epochs that are asked for after a restart: the one in which the state was taken, unless that is over."""
        return self.numbers[-1:] if at_the_end and self.goes_on else self.numbers[-2:]

    def _loaded(self, saved: list[Saved]) -> list[Any]:
        return list(called("load_state_dict", None, lambda: [pickle.loads(each.blob) for each in saved]))

    def _state(self) -> Any:
        return self.reader.method("state_dict")

    def _load(self, state: Any) -> None:
        self.reader.method("load_state_dict", state)


def pickled(state: Any) -> bytes:
    """The state as a checkpoint holds it."""
    return bytes(called("state_dict", None, lambda: pickle.dumps(state)))


def _save_or_resume(going: Reading) -> None:
    restarts = Restarts(
        replace(going.reader, sets_epoch=going.reader.sets_epoch and "unset" not in going.scenario.words),
        going.load,
        going.task.epochs,
        frozenset(going.scenario.words),
        going.epochs,
        going.saved.append,
        going.implementation.offers.get("merge"),
        goes_on=going.implementation.claims.end_of_epoch == "next",
        fails=bool(going.scenario.fault),
    )
    if going.task.saved:
        restarts.go_on(going.task.saved, going.task.rank)
    else:
        restarts.save(going.place)


# Imported, so that a process that only reads knows what these conducts need.
KNOWN = scenario
CONDUCTS: Mapping[str, Callable[[Reading], None]] = {"save": _save_or_resume}
WITHOUT_LOADER: Mapping[str, Callable[[Reading], None]] = {}
