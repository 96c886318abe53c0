"""A graph of pipes: what it is made of, who reads it, and what happens on the way."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from conformance.loader.conducts import CONDUCTS as OF_LOADERS
from conformance.loader.conducts import DEADLY, FAULTS
from conformance.loader.scenario import trouble
from conformance.trace import FIELDS, SUBJECTS
from conformance.trial import codes
from conformance.trial.codes import PASSES, PROCESSES, SAMPLES, choice, fixed, number, of_words, placed, word
from conformance.trial.words import count, joined, words_of

# The second run may be one on one rank without worker processes.
Variant = Literal["none", "alone"]

# How many elements come before each pause that is asked for.
LIMIT, PAUSE = 3, 2
# What the graph has, and what else is done; and how it reads.
ASKED = {
    "dispatch": "shared out by one process",
    "double": "shuffled twice",
    "zip": "two branches, zipped",
    "concat": "two branches, one after the other",
    "fork": "one source, forked and zipped",
    "joined": "sharded after the branches are joined",
    "late": "shuffled after the sharding",
    "one": "a filter leaves one worker's elements only",
    "ends": "a filter leaves the last elements of one worker only",
    "slow": "one worker is slow",
    "front": "it happens before the dispatch",
    "own": "each rank has a seed of its own",
    "unseeded": "seed() is not called",
    "reseed": "seed() called again, with the same and with another seed",
    "bounds": "the least and the largest seeds, and those beyond them",
    "limit": f"limited to {LIMIT} elements at a time",
    "pause": f"paused after {PAUSE} elements",
    "begun": "paused, and another epoch begun in its place",
    "limited": "the first iterator at its limit",
    "paused": "the first iterator paused",
    "twice": "sharded twice on one path",
    "wrong": "services joined in the wrong order",
}
# The words of graphs that are read as any other is.
BRANCHES = frozenset({"zip", "concat", "fork", "joined"})
GRAPHS = BRANCHES | {"dispatch", "double", "slow", "own"}
FILTERS = ("one", "ends")
# The words of a first iterator that yields nothing for now when a second one is made.
HALTED = frozenset({"limited", "paused"})
# What the consumer does other than reading epoch after epoch and closing the loader.
CONDUCTS = {
    **{name: OF_LOADERS[name].text for name in ("leave", "two", "dropped", "ended")},
    "shut": "shut down after step {}",
}


@dataclass(frozen=True)
class PipelineScenario:
    """A pipeline of this many elements, read by the workers of some ranks; `asked` are words of ASKED.

    `batch_size`: how many elements a `batch` at the end joins (1: there is none). `shuffle`: a shuffle before sharding.
    `fault` and `conduct` are one of FAULTS and of CONDUCTS with their place, or "".
    """

    elements: int
    ranks: int = 1
    batch_size: int = 1
    shuffle: bool = False
    workers: int = 0
    epochs: int = 1
    seed: int = 0
    fault: str = ""
    conduct: str = ""
    asked: frozenset[str] = frozenset()
    variant: Variant = "none"

    @property
    def waits(self) -> int:
        """2 if a run waits for a death to be noticed, else 0."""
        return 2 * (self.fault.partition("@")[0] in DEADLY)

    @property
    def parts(self) -> int:
        """All workers of all ranks; a rank that iterates without workers is one."""
        return self.ranks * max(1, self.workers)

    @property
    def filters(self) -> bool:
        """Whether some elements are left out."""
        return bool(self.asked.intersection(FILTERS))

    def lets_through(self, element: int) -> bool:
        """Whether the filter, if there is one, keeps an element."""
        if "one" in self.asked:
            return element % self.parts == 0
        return "ends" not in self.asked or 2 * element < self.elements or element % self.parts == 0

    @property
    def size(self) -> tuple[Any, ...]:
        """What cases are compared by when the smallest is looked for."""
        return (self.elements, self.ranks, self.batch_size, self.epochs, self.code)

    @property
    def code(self) -> str:
        """The scenario as a short word without spaces, which `from_code` reads."""
        return codes.write(_PARTS, self)

    def describe(self) -> str:
        """The scenario in the words of a report: ``7 elements, 2 workers, shuffled, seed 3``."""
        words = [
            count(self.elements, "element"),
            *([count(self.ranks, "rank")] if self.ranks > 1 else []),
            *([count(self.workers, "worker")] if self.workers else []),
            *([f"batches of {self.batch_size}"] if self.batch_size > 1 else []),
            *([f"shuffled, seed {self.seed}"] if self.shuffle else []),
            *([count(self.epochs, "epoch")] if self.epochs > 1 else []),
            *(text for word, text in ASKED.items() if word in self.asked),
            trouble(self.fault, FAULTS),
            trouble(self.conduct, CONDUCTS),
        ]
        return ", ".join(word for word in words if word)

    def fields(self) -> dict[str, Any]:
        """The scenario as JSON stores it: its numbers stand under the names of a loader's."""
        own = {name: getattr(self, own) for name, own in _STORED.items()}
        return {**FIELDS, **own, "subject": "pipeline", "details": joined(self.asked, ASKED)}


# The names under which JSON stores the fields, in the place of `asked` a text.
_STORED = {
    "samples": "elements",
    "world_size": "ranks",
    "batch_size": "batch_size",
    "shuffle": "shuffle",
    "num_workers": "workers",
    "epochs": "epochs",
    "seed": "seed",
    "variant": "variant",
    "fault": "fault",
    "conduct": "conduct",
}
_PARTS = (
    number("n", "elements", least=0, most=SAMPLES),
    number("w", "ranks", most=PROCESSES),
    number("b", "batch_size"),
    word("shuffle", "shuffle"),
    number("k", "workers", 0, least=0, most=PROCESSES),
    number("e", "epochs", 1, most=PASSES),
    number("s", "seed", 0, least=0),
    fixed("pipeline"),
    placed("fault", FAULTS, always=True),
    placed("conduct", CONDUCTS),
    of_words("asked", ASKED),
    choice("variant", ("alone",), "none"),
)


def from_code(code: str) -> PipelineScenario:
    """The scenario of a `code`. ValueError, with the part that can't be read, if it is none."""
    scenario = PipelineScenario(**codes.read(_PARTS, code, "n5,w1,b1,k2,pipeline"))
    codes.check_words(scenario.asked, ASKED, code)
    return scenario


def _from_fields(fields: Mapping[str, Any]) -> PipelineScenario:
    own = {own: fields[name] for name, own in _STORED.items()}
    return PipelineScenario(**own, asked=frozenset(words_of(fields["details"])))


SUBJECTS["pipeline"] = _from_fields
