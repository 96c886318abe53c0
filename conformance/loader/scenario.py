"""What a loader is asked for, on all its ranks: a scenario, its short code and its words in a report.

A scenario says everything that a run needs, so its code alone replays it: `n1,w2,b1,keep` is 1 sample, 2 ranks,
micro-batch 1, drop_last=False. The chapters about loaders mix faults, conducts, workers and reading ahead freely, so
they share this one record.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Any, Literal, get_args

from conformance.contract import Claims
from conformance.loader.conducts import (
    AGING_KINDS,
    BASE_ERRORS,
    BIG_KINDS,
    CONDUCTS,
    DEADLY,
    FAULT_WORDS,
    FAULTS,
    IN_EPOCH,
    KINDS,
    NO_CONDUCT,
    ODD_KINDS,
    RAISED,
    SLOW,
    TIMEOUTS,
    Conduct,
)
from conformance.trace import FIELDS, SUBJECTS
from conformance.trial import codes
from conformance.trial.codes import PASSES, PROCESSES, SAMPLES, choice, either, named, number, placed, word
from conformance.trial.words import count, words_of

# What the second run of a scenario changes; each is a promise that the delivery does not (or does) depend on it.
Variant = Literal[
    "none",
    "again",  # another process, with another hash seed
    "after",  # a process where other loaders were made and read before
    "jump",  # the last epoch reached directly by set_epoch
    "random-state",  # the caller's global generators stand elsewhere
    "seed+1",
    "seed+65536",  # seeds that differ in one high bit
    "seed+2147483648",
    "seed+4294967296",
    "workers",  # without worker processes
    "synchronous",  # not asynchronously
]
VARIANTS: tuple[Variant, ...] = get_args(Variant)
Style = Literal["map", "iterable"]

_DEVICE_FACTORS = ("gradient_accumulation", "replication_factor", "device_iterations")
_REFUSABLE = ("batch_size", "world_size", "rank", *_DEVICE_FACTORS)
# What a refusal's value means; written out, so that nothing is evaluated.
REFUSED_VALUES: dict[str, Any] = {"0": 0, "-1": -1, "-3": -3, "1": 1, "2": 2, "True": True, "1.5": 1.5, "2.0": 2.0}
_REFUSALS = frozenset(f"{name}={value}" for name in _REFUSABLE for value in REFUSED_VALUES) | {
    # Of two that are negative the product is not.
    f"{one}=-1+{other}=-1"
    for one, other in permutations(_REFUSABLE, 2)
}

# What is asked for of workers besides.
_OF_WORKERS = {"initialised": "with an initialiser of workers", "fewer": "one worker less on odd ranks"}
# What is asked for of a loader that is without something: a field, its usual value, and what it can't refuse.
_USUAL: dict[str, tuple[str, Any, tuple[str, ...]]] = {
    "ranks": ("world_size", 1, ("rank", "world_size")),
    "drop_last": ("drop_last", False, ()),
    "batch_size": ("batch_size", 1, ("batch_size",)),
}

# A code is written, and read, in this order.
_PARTS = (
    number("n", "samples", least=0, most=SAMPLES),
    number("w", "world_size", most=PROCESSES),
    number("b", "batch_size"),
    either("drop_last", {"drop": True, "keep": False}),
    word("shuffle", "shuffle"),
    number("g", "gradient_accumulation", 1),
    number("p", "replication_factor", 1),
    number("i", "device_iterations", 1),
    number("k", "num_workers", 0, least=0, most=PROCESSES),
    number("e", "epochs", 1, most=PASSES),
    number("s", "seed", 0, least=0),
    number("x", "seeds", 1, most=PASSES),
    number("a", "buffer_size", 0, least=0),
    word("iterable", "dataset", "iterable"),
    word("async", "asynchronous"),
    word("early", "early_preload"),
    word("once", "load_indefinitely", False),
    word("rebatched", "rebatched"),
    word("persistent", "persistent_workers"),
    placed("fault", FAULTS, always=True),
    placed("conduct", CONDUCTS),
    named("kind", "kind", (*KINDS, *AGING_KINDS, *ODD_KINDS, *BIG_KINDS)),
    codes.details("details"),
    choice("variant", VARIANTS, "none"),
    choice("refusal", tuple(_REFUSALS), ""),
)
_EXAMPLE = "n1,w2,b1,keep"


@dataclass(frozen=True)
class Scenario:
    """What a loader is asked for, on all its ranks, and what is changed for the second run.

    `refusal` is "" or one argument with a value that must be refused, for example "batch_size=0"; or two, with a +.
    `seeds` is how many seeds a statistical experiment reads. `fault` is one of FAULTS with its place ("raise@3"),
    `conduct` one of CONDUCTS with its place if it has one ("leave@2"), `kind` one of KINDS or ODD_KINDS; each is "" for
    none. A scenario that saves needs at least two epochs. Those from `buffer_size` to `rebatched` speak of an
    asynchronous loader only, as the request does, and `persistent_workers` of one that has workers. `details` are words
    that say more of the conduct, joined by "+".
    """

    samples: int
    world_size: int = 1
    batch_size: int = 1
    gradient_accumulation: int = 1
    replication_factor: int = 1
    device_iterations: int = 1
    drop_last: bool = False
    shuffle: bool = False
    num_workers: int = 0
    epochs: int = 1
    seed: int = 0
    variant: Variant = "none"
    refusal: str = ""
    seeds: int = 1
    dataset: Style = "map"
    fault: str = ""
    conduct: str = ""
    kind: str = ""
    asynchronous: bool = False
    buffer_size: int = 0
    early_preload: bool = False
    load_indefinitely: bool = True
    rebatched: bool = False
    persistent_workers: bool = False
    details: str = ""

    @property
    def combined_batch(self) -> int:
        """N, the samples of a full step (BATCH-1)."""
        return self.batch_size * self.gradient_accumulation * self.replication_factor * self.device_iterations

    @property
    def reads_before(self) -> int:
        """The reads that must come before the first iterator: with early preload a full buffer (ASYNC-4)."""
        whole = self.samples - self.samples % self.combined_batch if self.drop_last else self.samples
        return min(whole, max(1, self.buffer_size) * self.combined_batch) if self.early_preload else 0

    @property
    def reads_between(self) -> int:
        """Those that must come before its second one: the next epoch is begun, if that is asked for (ASYNC-5)."""
        return self.samples + 1 if self.asynchronous and self.load_indefinitely else 0

    @property
    def waits(self) -> int:
        """How long a run may wait: 2 for a time-out or a death to be noticed, 1 for workers that come and go."""
        if self.is_slow or self.is_timed or self.fault.partition("@")[0] in DEADLY:
            return 2
        return self.conducted.waits or int((self.is_troubled or self.saves) and self.num_workers > 0)

    @property
    def is_timed(self) -> bool:
        """Whether a time-out is asked for."""
        return self.fault.partition("@")[0] in TIMEOUTS or self.conduct in TIMEOUTS

    @property
    def is_slow(self) -> bool:
        """Whether nothing goes wrong, and a sample takes its time."""
        return self.fault.partition("@")[0] in SLOW

    @property
    def is_troubled(self) -> bool:
        """Whether something goes wrong, or the consumer does what it need not: then leaks are looked for."""
        return bool((self.fault and not self.is_slow) or (self.conduct and not self.conducted.calm)) and not self.saves

    @property
    def is_watched(self) -> bool:
        """Whether the dataset logs its reads."""
        watched = self.is_troubled or bool(self.fault) or bool(self.kind) or self.conducted.watched
        return watched or self.num_workers > 0 or self.dataset == "iterable"

    @property
    def saves(self) -> bool:
        """Whether a state is taken, from which another loader resumes."""
        return self.conduct.startswith("save")

    @property
    def has_device_factors(self) -> bool:
        """Whether a step is more than one micro-batch."""
        return self.combined_batch != self.batch_size

    @property
    def conducted(self) -> Conduct:
        """What is known of the conduct."""
        return CONDUCTS[self.conduct.partition("@")[0]] if self.conduct else NO_CONDUCT

    @property
    def words(self) -> list[str]:
        """The words of the details."""
        return words_of(self.details)

    def workers_of(self, rank: int) -> int:
        """The workers that a rank asks for; hosts may have unlike numbers of cores."""
        return self.num_workers - (rank % 2 if "fewer" in self.words else 0)

    @property
    def told_words(self) -> Mapping[str, str]:
        """What the words of the details may be, and how each reads."""
        of_workers = _OF_WORKERS if self.num_workers and not self.conduct else {}
        of_rests = {"left": "the rest left by that error"} if self.fault and self.saves else {}
        return {**(FAULT_WORDS if self.fault else {}), **of_workers, **self.conducted.details, **of_rests}

    @property
    def faulty_epoch(self) -> int:
        """The place of the epoch in which the fault happens."""
        if self.conducted.fails_in:
            return self.words.index(self.conducted.fails_in) if self.conducted.fails_in in self.words else 0
        # Who is idle has read an epoch; a state is taken in the last but one.
        usual = 1 if self.fault.startswith("idle") else self.epochs - 2 if self.saves else 0
        return next((IN_EPOCH[each] for each in self.words if each in IN_EPOCH), usual)

    @property
    def error(self) -> str:
        """The word for what the fault raises, or "" for the dataset's own exception."""
        return next((each for each in self.words if each in RAISED), "")

    @property
    def raises_base(self) -> bool:
        """Whether what it raises is no Exception."""
        return self.error in BASE_ERRORS

    @property
    def kills_a_worker(self) -> bool:
        """Whether a worker dies of the fault, or may."""
        return self.fault.partition("@")[0] in DEADLY or (self.raises_base and self.num_workers > 0)

    @property
    def size(self) -> tuple[Any, ...]:
        """What cases are compared by when the smallest is looked for."""
        return (self.samples, self.world_size, self.combined_batch, self.epochs, self.code)

    @property
    def code(self) -> str:
        """The scenario as a short word without spaces, which `from_code` reads."""
        return codes.write(_PARTS, self)

    def fields(self) -> dict[str, Any]:
        """The scenario as JSON stores it."""
        return {**FIELDS, **dataclasses.asdict(self)}

    def describe(self) -> str:
        """The scenario in the words of a report: ``1 sample, 2 ranks, micro-batch 1, drop_last=False``."""
        noun = "sample" if self.dataset == "map" else "iterable sample"
        words = [count(self.samples, noun), count(self.world_size, "rank"), f"micro-batch {self.batch_size}"]
        words += factors_of(self)
        words.append(f"drop_last={self.drop_last}")
        if self.shuffle:
            words.append(f"shuffle=True, seed {self.seed}" if self.seeds == 1 else f"shuffle=True, {self.seeds} seeds")
        if self.epochs > 1:
            words.append(f"{self.epochs} epochs")
        if self.num_workers:
            words.append(count(self.num_workers, "persistent worker" if self.persistent_workers else "worker"))
        words += self._ahead()
        words += self._trouble()
        words += [self.told_words[word] for word in self.words]
        if self.kind:
            words.append(f'samples of the kind "{self.kind}"')
        if self.refusal:
            words.append(f"asked for {self.refusal}")
        return ", ".join(words)

    def _trouble(self) -> list[str]:
        texts = {name: conduct.text for name, conduct in CONDUCTS.items()}
        # What is saved is saved in the last epoch but one, so that a whole one follows.
        told = (trouble(self.fault, FAULTS), trouble(self.conduct, texts, before=self.epochs - 2))
        return [text for text in told if text]

    def _ahead(self) -> list[str]:
        words = ["asynchronous"] if self.asynchronous else []
        words += [f"buffer size {self.buffer_size}"] if self.buffer_size else []
        words += ["early preload"] if self.early_preload else []
        words += [] if self.load_indefinitely else ["not loading indefinitely"]
        return words + (["rebatched"] if self.rebatched else [])


def factors_of(scenario: Any) -> list[str]:
    """The factors of a step that are not 1: ``gradient accumulation 2``."""
    return [
        f"{name.replace('_', ' ')} {getattr(scenario, name)}"
        for name in _DEVICE_FACTORS
        if getattr(scenario, name) != 1
    ]


def trouble(word: str, texts: Mapping[str, str], **numbers: int) -> str:
    """A fault or a conduct in the words of a report, with its place; "" for none."""
    name, _, place = word.partition("@")
    return texts[name].format(place, **numbers) if word else ""


def may_fail(scenario: Scenario, claims: Claims) -> bool:
    """Whether an error is allowed: something was to fail, the request can't be met, or no restart is promised."""
    is_too_small = scenario.samples < claims.least_samples(scenario.world_size, scenario.combined_batch)
    fails = scenario.fault and not scenario.is_slow
    return bool(fails or scenario.refusal or is_too_small or (scenario.saves and not claims.resume))


def within(scenario: Scenario, claims: Claims) -> Scenario | None:
    """The scenario without what the loader can't be asked for; None if that is all that it is about."""
    changes: dict[str, object] = {}
    for name in claims.without:
        field, value, unasked = _USUAL[name]
        changes[field] = value
        if scenario.refusal.partition("=")[0] in unasked:
            return None
    return simpler(scenario, **changes) if changes else scenario


def from_code(code: str) -> Scenario:
    """The scenario of a `code`. ValueError, with the part that can't be read, if it is none."""
    scenario = Scenario(**codes.read(_PARTS, code, _EXAMPLE))
    codes.check_words(scenario.words, scenario.told_words, code)
    if scenario.faulty_epoch >= scenario.epochs:
        raise ValueError(f"the case {code!r} has its fault in an epoch that is not read; say more epochs")
    if scenario.saves and scenario.epochs < 2:
        raise ValueError(f"the case {code!r} saves within 1 epoch, and none follows; say e2 or more")
    return scenario


def _from_fields(fields: Mapping[str, Any]) -> Scenario:
    return Scenario(**{name: value for name, value in fields.items() if name != "subject"})


SUBJECTS[""] = _from_fields


def simpler(scenario: Scenario, **changes: object) -> Scenario:
    """The scenario with some fields replaced."""
    return dataclasses.replace(scenario, **changes)  # type: ignore[arg-type]
