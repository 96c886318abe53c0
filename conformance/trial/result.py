"""What a campaign learns: each violated clause with its smallest case, and how often every clause was exercised."""

from dataclasses import dataclass, field
from typing import Any

from conformance.trace import Scenario, Trace
from conformance.trial.clause import Finding


@dataclass(frozen=True)
class Case:
    """A violated clause with its smallest case: the scenario, what was found, and all that was delivered."""

    clause: str
    scenario: Any  # a Scenario; its chapter knows which kind
    finding: Finding
    trace: Trace

    @property
    def id(self) -> str:
        """What `--case` takes: the clause and the scenario's code."""
        return f"{self.clause}-{self.scenario.code}"


@dataclass
class Result:
    """What a campaign learned: per clause the exercises, and the smallest case where it was violated."""

    exercised: dict[str, int]
    cases: dict[str, Case] = field(default_factory=dict)
    # Violated once, and not again in new processes.
    unconfirmed: dict[str, Scenario] = field(default_factory=dict)
    # Violated by a hang, which was not waited for a second time: hangs had taken too long.
    unwaited: dict[str, Scenario] = field(default_factory=dict)
    # Violated once, and not run again because the time was over.
    too_late: dict[str, Scenario] = field(default_factory=dict)
    # Violated in a case for which the time to make it smaller did not suffice.
    unshrunk: set[str] = field(default_factory=set)
    # How many scenarios were not tried, because others had hung or the time was over.
    untried: int = 0
    # The smallest scenario of which a run failed without any clause saying so, and how it failed.
    unowned: tuple[Scenario, str] | None = None
    # Whether only some of the scenarios were tried, since each takes long with this implementation.
    is_short: bool = False


def joined(one: Result, other: Result) -> Result:
    """What two campaigns learned of clauses together; a case of the first counts more."""
    exercised = {clause: times + other.exercised.get(clause, 0) for clause, times in one.exercised.items()}
    return Result(
        exercised,
        {**other.cases, **one.cases},
        {**other.unconfirmed, **one.unconfirmed},
        {**other.unwaited, **one.unwaited},
        {**other.too_late, **one.too_late},
        one.unshrunk | other.unshrunk,
        one.untried + other.untried,
        is_short=one.is_short or other.is_short,
    )
