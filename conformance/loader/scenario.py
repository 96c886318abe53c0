"""One case: decides what a scenario is, its short code (for file names and `--case`) and its words in a report.

A scenario says everything that a run needs, so its code alone replays it: `n1,w2,b1,keep` is 1 sample, 2 ranks,
micro-batch 1, drop_last=False.
"""

import dataclasses
import re
from dataclasses import dataclass
from typing import Any, Literal, get_args

from conformance import subjects
from conformance.trial.words import count

# What the second run of a scenario changes; each is a promise that the delivery does not (or does) depend on it.
Variant = Literal[
    "none",
    "again",  # another process, with another hash seed
    "after",  # the same process, after other loaders were made and read there
    "jump",  # the last epoch reached directly by set_epoch
    "random-state",  # the caller's global generators stand elsewhere
    "seed+1",
    "workers",  # without worker processes
    "synchronous",  # not asynchronously
    "singly",  # with one device iteration a call, and so many calls more
    "mean",  # gradients averaged, with the learning rate times the count
    "alone",  # on one rank, without worker processes
]
VARIANTS: tuple[Variant, ...] = get_args(Variant)
Style = Literal["map", "iterable"]

# What goes wrong, once, and where ("raise@3": sample 3 raises); and how it reads in a report.
FAULTS = {
    "raise": "sample {} raises",
    "stop": "sample {} raises StopIteration",
    "index": "sample {} raises IndexError",
    "again": "sample {} raises when it is read again",
    "kill": "the worker that reads sample {} is killed",
    "exit": "the worker that reads sample {} exits",
    "hang": "the worker that reads sample {} hangs",
    "collate": "collating sample {} raises",
    "init": "the initialiser of worker {} raises",
}
# The faults after which a worker has had no time to clean up, and which a loader may take seconds to notice.
DEADLY = ("kill", "exit", "hang")
# What the consumer does other than reading epoch after epoch and closing the loader.
CONDUCTS = {
    "leave": "left after step {} of the first epoch",
    "two": "a second iterator begun after step {} of the first",
    "kept": "every batch kept",
    "ended": "next() called again after the end, the loader closed twice",
    "dropped": "dropped without closing",
    "look": "step {} looked at for long",
    "before": "the first iterator made late",
    "between": "the second epoch asked for late",
    "later": "the first iterator made late, for the last epoch",
    "restart": "iter() after {} steps or at the end",
    "length": "len() before, after {} steps and at the end",
    "interrupt": "interrupted while it waits for step {}",
    "quit": "the process ends without closing",
    "shut": "shut down after step {}",
    "save": "a state taken after step {} of epoch {before}",
}
# Conducts in which the consumer waits for what a loader does meanwhile.
_LATE = ("look", "before", "between", "later", "restart", "interrupt", "quit")
# What a sample is, if not a number.
KINDS = ("buffer", "large", "tensors", "arrays", "text", "none", "dict", "tuple", "named", "nested", "empty")
# Samples one of which, in the middle of the epoch, is unlike those before it.
ODD_KINDS = ("dtype", "narrow", "wide")

# The numbers of a code: letter, field, and the value that a code leaves out.
_NUMBERS = (
    ("n", "samples", None),
    ("w", "world_size", None),
    ("b", "batch_size", None),
    ("g", "gradient_accumulation", 1),
    ("p", "replication_factor", 1),
    ("i", "device_iterations", 1),
    ("k", "num_workers", 0),
    ("e", "epochs", 1),
    ("s", "seed", 0),
    ("x", "seeds", 1),
    ("a", "buffer_size", 0),
)
_MAY_BE_ZERO = ("samples", "num_workers", "seed", "buffer_size")
# The words of a code that stand for one value of a field.
_WORDS: dict[str, tuple[str, Any]] = {
    "iterable": ("dataset", "iterable"),
    "async": ("asynchronous", True),
    "early": ("early_preload", True),
    "once": ("load_indefinitely", False),
    "rebatched": ("rebatched", True),
    "persistent": ("persistent_workers", True),
    "device": ("subject", "device"),
    "launch": ("subject", "launch"),
    "pipeline": ("subject", "pipeline"),
}
_DEVICE_FACTORS = ("gradient_accumulation", "replication_factor", "device_iterations")
_REFUSABLE = ("batch_size", "world_size", "rank", *_DEVICE_FACTORS)
# What a refusal's value means; written out, so that nothing is evaluated.
REFUSED_VALUES: dict[str, Any] = {"0": 0, "-1": -1, "-3": -3, "1": 1, "2": 2, "True": True, "1.5": 1.5, "2.0": 2.0}


@dataclass(frozen=True)
class Scenario:
    """What a loader is asked for, on all its ranks, and what is changed for the second run.

    `refusal` is "" or one argument with a value that must be refused, for example "batch_size=0".
    `seeds` is how many seeds a statistical experiment reads. `fault` is one of FAULTS with its place ("raise@3"),
    `conduct` one of CONDUCTS with its place if it has one ("leave@2"), `kind` one of KINDS or ODD_KINDS; each is "" for
    none. What is saved needs two epochs at least. Those from `buffer_size` to `rebatched` speak of an asynchronous
    loader only, as the request does, and `persistent_workers` of one that has workers. What `subject` and `details`
    are, `subjects.py` says.
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
    subject: subjects.Subject = ""
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
    def is_waited_for(self) -> bool:
        """Whether a run mostly waits, until somebody notices."""
        waits = self.fault.partition("@")[0] in DEADLY or self.conduct.partition("@")[0] in _LATE
        return waits or self.subject == "launch"

    @property
    def saves(self) -> bool:
        """Whether a state is taken, with which another loader goes on."""
        return self.conduct.startswith("save")

    @property
    def has_device_factors(self) -> bool:
        """Whether a step is more than one micro-batch."""
        return self.combined_batch != self.batch_size

    @property
    def code(self) -> str:
        """The scenario as a short word without spaces, which `from_code` reads."""
        parts = [
            f"{letter}{getattr(self, field)}" for letter, field, default in _NUMBERS if getattr(self, field) != default
        ]
        # That nothing is dropped is said of a loader only.
        kept = ["drop"] if self.drop_last else [] if self.subject else ["keep"]
        parts[3:3] = [*kept, *(["shuffle"] if self.shuffle else [])]
        words = [
            *(word for word, (field, value) in _WORDS.items() if getattr(self, field) == value),
            self.fault,
            self.conduct,
            f"kind={self.kind}" if self.kind else "",
            f"with={self.details}" if self.details else "",
            self.variant if self.variant != "none" else "",
            self.refusal,
        ]
        return ",".join([*parts, *(word for word in words if word)])

    def describe(self) -> str:
        """The scenario in the words of a report: ``1 sample, 2 ranks, micro-batch 1, drop_last=False``."""
        if self.subject:
            return ", ".join([*subjects.told(self, count), *self._told_troubles()])
        noun = "sample" if self.dataset == "map" else "iterable sample"
        words = [count(self.samples, noun), count(self.world_size, "rank"), f"micro-batch {self.batch_size}"]
        words += self.factors_told()
        words.append(f"drop_last={self.drop_last}")
        if self.shuffle:
            words.append(f"shuffle=True, seed {self.seed}" if self.seeds == 1 else f"shuffle=True, {self.seeds} seeds")
        if self.epochs > 1:
            words.append(f"{self.epochs} epochs")
        if self.num_workers:
            words.append(count(self.num_workers, "persistent worker" if self.persistent_workers else "worker"))
        words += self._told_ahead()
        words += self._told_troubles()
        words += subjects.added(self)
        if self.kind:
            words.append(f'samples of the kind "{self.kind}"')
        if self.refusal:
            words.append(f"asked for {self.refusal}")
        return ", ".join(words)

    def factors_told(self) -> list[str]:
        """The factors of a step that are not 1: ``gradient accumulation 2``."""
        return [
            f"{field.replace('_', ' ')} {getattr(self, field)}"
            for field in _DEVICE_FACTORS
            if getattr(self, field) != 1
        ]

    def _told_troubles(self) -> list[str]:
        # What is saved is saved in the last epoch but one, so that a whole one follows.
        told = (_told(self.fault, FAULTS), _told(self.conduct, CONDUCTS, before=self.epochs - 2))
        return [text for text in told if text]

    def _told_ahead(self) -> list[str]:
        words = ["asynchronous"] if self.asynchronous else []
        words += [f"buffer size {self.buffer_size}"] if self.buffer_size else []
        words += ["early preload"] if self.early_preload else []
        words += [] if self.load_indefinitely else ["not loading indefinitely"]
        return words + (["rebatched"] if self.rebatched else [])


def _told(word: str, texts: dict[str, str], **numbers: int) -> str:
    name, _, place = word.partition("@")
    return texts[name].format(place, **numbers) if word else ""


def from_code(code: str) -> Scenario:
    """The scenario of a `code`. ValueError, with the part that can't be read, if it is none."""
    fields: dict[str, Any] = {}
    for part in code.split(","):
        field, value = _part(part, code)
        if field in fields:
            raise ValueError(f"{part!r} in the case {code!r} says {field} a second time; say it once")
        if type(value) is int and value < 1 and field not in _MAY_BE_ZERO:
            raise ValueError(f"{part!r} in the case {code!r} says {field} below 1; the least is 1")
        fields[field] = value
    missing = [field for _, field, default in _NUMBERS if default is None and field not in fields]
    if missing:
        raise ValueError(f"the case {code!r} does not say {' and '.join(missing)}; a case looks like n1,w2,b1,keep")
    subjects.check_details(subjects.key_of(**fields), fields.get("details", ""), code)
    scenario = Scenario(**fields)
    if scenario.saves and scenario.epochs < 2:
        raise ValueError(f"the case {code!r} saves within 1 epoch, and none follows; say e2 or more")
    return scenario


def _part(part: str, code: str) -> tuple[str, Any]:
    """The field that one part of a code sets, and its value."""
    letters = {letter: field for letter, field, _ in _NUMBERS}
    number = re.fullmatch(r"([a-z])([0-9]+)", part)
    if number and number[1] in letters:
        return letters[number[1]], int(number[2])
    if part in ("drop", "keep"):
        return "drop_last", part == "drop"
    if part == "shuffle":
        return "shuffle", True
    if part in VARIANTS:
        return "variant", part
    if part in _WORDS:
        return _WORDS[part]
    if re.fullmatch(r"[a-z]+(@[0-9]+)?", part) and part.partition("@")[0] in {**FAULTS, **CONDUCTS}:
        return ("fault" if part.partition("@")[0] in FAULTS else "conduct"), part
    name, _, value = part.partition("=")
    if name == "with":
        return "details", value
    if name == "kind" and value in (*KINDS, *ODD_KINDS):
        return "kind", value
    if name in _REFUSABLE and value in REFUSED_VALUES:
        return "refusal", part
    raise ValueError(f"{part!r} in the case {code!r} can't be read; a case looks like n1,w2,b1,keep")


def simpler(scenario: Scenario, **changes: object) -> Scenario:
    """The scenario with some fields replaced."""
    return dataclasses.replace(scenario, **changes)  # type: ignore[arg-type]
