"""A model that is called: how its step is made up, what is trained, and what a call returns."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from conformance.device.request import Mode
from conformance.loader.scenario import factors_of
from conformance.trace import FIELDS, SUBJECTS
from conformance.trial import codes
from conformance.trial.codes import PASSES, PROCESSES, SAMPLES, choice, fixed, number, of_words
from conformance.trial.words import count, joined, words_of

# What the second run changes: one device iteration a call and that many calls more; or gradients averaged, with the
# learning rate times the count.
Variant = Literal["none", "singly", "mean"]

# What is asked of the model, and how it reads; of mutually exclusive words the first wins.
ASKED = {
    "infer": "inference",
    "momentum": "SGD with momentum",
    "adam": "Adam",
    "deep": "two layers",
    "tied": "two layers with one weight",
    "headed": "a layer for each rank",
    "groups": "an optimizer with two groups of parameters",
    "frozen": "a bias that is not trained",
    "refused": "after steps that don't divide",
    "failed": "after steps in which the module fails",
    "lends": "a module that returns a part of its input",
    "moved": "weights changed between calls",
    "sum": "gradients added",
    "times": "with the learning rate times the count",
    "all": "outputs of all",
    "final": "outputs of the last",
    "every": "outputs of every second",
    "total": "outputs added",
    "synthetic": "synthetic data",
    "apart": "ranks begin with other weights",
}
# The words that ask for an output mode, and the mode's name in the request.
MODES: Mapping[str, Mode] = {"all": "all", "final": "final", "every": "every_n", "total": "sum"}


@dataclass(frozen=True)
class DeviceScenario:
    """A model called `calls` times with `samples` samples on each rank; `asked` are words of ASKED.

    `seed` is that of the weights and of the data.
    """

    samples: int
    ranks: int = 1
    batch_size: int = 1
    gradient_accumulation: int = 1
    replication_factor: int = 1
    device_iterations: int = 1
    calls: int = 1
    seed: int = 0
    asked: frozenset[str] = frozenset()
    variant: Variant = "none"

    waits = False

    @property
    def combined_batch(self) -> int:
        """N, the samples of a full step (BATCH-1)."""
        return self.batch_size * self.gradient_accumulation * self.replication_factor * self.device_iterations

    @property
    def size(self) -> tuple[Any, ...]:
        """What cases are compared by when the smallest is looked for."""
        return (self.samples, self.ranks, self.combined_batch, self.calls, self.code)

    @property
    def code(self) -> str:
        """The scenario as a short word without spaces, which `from_code` reads."""
        return codes.write(_PARTS, self)

    def describe(self) -> str:
        """The scenario in the words of a report: ``1 call, 2 samples each, micro-batch 1, replication factor 2``."""
        words = [
            count(self.calls, "call"),
            f"{count(self.samples, 'sample')} each",
            *([count(self.ranks, "rank")] if self.ranks > 1 else []),
            f"micro-batch {self.batch_size}",
        ]
        return ", ".join([*words, *factors_of(self), *(text for word, text in ASKED.items() if word in self.asked)])

    def fields(self) -> dict[str, Any]:
        """The scenario as JSON stores it: its numbers stand under the names of a loader's."""
        own = {name: getattr(self, own) for name, own in _STORED.items()}
        return {**FIELDS, **own, "subject": "device", "details": joined(self.asked, ASKED)}


# The names under which JSON stores the fields, in the place of `asked` a text.
_STORED = {
    "samples": "samples",
    "world_size": "ranks",
    "batch_size": "batch_size",
    "gradient_accumulation": "gradient_accumulation",
    "replication_factor": "replication_factor",
    "device_iterations": "device_iterations",
    "epochs": "calls",
    "seed": "seed",
    "variant": "variant",
}
_PARTS = (
    number("n", "samples", least=0, most=SAMPLES),
    number("w", "ranks", most=PROCESSES),
    number("b", "batch_size"),
    number("g", "gradient_accumulation", 1),
    number("p", "replication_factor", 1),
    number("i", "device_iterations", 1),
    number("e", "calls", 1, most=PASSES),
    number("s", "seed", 0, least=0),
    fixed("device"),
    of_words("asked", ASKED),
    choice("variant", ("singly", "mean"), "none"),
)


def from_code(code: str) -> DeviceScenario:
    """The scenario of a `code`. ValueError, with the part that can't be read, if it is none."""
    scenario = DeviceScenario(**codes.read(_PARTS, code, "n2,w1,b1,p2,device"))
    codes.check_words(scenario.asked, ASKED, code)
    return scenario


def _from_fields(fields: Mapping[str, Any]) -> DeviceScenario:
    own = {own: fields[name] for name, own in _STORED.items()}
    return DeviceScenario(**own, asked=frozenset(words_of(fields["details"])))


SUBJECTS["device"] = _from_fields


def singly(scenario: DeviceScenario) -> DeviceScenario:
    """The same samples and updates with one device iteration a call, in that many calls more."""
    times = scenario.device_iterations
    return replace(scenario, device_iterations=1, samples=scenario.samples // times, calls=scenario.calls * times)


def mean(scenario: DeviceScenario) -> DeviceScenario:
    """The same updates by averaged gradients, with the learning rate times the count of what was added."""
    return replace(scenario, asked=scenario.asked - {"sum"} | {"times"})
