"""What a report says of clauses that are not claimed: decides which claims would add each, by trying the claims.

Nobody keeps a list of that: a clause says itself whether it binds, so claims are added until it does.
"""

from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, groupby, product
from typing import Any

from conformance.clauses import CLAUSES, Clause
from conformance.contract import CHOICES, VALUES, Claims

# Beside a kind of dataset. More than these no clause needs.
_MOST_CLAIMS = 3


@dataclass(frozen=True)
class _Addition:
    """One claim that could be made, with all that it could say."""

    field: str
    values: tuple[Any, ...]
    choice: str = ""

    def text(self, value: Any, any_will_do: bool) -> str:
        """The claim as a person writes it: ``workers``, ``shuffle="global"``, ``"map" in datasets``."""
        if self.choice:
            return f'"{self.choice}" in {self.field}'
        if value is False:
            return f"{self.field}=False"
        if value is True or (any_will_do and len(self.values) > 1):
            return self.field
        return f'{self.field}="{value}"' if isinstance(value, str) else f"{self.field}={value}"


def unclaimed_line(clause_ids: list[str], claims: Claims) -> str:
    """The clauses in groups, each with what would add it: ``WORK-1, WORK-2 (workers); PART-8 (shuffle="global")``."""
    groups: dict[str, list[str]] = {}
    for clause_id in sorted(clause_ids, key=lambda clause_id: CLAUSES[clause_id].number):
        groups.setdefault(" and ".join(missing_claims(CLAUSES[clause_id], claims)), []).append(clause_id)
    return "; ".join(
        f"{joined_ids(mine)} ({needed})" if needed else joined_ids(mine) for needed, mine in groups.items()
    )


def unclaimed_claims(clause_ids: list[str], claims: Claims) -> str:
    """The claims that would add the clauses, each with how many: ``shuffle="global" (1), workers (5)``."""
    numbers: dict[str, int] = {}
    for clause_id in sorted(clause_ids, key=lambda clause_id: CLAUSES[clause_id].number):
        needed = missing_claims(CLAUSES[clause_id], claims)
        first = needed[0] if needed else clause_id
        numbers[first] = numbers.get(first, 0) + 1
    return ", ".join(f"{claim} ({number})" for claim, number in numbers.items())


@cache
def missing_claims(clause: Clause, claims: Claims) -> tuple[str, ...]:
    """The fewest claims, as a person writes them, with which the clause binds; empty if no few of them do it.

    A loader that doesn't read that kind of dataset is told only that, not what else would have to be claimed.
    """
    if claims.without:
        limitless = replace(claims, without=())
        asked = tuple(f"with {name}" for name in (clause.needs or claims.without) if name in claims.without)
        return asked if clause.applies(limitless) else missing_claims(clause, limitless)
    datasets = [_Addition("datasets", ((*claims.datasets, name),), name) for name in _left(claims, "datasets")]
    for number in range(_MOST_CLAIMS + 1):
        for dataset in (None, *datasets):
            begun = replace(claims, datasets=dataset.values[0]) if dataset else claims
            for others in combinations(_additions(claims), number):
                found = _texts_if_bound(clause, begun, others)
                if found is not None:
                    return (dataset.text(None, True), *(["more"] if found else [])) if dataset else found
    return ()


def _left(claims: Claims, field: str) -> list[str]:
    return [name for name in CHOICES[field] if name not in getattr(claims, field)]


def _additions(claims: Claims) -> list[_Addition]:
    valued = [
        _Addition(field, tuple(value for value in values if value != getattr(claims, field)))
        for field, values in VALUES.items()
    ]
    named = [
        _Addition(field, ((*getattr(claims, field), name),), name)
        for field in CHOICES
        if field != "datasets"
        for name in _left(claims, field)
    ]
    return [*valued, *named]


def _texts_if_bound(clause: Clause, claims: Claims, additions: tuple[_Addition, ...]) -> tuple[str, ...] | None:
    fields = [addition.field for addition in additions]
    bound = [
        values
        for values in product(*(addition.values for addition in additions))
        if clause.applies(replace(claims, **dict(zip(fields, values, strict=True))))
    ]
    if not bound:
        return None
    chosen = bound[0]
    texts = []
    for at, addition in enumerate(additions):
        alike = [values for values in bound if values[:at] + values[at + 1 :] == chosen[:at] + chosen[at + 1 :]]
        texts.append(addition.text(chosen[at], len(alike) == len(addition.values)))
    return tuple(texts)


def joined_ids(clause_ids: list[str]) -> str:
    """``WORK-1, WORK-2, WORK-7 to WORK-11``: three or more in a row are not listed."""
    numbers = [CLAUSES[clause_id].number for clause_id in clause_ids]
    runs = groupby(enumerate(clause_ids), lambda pair: (numbers[pair[0]][0], numbers[pair[0]][1] - pair[0]))
    words = []
    for _, pairs in runs:
        run = [clause_id for _, clause_id in pairs]
        words += [f"{run[0]} to {run[-1]}"] if len(run) > 2 else run
    return ", ".join(words)
