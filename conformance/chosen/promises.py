"""What the clauses of chosen batches promise once they hold."""

from collections.abc import Iterator

from conformance.contract import Claims

_NAMES = {"grouped": "by group", "budget": "within a budget", "at_least": "of a least size"}


def of_batches(claims: Claims, held: frozenset[str]) -> Iterator[str]:
    """What is lost and repeated of batches whose members are chosen."""
    if {"GROUP-3", "GROUP-4"} <= held:
        names = ", ".join(_NAMES[each] for each in claims.batches)
        rest = "the rest of each group" if "grouped" in claims.batches else "the rest"
        yield f"batches {names}: nothing is lost or repeated but {rest}, as the policy says"
