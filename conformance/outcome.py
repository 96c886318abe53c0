"""What a run says in the end: decides the outcomes, and what a report is made of.

A `Report` is plain data. It holds nothing that changes between two runs of the same implementation (no times, no
paths of temporary files), so that two reports can be compared byte by byte.
"""

from dataclasses import dataclass
from typing import Any, Literal

from conformance.campaign import Case
from conformance.clauses.base import Level
from conformance.contract import Claims

Status = Literal["HOLDS", "VIOLATED", "KNOWN", "NOT CLAIMED", "NOT EXERCISED", "INVALID"]


@dataclass(frozen=True)
class Outcome:
    """The outcome of one clause. `note` says why it is KNOWN, NOT EXERCISED or INVALID, or is empty."""

    clause: str
    level: Level
    status: Status
    exercised: int
    case: Case | None = None
    note: str = ""

    def fails(self, strict: bool) -> bool:
        """Whether this outcome makes the run fail: a violated SHOULD does so only under `--strict`."""
        if self.status == "VIOLATED":
            return strict or self.level == "MUST"
        return self.status in ("NOT EXERCISED", "INVALID")


@dataclass(frozen=True)
class Report:
    """Everything that a run says: for which implementation and claims, how hard it tried, and each clause's outcome.

    `replayed`: one case was run in place of all that is usually tried.
    """

    implementation: str
    claims: Claims
    tier: str
    seed: int
    outcomes: tuple[Outcome, ...]
    strict: bool = False
    notes: tuple[str, ...] = ()
    replayed: bool = False

    @property
    def passed(self) -> bool:
        """Whether the run is green."""
        return not any(outcome.fails(self.strict) for outcome in self.outcomes)

    def outcome(self, clause: str) -> Outcome:
        """The outcome of a clause. KeyError if it was not part of the run."""
        for outcome in self.outcomes:
            if outcome.clause == clause:
                return outcome
        raise KeyError(clause)

    def __str__(self) -> str:
        from conformance.report.text import summary

        return summary(self)

    def __repr__(self) -> str:
        counts: dict[str, Any] = {}
        for outcome in self.outcomes:
            counts[outcome.status] = counts.get(outcome.status, 0) + 1
        words = ", ".join(f"{number} {status}" for status, number in counts.items())
        return f"<Report of {self.implementation}: {words}>"
