"""A program that is started as several instances, and what becomes of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conformance.trace import FIELDS, SUBJECTS
from conformance.trial import codes
from conformance.trial.codes import PROCESSES, fixed, number, of_words
from conformance.trial.words import count, joined, words_of

# What happens, and how it reads; {code} is the exit code.
HAPPENS = {
    "fails": "the last instance ends with exit code {code}",
    "second": "the second one instead",
    "killed": "the last instance is killed",
    "mildly": "by SIGTERM",
    "own": "the others, told to end, exit with codes of their own",
    "saved": "the others, told to end, exit with 0",
    "done": "the others had exited with 0 before",
    "term": "the launcher gets SIGTERM",
    "int": "the launcher gets SIGINT",
    "lines": "each instance writes lines",
    "child": "each instance leaves a child",
    "apart": "in a session of its own",
    "within": "it is launched by an instance of another job",
}


@dataclass(frozen=True)
class LaunchScenario:
    """How many replicas and instances are asked for, and what happens: words of HAPPENS."""

    replicas: int
    instances: int
    exit_code: int = 0
    happens: frozenset[str] = frozenset()

    waits = True

    @property
    def can_be_met(self) -> bool:
        """Whether each instance gets as many replicas as any other (LAUNCH-3)."""
        return self.replicas % self.instances == 0

    @property
    def is_stopped(self) -> bool:
        """Whether the launcher is told to stop."""
        return bool({"term", "int"} & self.happens)

    @property
    def size(self) -> tuple[Any, ...]:
        """What cases are compared by when the smallest is looked for."""
        return (self.replicas, self.instances, self.code)

    @property
    def code(self) -> str:
        """The scenario as a short word without spaces, which `from_code` reads."""
        return codes.write(_PARTS, self)

    def describe(self) -> str:
        """The scenario in the words of a report: ``4 replicas, 2 instances, the launcher gets SIGTERM``."""
        told = [text.format(code=self.exit_code) for word, text in HAPPENS.items() if word in self.happens]
        return ", ".join([count(self.replicas, "replica"), count(self.instances, "instance"), *told])

    def fields(self) -> dict[str, Any]:
        """The scenario as JSON stores it: its numbers stand under the names of a loader's."""
        return {
            **FIELDS,
            "samples": self.replicas,
            "world_size": self.instances,
            "seed": self.exit_code,
            "subject": "launch",
            "details": joined(self.happens, HAPPENS),
        }


_PARTS = (
    number("n", "replicas", most=PROCESSES),
    number("w", "instances", most=PROCESSES),
    fixed("b1"),
    number("s", "exit_code", 0, least=0),
    fixed("launch"),
    of_words("happens", HAPPENS),
)


def from_code(code: str) -> LaunchScenario:
    """The scenario of a `code`. ValueError, with the part that can't be read, if it is none."""
    scenario = LaunchScenario(**codes.read(_PARTS, code, "n4,w2,b1,launch"))
    codes.check_words(scenario.happens, HAPPENS, code)
    return scenario


def _from_fields(fields: Mapping[str, Any]) -> LaunchScenario:
    happens = frozenset(words_of(fields["details"]))
    return LaunchScenario(fields["samples"], fields["world_size"], fields["seed"], happens)


SUBJECTS["launch"] = _from_fields
