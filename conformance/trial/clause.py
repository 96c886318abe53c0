"""What a judge is: decides how a clause is registered, what it says of one trace, and the arithmetic all judges share.

A judge is a plain function of (scenario, claims, trace). It gives None if the clause could not have failed in this
trace (then the trace does not count as an exercise), else the list of its findings, empty when the clause holds.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from conformance.contract import Claims
from conformance.loader.scenario import Scenario
from conformance.trace import Epoch, Run, Trace

Level = Literal["MUST", "SHOULD"]
Family = Literal[
    "map",
    "workers",
    "iterable",
    "life",
    "refusals",
    "statistics",
    "samples",
    "async",
    "device",
    "launch",
    "pipeline",
    "resume",
]
# The order of the chapters in specs/.
_CHAPTERS = ("BATCH", "COUNT", "PART", "ORDER", "WORK", "ASYNC", "DEVICE", "LAUNCH", "PIPE", "RESUME", "ERROR", "LEAK")
_MOST_LINES = 5
_MOST_WIDTH = 72


@dataclass(frozen=True)
class Finding:
    """One violation, ready for a person. Two findings of one `kind` are the same fault."""

    kind: str
    expected: str
    delivered: tuple[str, ...]
    why: str


Verdict = list[Finding] | None
Judge = Callable[[Scenario, Claims, Trace], Verdict]


@dataclass(frozen=True)
class Clause:
    """A clause of the specs with its judge. `floor`: the exercises that a gate run must show before it says HOLDS.

    `twin`: before it accuses, the judge wants to see the same scenario unshuffled (`Trace.variant("unshuffled")`).
    """

    id: str
    judge: Judge
    family: Family
    level: Level
    applies: Callable[[Claims], bool]
    floor: int
    twin: bool = False

    @property
    def number(self) -> tuple[int, int]:
        """For sorting: by chapter, and PART-2 before PART-10."""
        name, _, number = self.id.partition("-")
        return _CHAPTERS.index(name), int(number)


CLAUSES: dict[str, Clause] = {}


def remainder(claims: Claims) -> bool:
    """Whether anything is promised about samples that do not divide evenly; without it no shard has a known size."""
    return claims.when_dropping is not None or claims.when_keeping is not None


def always(claims: Claims) -> bool:
    """Nothing has to be claimed."""
    return True


def clause(
    clause_id: str,
    *,
    family: Family = "map",
    level: Level = "MUST",
    applies: Callable[[Claims], bool] = always,
    floor: int = 20,
    twin: bool = False,
    dataset: Literal["map", "iterable", "any", "none"] = "map",
) -> Callable[[Judge], Judge]:
    """Register the decorated judge under its clause id. With the dataset "none" it speaks of no loader."""

    def register(judge: Judge) -> Judge:
        assert clause_id not in CLAUSES, f"{clause_id} has two judges"

        def owed(claims: Claims) -> bool:
            reads = dataset in claims.datasets or (dataset == "any" and bool(claims.datasets))
            return (reads or dataset == "none") and applies(claims)

        CLAUSES[clause_id] = Clause(clause_id, judge, family, level, owed, floor, twin)
        return judge

    return register


# --- the arithmetic of a claim ------------------------------------------------------------------------------------


def shard_sizes(scenario: Scenario, claims: Claims) -> tuple[int, int] | None:
    """(smallest, largest) number of samples that a rank's shard may hold before it is cut into steps; None: no claim.

    "drop" floors, "pad" rounds up, "uneven" allows both. One rank holds everything, whatever is claimed.
    """
    samples, ranks = scenario.samples, scenario.world_size
    floor, ceiling = samples // ranks, -(-samples // ranks)
    policy = claims.policy(scenario.drop_last)
    if policy is None:
        return None
    return {"drop": (floor, floor), "pad": (ceiling, ceiling), "uneven": (floor, ceiling)}[policy]


def padded_to_full_steps(scenario: Scenario, claims: Claims) -> int | None:
    """The shard that is allowed too when "pad" is claimed and the rest is kept: a full last step on every rank."""
    if scenario.drop_last or claims.when_keeping != "pad":
        return None
    step = scenario.combined_batch
    return step * -(-scenario.samples // (step * scenario.world_size))


def allowed_repeats(scenario: Scenario, claims: Claims, delivered: int) -> int:
    """How many repeats padding explains in an epoch in which `delivered` samples came over all ranks (PART-4)."""
    if claims.policy(scenario.drop_last) != "pad":
        return 0
    return max(-scenario.samples % scenario.world_size, delivered - scenario.samples)


def steps_of(samples: int, scenario: Scenario) -> int:
    """The steps of a shard: whole ones under drop_last, else the rest as well."""
    step = scenario.combined_batch
    return samples // step if scenario.drop_last else -(-samples // step)


def dropped_limit(scenario: Scenario, claims: Claims) -> int:
    """The samples that may be missing in an epoch must be fewer than this (PART-2, PART-3)."""
    if scenario.drop_last:
        return scenario.combined_batch * scenario.world_size
    return scenario.world_size if claims.when_keeping == "drop" else 1


# --- what was delivered -------------------------------------------------------------------------------------------


def usable(run: Run | None) -> bool:
    """Whether a run came to its end on every rank, so that its delivery can be judged."""
    return run is not None and not run.failed


def known_samples(scenario: Scenario, epochs: tuple[Epoch, ...]) -> Counter[int]:
    """How often each sample of the dataset was delivered, over all ranks. Foreign values are PART-5's matter."""
    return Counter(index for epoch in epochs for index in epoch.samples if 0 <= index < scenario.samples)


def repeated(scenario: Scenario, epochs: tuple[Epoch, ...]) -> list[int]:
    """The samples that came more than once, in order."""
    return sorted(index for index, times in known_samples(scenario, epochs).items() if times > 1)


def missing(scenario: Scenario, epochs: tuple[Epoch, ...]) -> list[int]:
    """The samples that no rank delivered, in order."""
    counts = known_samples(scenario, epochs)
    return [index for index in range(scenario.samples) if index not in counts]


# --- for a person -------------------------------------------------------------------------------------------------


def show(epochs: tuple[Epoch, ...], notes: dict[int, str] | None = None, label: str = "") -> tuple[str, ...]:
    """The delivery of each rank as a line: steps in bars, samples in them; `notes` are put behind a rank's line."""
    notes = notes or {}
    # A rank that has a note is shown before those that have none, if not all fit.
    order = sorted(range(len(epochs)), key=lambda rank: (rank not in notes, rank))[:_MOST_LINES]
    lines = [_line(rank, epochs[rank], notes.get(rank, ""), label) for rank in sorted(order)]
    hidden = len(epochs) - len(lines)
    return (*lines, f"... and {hidden} more ranks") if hidden else tuple(lines)


def _line(rank: int, epoch: Epoch, note: str, label: str) -> str:
    steps = " | ".join(" ".join(map(str, step)) for step in epoch.steps) if epoch.steps else "(no steps)"
    line = f"{label}rank {rank}: {clipped(steps, _MOST_WIDTH)}"
    return f"{line:<16} <- {note}" if note else line


def clipped(text: str, width: int, end: bool = True) -> str:
    """The text in so many columns: dots stand for whole words in its middle, or for its end."""
    if len(text) <= width:
        return text
    tail = (width - len(" ... ")) // 3 if end else 0
    head = width - len(" ... ") - tail
    # Half of a number is another number. Only a word that is longer than its place is cut.
    first = text[:head] if text[head] == " " else text[:head].rpartition(" ")[0] or text[:head]
    if not tail:
        return f"{first.rstrip()} ..."
    last = text[-tail:] if text[-tail - 1] == " " else text[-tail:].partition(" ")[2] or text[-tail:]
    return f"{first.rstrip()} ... {last.lstrip()}"


def listed(samples: list[int]) -> str:
    """``sample 3``, ``samples 3, 5``, ``samples 3, 5, 7 and 9 more``."""
    shown = ", ".join(map(str, samples[:6]))
    more = f" and {len(samples) - 6} more" if len(samples) > 6 else ""
    return f"sample{'s' if len(samples) > 1 else ''} {shown}{more}"


def claimed(scenario: Scenario, claims: Claims) -> str:
    """The claim about the remainder that binds this scenario, as an adapter writes it."""
    name = "when_dropping" if scenario.drop_last else "when_keeping"
    return f'{name}="{claims.policy(scenario.drop_last)}"'
