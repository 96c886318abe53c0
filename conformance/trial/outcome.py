"""What a run says in the end: decides the outcomes, and what a report is made of.

A `Report` is plain data. It holds nothing that changes between two runs of the same implementation (no times, no
paths of temporary files), so that two reports can be compared byte by byte.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

from conformance.contract import Claims
from conformance.processes.origin import Origin
from conformance.trial.clause import Level
from conformance.trial.result import Case

Status = Literal["HOLDS", "VIOLATED", "KNOWN", "NOT CLAIMED", "NOT EXERCISED", "INVALID"]


@dataclass(frozen=True)
class KnownCase:
    """A known failure that was replayed: the case, and what its entry says of it."""

    case: Case
    reason: str
    issue: str = ""


@dataclass(frozen=True)
class Outcome:
    """The outcome of one clause. `note` says why it is KNOWN, NOT EXERCISED or INVALID, or is empty.

    `case` is the smallest one of a violation; `known` are those that the adapter's known failures excuse. `exit_code`
    is what the command ends with if this outcome fails the run.
    """

    clause: str
    level: Level
    status: Status
    exercised: int
    case: Case | None = None
    note: str = ""
    known: tuple[KnownCase, ...] = ()
    exit_code: int = 1

    def fails(self, strict: bool) -> bool:
        """Whether this outcome makes the run fail: a violated SHOULD does so only under `--strict`."""
        if self.status == "VIOLATED":
            return strict or self.level == "MUST"
        return self.status in ("NOT EXERCISED", "INVALID")


@dataclass(frozen=True)
class Report:
    """Everything that a run says: for which implementation and claims, how hard it tried, and each clause's outcome.

    `replayed`: the one case that was run in place of all that is usually tried, or "". `patience` is in seconds.
    """

    implementation: str
    claims: Claims
    tier: str
    seed: int
    outcomes: tuple[Outcome, ...]
    strict: bool = False
    notes: tuple[str, ...] = ()
    replayed: str = ""
    patience: float = 10.0
    origin: Origin = field(default_factory=Origin)

    @property
    def passed(self) -> bool:
        """Whether the run is green."""
        return not any(outcome.fails(self.strict) for outcome in self.outcomes)

    @property
    def exit_code(self) -> int:
        """What the command ends with: 0 if the run is green."""
        return max((outcome.exit_code for outcome in self.outcomes if outcome.fails(self.strict)), default=0)

    def outcome(self, clause: str) -> Outcome:
        """The outcome of a clause. KeyError if it was not part of the run."""
        for outcome in self.outcomes:
            if outcome.clause == clause:
                return outcome
        raise KeyError(clause)

    def __repr__(self) -> str:
        counts: dict[str, Any] = {}
        for outcome in self.outcomes:
            counts[outcome.status] = counts.get(outcome.status, 0) + 1
        words = ", ".join(f"{number} {status}" for status, number in counts.items())
        return f"<Report of {self.implementation}: {words}>"
