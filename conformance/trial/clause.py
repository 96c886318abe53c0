"""What a judge is: how a clause is registered, and what its judge says of one trace.

A judge is a plain function of (scenario, claims, trace). It gives None if the clause could not have failed in this
trace (then the trace does not count as an exercise), else the list of its findings, empty when the clause holds.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from conformance.contract import AdapterError, Claims
from conformance.trace import Trace

Level = Literal["MUST", "SHOULD"]
# The names that ids begin with, in the order of the chapters: filled by `conformance.clauses`, which knows the wings.
CHAPTERS: list[str] = []


@dataclass(frozen=True)
class Finding:
    """One violation, ready for a person. Two findings of one `kind` are the same fault."""

    kind: str
    expected: str
    delivered: tuple[str, ...]
    why: str


Verdict = list[Finding] | None
Judge = Callable[[Any, Claims, Trace], Verdict]


@dataclass(frozen=True)
class Clause:
    """A clause of the specs with its judge. `floor`: the exercises that a gate run must show before it says HOLDS.

    `also`: other families whose scenarios it judges as well. `twin`: before it accuses, the judge wants to see the runs
    more that its family makes (`Family.twins`). `needs`: what must be askable for it to be able to fail (LIMITS).
    """

    id: str
    judge: Judge
    family: str
    level: Level
    applies: Callable[[Claims], bool]
    floor: int
    twin: bool = False
    also: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()

    @property
    def families(self) -> tuple[str, ...]:
        """All whose scenarios it judges, its own first."""
        return (self.family, *self.also)

    @property
    def number(self) -> tuple[int, int]:
        """For sorting: by chapter, and PART-2 before PART-10."""
        name, _, number = self.id.partition("-")
        return CHAPTERS.index(name), int(number)


CLAUSES: dict[str, Clause] = {}


def always(claims: Claims) -> bool:
    """Nothing has to be claimed."""
    return True


def clause(
    clause_id: str,
    *,
    family: str = "map",
    level: Level = "MUST",
    applies: Callable[[Claims], bool] = always,
    floor: int = 20,
    twin: bool = False,
    also: tuple[str, ...] = (),
    needs: tuple[str, ...] = (),
    dataset: Literal["map", "iterable", "any", "none"] = "map",
    endless: bool = False,
) -> Callable[[Judge], Judge]:
    """Register the decorated judge under its clause id. With the dataset "none" it speaks of no loader.

    `endless`: of those whose epochs have no end; any other of those whose epochs end.
    """

    def register(judge: Judge) -> Judge:
        assert clause_id not in CLAUSES, f"{clause_id} has two judges"

        def owed(claims: Claims) -> bool:
            reads = dataset in claims.datasets or (dataset == "any" and bool(claims.datasets))
            ends = dataset == "none" or claims.is_endless == endless
            return (reads or dataset == "none") and ends and not {*needs} & {*claims.without} and applies(claims)

        CLAUSES[clause_id] = Clause(clause_id, judge, family, level, owed, floor, twin, also, needs)
        return judge

    return register


def named(words: str) -> list[Clause]:
    """The clauses that words name as pytest's -k does: parts of ids with `and`, `or`, `not` and parentheses.

    AdapterError if the words can't be read, or name no clause.
    """
    parts = re.findall(r"[()]|[^\s()]+", words)
    chosen = [clause for clause in CLAUSES.values() if _holds(parts, clause.id, words)]
    if not chosen:
        raise AdapterError(f"-k {words!r} names no clause; name some as in 'PART or COUNT-1' (loaderspec explain)")
    return chosen


def _holds(parts: list[str], clause_id: str, words: str) -> bool:
    known = ("and", "or", "not", "(", ")")
    # Nothing but these words and two values is left to be evaluated.
    told = [part if part in known else str(part.lower() in clause_id.lower()) for part in parts]
    try:
        return bool(eval(" ".join(told), {"__builtins__": {}}))
    except (SyntaxError, TypeError) as error:
        raise AdapterError(f"-k {words!r} can't be read; write it as in 'PART or COUNT-1'") from error
