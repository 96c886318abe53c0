"""What a loader is asked to choose from: a scenario of chapter 11, its short code and its words in a report.

`n9,w2,b2,keep,grouped,g3` is 9 samples in 3 groups, read on 2 ranks in steps of 2 samples of one group.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from conformance.contract import Claims
from conformance.trace import FIELDS, SUBJECTS
from conformance.trial import codes
from conformance.trial.codes import PASSES, PROCESSES, SAMPLES, choice, either, number, word
from conformance.trial.words import count, words_of

# What a case is about: a batch of one group, of a bounded size, of a least size; or a stream in
# shards; a subset; a mixture of sources.
BATCHES = ("grouped", "budget", "at_least")
ABOUT = {name.replace("_", "-"): name for name in (*BATCHES, "stream", "subset", "mixture")}

# More that is said of what there is to choose from, and how it reads.
DETAILS = {
    "lone": "the last one alone in its group",
    "large": "the middle one too large",
    "larger": "the last one too large",
    "own": "a dataset with an epoch of its own",
    "backwards": "the last one first",
    "half": "every other one",
    "swapped": "without the first and the last, and each two the other way round",
    "beside": "beside a loader of the others",
    "whole": "two loaders of the whole dataset",
    "none": "nothing asked for",
    "reused": "in the list of an earlier loader, refilled",
    "gone": "in a list where that of an earlier loader was",
    "back": "the last epoch first",
    "all": "until all are exhausted",
    "weighted": "the later ones with more weight",
    "unlike": "the last one the smallest, each other larger than the one before",
    "rare": "the last one with a weight of 0.1 %",
    "rarest": "the last one with a weight of 0.01 %",
    "saved": "restarted from the state after two steps",
    "late": "restarted from the state after seven steps",
    "inside": "loaded after set_epoch()",
    "retold": "set_epoch() called once more after it",
    "left": "the first epoch left after two steps",
    "retried": "the first epoch left after two steps and begun again",
    "failed": "the first epoch ended by an error",
    "held": "the first epoch held after two steps, and read to its end after the next",
}
# The steps of a mixture after which its state is taken: within each source, or when one may have been through.
STOPPED_AFTER = {"saved": 2, "late": 7}
# The words by which the first epoch does not come to its end, or not before the next one does.
LEAVING = frozenset(("left", "retried", "failed", "held"))
# The words by which a loader comes after another one, which was read over as many other samples, and is closed.
BEHIND = frozenset(("reused", "gone"))
# The weights of a source that is drawn from now and then: 0 in whole percents and parts of 256, and in thousandths.
RARE = {"rare": 0.001, "rarest": 0.0001}
# Of groups, shards and sources: their number may be kept in a byte.
MORE_THAN_A_BYTE = 300
# What the second run changes.
VARIANTS = ("none", "again", "jump", "seed+1")


@dataclass(frozen=True)
class ChosenScenario:
    """What a loader is asked for, on all its ranks. `about` says what is chosen.

    `parts` are the groups, the shards, or the sources; `budget` bounds the size of a step, from above or from below;
    `details` are words of DETAILS, joined by "+".
    """

    samples: int
    about: str
    world_size: int = 1
    batch_size: int = 1
    drop_last: bool = False
    shuffle: bool = False
    parts: int = 1
    budget: int = 0
    num_workers: int = 0
    persistent_workers: bool = False
    epochs: int = 1
    seed: int = 0
    details: str = ""
    variant: str = "none"

    waits = False

    @property
    def combined_batch(self) -> int:
        """N, the samples of a full step (BATCH-1): no factor of a device is asked for here."""
        return self.batch_size

    @property
    def words(self) -> list[str]:
        """The words of the details."""
        return words_of(self.details)

    @property
    def size(self) -> tuple[Any, ...]:
        """What cases are compared by when the smallest is looked for."""
        return (self.samples, self.world_size, self.batch_size, self.parts, self.epochs, self.code)

    @property
    def code(self) -> str:
        """The scenario as a short word without spaces, which `from_code` reads."""
        return codes.write(_PARTS, self)

    def describe(self) -> str:
        """The scenario in the words of a report: ``9 samples in 3 groups, 2 ranks, micro-batch 2, drop_last=False``."""
        words = [_ASKED[self.about](self), *(DETAILS[each] for each in self.words), count(self.world_size, "rank")]
        words += [f"micro-batch {self.batch_size}"] if self.about not in ("budget", "at_least") else []
        words.append(f"drop_last={self.drop_last}")
        words += [f"shuffle=True, seed {self.seed}"] if self.shuffle else []
        words += [count(self.epochs, "epoch")] if self.epochs > 1 else []
        if self.num_workers:
            words.append(count(self.num_workers, "persistent worker" if self.persistent_workers else "worker"))
        return ", ".join(words)

    def fields(self) -> dict[str, Any]:
        """The scenario as JSON stores it: what a loader's scenario lacks stands with the details."""
        own = {name: getattr(self, name) for name in _STORED}
        told = [self.about, f"g{self.parts}", f"t{self.budget}", *self.words]
        own["dataset"] = "iterable" if self.about == "stream" else "map"
        return {**FIELDS, **own, "subject": "chosen", "details": "+".join(told)}


_ASKED: Mapping[str, Callable[[ChosenScenario], str]] = {
    "grouped": lambda asked: f"{count(asked.samples, 'sample')} in {count(asked.parts, 'group')}",
    "budget": lambda asked: f"{count(asked.samples, 'sample')}, at most {asked.budget} in size a step",
    "at_least": lambda asked: f"{count(asked.samples, 'sample')}, at least {asked.budget} in size a step",
    "stream": lambda asked: f"{count(asked.samples, 'iterable sample')} in {count(asked.parts, 'shard')}",
    "subset": lambda asked: f"{len(indices_of(asked))} of {count(asked.samples, 'sample')}",
    "mixture": lambda asked: f"{count(asked.samples, 'sample')} in {count(asked.parts, 'source')}",
}
_STORED = (
    *("samples", "world_size", "batch_size", "drop_last", "shuffle", "num_workers", "persistent_workers"),
    *("epochs", "seed", "variant"),
)
_PARTS = (
    number("n", "samples", least=0, most=SAMPLES),
    number("w", "world_size", most=PROCESSES),
    number("b", "batch_size"),
    either("drop_last", {"drop": True, "keep": False}),
    either("about", ABOUT),
    word("shuffle", "shuffle"),
    number("g", "parts", 1, most=SAMPLES),
    number("t", "budget", 0, least=0),
    number("k", "num_workers", 0, least=0, most=PROCESSES),
    word("persistent", "persistent_workers"),
    number("e", "epochs", 1, most=PASSES),
    number("s", "seed", 0, least=0),
    codes.details("details"),
    choice("variant", VARIANTS, "none"),
)


def from_code(code: str) -> ChosenScenario:
    """The scenario of a `code`. ValueError, with the part that can't be read, if it is none."""
    fields = codes.read(_PARTS, code, "n9,w2,b2,keep,grouped,g3")
    missing = next((name for name in ("drop_last", "about") if name not in fields), None)
    if missing:
        raise ValueError(f"the case {code!r} does not say {missing}; a case looks like n9,w2,b2,keep,grouped,g3")
    scenario = ChosenScenario(**fields)
    codes.check_words(scenario.words, DETAILS, code)
    if scenario.about == "mixture" and scenario.samples < scenario.parts:
        raise ValueError(f"the case {code!r} has sources without samples; say at least n{scenario.parts}")
    return scenario


def _from_fields(fields: Mapping[str, Any]) -> ChosenScenario:
    about, parts, budget, *words = fields["details"].split("+")
    own = {name: fields[name] for name in _STORED}
    return ChosenScenario(**own, about=about, parts=int(parts[1:]), budget=int(budget[1:]), details="+".join(words))


SUBJECTS["chosen"] = _from_fields


def within(scenario: ChosenScenario, claims: Claims) -> ChosenScenario | None:
    """The nearest scenario that a loader of these claims can be asked for (`Claims.without`)."""
    changes: dict[str, Any] = {}
    if "ranks" in claims.without:
        changes["world_size"] = 1
    if "drop_last" in claims.without:
        changes["drop_last"] = False
    if "batch_size" in claims.without:
        changes["batch_size"] = 1
    return replace(scenario, **changes)


def stopped_after(scenario: ChosenScenario) -> int:
    """The steps after which a mixture is stopped; 0 where it is not."""
    return next((steps for word, steps in STOPPED_AFTER.items() if word in scenario.words), 0)


# --- what there is to choose from -----------------------------------------------------------------------------------


def epochs_of(scenario: ChosenScenario) -> tuple[int, ...]:
    """The epochs that are read, in their order."""
    epochs = tuple(range(scenario.epochs))
    return epochs[::-1] if "back" in scenario.words else epochs


def groups_of(scenario: ChosenScenario) -> tuple[int, ...]:
    """The group of each sample: they take turns."""
    groups = [index % scenario.parts for index in range(scenario.samples)]
    if "lone" in scenario.words and groups:
        groups[-1] = scenario.parts
    return tuple(groups)


def sizes_of(scenario: ChosenScenario) -> tuple[int, ...]:
    """The size of each sample, 1 to 4; one that is too large is larger than the budget."""
    sizes = [1 + (5 * index + index // 3) % min(4, scenario.budget) for index in range(scenario.samples)]
    for place in too_large(scenario):
        sizes[place] = scenario.budget + 1 + place % 2
    return tuple(sizes)


def too_large(scenario: ChosenScenario) -> list[int]:
    """The samples that no budget has room for."""
    places = {"large": scenario.samples // 2, "larger": scenario.samples - 1}
    return sorted({place for word, place in places.items() if word in scenario.words and scenario.samples})


def shards_of(scenario: ChosenScenario) -> tuple[range, ...]:
    """The elements of each shard, or source; they differ by one at most."""
    bounds = [at * scenario.samples // scenario.parts for at in range(scenario.parts + 1)]
    return tuple(range(bounds[at], bounds[at + 1]) for at in range(scenario.parts))


def has_own_epoch(scenario: ChosenScenario) -> bool:
    """Whether the dataset shuffles itself, in an order that hangs on the epoch that it is told."""
    return "own" in scenario.words


def sources_of(scenario: ChosenScenario) -> tuple[range, ...]:
    """The samples of each source, which lie one behind the other, as the shards of a stream do.

    A rare one has few, so that who goes on to its end comes there. Unlike ones have 2, 3, ... and 1 shares: sorted by
    size, either way, they have another order.
    """
    shares = [*range(2, scenario.parts + 1), 1]
    if "unlike" in scenario.words and scenario.samples >= sum(shares):
        ends = [sum(shares[:at]) * scenario.samples // sum(shares) for at in range(scenario.parts + 1)]
        return tuple(range(*bounds) for bounds in pairwise(ends))
    if not rarity_of(scenario):
        return shards_of(scenario)
    few = min(scenario.samples // scenario.parts, max(2, scenario.samples // 500))
    others = shards_of(replace(scenario, samples=scenario.samples - few, parts=scenario.parts - 1))
    return (*others, range(scenario.samples - few, scenario.samples))


def rarity_of(scenario: ChosenScenario) -> float:
    """The weight of the rare source, or 0 where there is none."""
    return next((RARE[word] for word in RARE if word in scenario.words and scenario.parts > 1), 0.0)


def weights_of(scenario: ChosenScenario) -> tuple[float, ...]:
    """The weight of each source; they add up to 1, but for what a sum of fractions errs by."""
    if rare := rarity_of(scenario):
        return (*([(1 - rare) / (scenario.parts - 1)] * (scenario.parts - 1)), rare)
    weights = [at + 1 if "weighted" in scenario.words else 1 for at in range(scenario.parts)]
    return tuple(weight / sum(weights) for weight in weights)


def ends_with_the_last(scenario: ChosenScenario) -> bool:
    """Whether a mixture goes on until all sources are exhausted, and not only until one is."""
    return "all" in scenario.words


def indices_of(scenario: ChosenScenario) -> list[int]:
    """The samples of a subset, in the order in which they are named: two of three, one of two, all of them, or none."""
    if "none" in scenario.words:
        return []
    if "whole" in scenario.words:
        return list(range(scenario.samples))
    if "swapped" in scenario.words:
        # As many as lie between its ends, which stand where they would in a range.
        first, *inner = range(1, max(1, scenario.samples - 1)) or (0,)
        turned = [index for at in range(0, len(inner) - 1, 2) for index in (inner[at + 1], inner[at])]
        return [first, *turned, *inner[len(turned) :]]
    keeps = (lambda index: index % 2 == 0) if "half" in scenario.words else (lambda index: index % 3 != 0)
    indices = list(filter(keeps, range(scenario.samples)))
    return indices[::-1] if "backwards" in scenario.words else indices


def indices_of_second(scenario: ChosenScenario) -> list[int]:
    """Those of the second loader: the others, or the whole dataset as well."""
    mine = indices_of(scenario)
    return mine if "whole" in scenario.words else [index for index in range(scenario.samples) if index not in mine]


def has_second(scenario: ChosenScenario) -> bool:
    """Whether two loaders are read beside each other."""
    return bool({"beside", "whole"} & {*scenario.words})
