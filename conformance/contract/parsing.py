"""Reads the claims of an adapter's dict, and tells all that is wrong with them at once."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from conformance.contract.claims import CHOICES, LIMITS, VALUES, Claims
from conformance.contract.contradictions import refuse_contradictions
from conformance.contract.implementation import AdapterError


def parse_claims(given: Mapping[str, Any] | None) -> Claims:
    """The claims of an adapter's dict. AdapterError, with value, rule and fix, if it says what can't be."""
    if not isinstance(given, Mapping | None):
        raise AdapterError(f"claims is {given!r}, but must be a dict such as dict(when_keeping='pad'); make it one")
    # None withdraws a claim, wherever it comes from: what is left is the default. Of ranks it says that there are none.
    fields = {name: value for name, value in (given or {}).items() if value is not None or name == "ranks"}
    mistakes = [*_unknown(list(given or {})), *_not_among(fields)]
    if mistakes:
        raise AdapterError("; ".join(mistakes))
    for name, choices in {**CHOICES, **LIMITS}.items():
        if name in fields:
            chosen = _names_in(fields[name])
            fields[name] = tuple(choice for choice in choices if choice in chosen)
    if "ranks" in fields and fields["ranks"] is None:
        fields["without"] = tuple(
            choice for choice in LIMITS["without"] if choice in ("ranks", *fields.get("without", ()))
        )
    refuse_contradictions(fields)
    return Claims(**fields)


def _unknown(given: Sequence[str]) -> Iterator[str]:
    """The sentence about names that are no claims, if there are any."""
    known = [field.name for field in dataclasses.fields(Claims)]
    unknown = [name for name in given if name not in known]
    if unknown:
        what = "claim" if len(unknown) == 1 else "claims"
        verb, it = ("is", "it") if len(unknown) == 1 else ("are", "them")
        meant = [f"did you mean {near[0]!r}? " for name in unknown if (near := get_close_matches(str(name), known, 1))]
        yield (
            f"the {what} {', '.join(map(repr, unknown))} {verb} unknown; {''.join(meant)}the claims are "
            f"{', '.join(known)}; fix or remove {it}"
        )


def _not_among(fields: Mapping[str, Any]) -> Iterator[str]:
    """A sentence about each value that its claim can't have."""
    for name, choices in {**CHOICES, **LIMITS}.items():
        names = _names_in(fields[name]) if name in fields else choices
        if not names or any(chosen not in choices for chosen in names):
            yield (
                f"the claim {name}={fields[name]!r} is not a choice of {', '.join(map(repr, choices))}; name one or "
                "more of them, or none"
            )
    for name, value in fields.items():
        if name in VALUES and not _among(value, VALUES[name]):
            allowed = [choice for choice in VALUES[name] if isinstance(choice, str)]
            near = get_close_matches(value, allowed, 1) if isinstance(value, str) else []
            meant = f"did you mean {near[0]!r}? " if near else ""
            yield (
                f"the claim {name}={value!r} is not one of {', '.join(map(repr, VALUES[name]))}; {meant}choose one of "
                "them or leave it out"
            )


def _among(value: Any, choices: tuple[Any, ...]) -> bool:
    # True == 1 == 1.0 in Python, but `smallest=True` is a slip and not a promise.
    return any(type(value) is type(choice) and value == choice for choice in choices)


def _names_in(value: Any) -> tuple[str, ...]:
    """The names that a claim of several takes, of which one may stand alone; () for anything else."""
    sequence = isinstance(value, list | tuple | set | frozenset)
    return (value,) if isinstance(value, str) else tuple(value) if sequence else ()
