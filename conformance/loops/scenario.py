"""A loop that is run: how many samples, in which batches, how many of them to a step, and for how many epochs."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conformance.trace import FIELDS, SUBJECTS
from conformance.trial import codes
from conformance.trial.codes import PASSES, SAMPLES, after, fixed, number, of_words
from conformance.trial.words import count, joined, words_of

# What is asked besides, and how it reads.
ASKED = {"validated": "a validation after each epoch"}
VALIDATION = 3
"""The samples of the validation; their numbers follow those of the training."""


@dataclass(frozen=True)
class LoopScenario:
    """A loop over `samples` samples; `asked` are words of ASKED, `seed` is that of the loader's order.

    `stop`: the micro-batches of the job after which it is stopped, and then resumed; or 0. `again`: the micro-batches
    after which the resumed job is stopped once more, as often as it lasts; or 0.
    """

    samples: int
    batch_size: int = 1
    accumulation: int = 1
    epochs: int = 1
    seed: int = 0
    asked: frozenset[str] = frozenset()
    stop: int = 0
    again: int = 0

    variant = "none"
    waits = False

    @property
    def micro_batches(self) -> int:
        """The batches of an epoch."""
        return -(-self.samples // self.batch_size)

    @property
    def groups(self) -> int:
        """The whole groups of an epoch, each of which is one step."""
        return self.micro_batches // self.accumulation

    @property
    def size(self) -> tuple[Any, ...]:
        """What cases are compared by when the smallest is looked for."""
        return (self.samples, self.batch_size, self.accumulation, self.epochs, self.stop, bool(self.again), self.code)

    @property
    def code(self) -> str:
        """The scenario as a short word without spaces, which `from_code` reads."""
        return codes.write(_PARTS, self)

    @property
    def stops(self) -> list[int]:
        """The micro-batches of the job after which it is stopped, each time that it is."""
        if not self.stop:
            return []
        end = self.micro_batches * self.epochs
        return [self.stop, *(range(self.stop + self.again, end, self.again) if self.again else ())]

    def steps_until(self, stop: int, steps_of_rest: bool) -> int:
        """The most steps that a job has made when it is stopped there: with the one under way."""
        epochs, taken = divmod(stop, self.micro_batches)
        of_an_epoch = -(-self.micro_batches // self.accumulation) if steps_of_rest else self.groups
        return epochs * of_an_epoch + min(-(-taken // self.accumulation), of_an_epoch)

    def batches(self, epoch: int) -> list[list[int]]:
        """The samples of each micro-batch when the loader was told that it is this epoch."""
        order = list(range(self.samples))
        random.Random(f"{self.seed} {epoch}").shuffle(order)
        return [order[start : start + self.batch_size] for start in range(0, self.samples, self.batch_size)]

    def describe(self) -> str:
        """The scenario in the words of a report: ``7 samples, micro-batch 1, a step each 3, 2 epochs``."""
        words = [count(self.samples, "sample"), f"micro-batch {self.batch_size}"]
        words += [f"a step each {count(self.accumulation, 'micro-batch')}"]
        words += [count(self.epochs, "epoch")] if self.epochs > 1 else []
        words += [text for word, text in ASKED.items() if word in self.asked]
        words += [f"stopped after {count(self.stop, 'micro-batch')} and resumed"] if self.stop else []
        words += [f"stopped again each {count(self.again, 'micro-batch')}"] if self.again else []
        return ", ".join(words)

    def fields(self) -> dict[str, Any]:
        """The scenario as JSON stores it: its numbers stand under the names of a loader's."""
        own = {name: getattr(self, own) for name, own in _STORED.items()}
        stopped = f"{_STOPPED}@{self.stop}" if self.stop else ""
        again = f",{_AGAIN}@{self.again}" if self.again else ""
        return {**FIELDS, **own, "subject": "loop", "conduct": stopped + again, "details": joined(self.asked, ASKED)}


_STOPPED, _AGAIN = "stopped", "again"
# The names under which JSON stores the fields, in the place of `asked` a text.
_STORED = {
    "samples": "samples",
    "batch_size": "batch_size",
    "gradient_accumulation": "accumulation",
    "epochs": "epochs",
    "seed": "seed",
}
_PARTS = (
    number("n", "samples", most=SAMPLES),
    number("b", "batch_size"),
    number("g", "accumulation", 1),
    number("e", "epochs", 1, most=PASSES),
    number("s", "seed", 0, least=0),
    fixed("loop"),
    after(_STOPPED, "stop"),
    after(_AGAIN, "again"),
    of_words("asked", ASKED),
)


def from_code(code: str) -> LoopScenario:
    """The scenario of a `code`. ValueError, with the part that can't be read, if it is none."""
    scenario = LoopScenario(**codes.read(_PARTS, code, "n7,b1,g3,e2,loop"))
    codes.check_words(scenario.asked, ASKED, code)
    if scenario.again and not scenario.stop:
        raise ValueError(f"the case {code!r} is stopped again, and not before; say {_STOPPED}@1")
    return scenario


def _from_fields(fields: Mapping[str, Any]) -> LoopScenario:
    own = {own: fields[name] for name, own in _STORED.items()}
    at = {
        name: int(number) for name, _, number in (each.partition("@") for each in fields["conduct"].split(",")) if name
    }
    asked = frozenset(words_of(fields["details"]))
    return LoopScenario(**own, asked=asked, stop=at.get(_STOPPED, 0), again=at.get(_AGAIN, 0))


SUBJECTS["loop"] = _from_fields
