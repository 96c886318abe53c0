"""Names in an adapter that nobody reads: decides which of them were meant to be one that is read."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from conformance.contract import AdapterError

# A slip in the name of a dict is told from a dict of another purpose by how alike they are.
_ALIKE = 0.85
# Where a name is missing anyway, less will do.
_NEAR = 0.7
_DICTS = ("claims", "known_failures")


def refuse_near_misses(name: str, holder: Any) -> None:
    """AdapterError if an adapter has a name that is not read, in the place of one that would be."""
    given = getattr(holder, "__dict__", {})
    for wanted in (each for each in (*_DICTS, "decode") if not hasattr(holder, each)):
        missed = meant_for(wanted, given)
        if missed:
            raise AdapterError(
                f"{name} has {missed}, which is not read; did you mean {wanted}? Rename it, or remove it"
            )


def meant_for(wanted: str, given: Mapping[str, Any]) -> str:
    """The public name among `given` that stands in the place of `wanted`; "" if there is none.

    A dict has nearly the same name. So has a function for which no other could be meant; a helper is called alike.
    """
    is_dict = wanted in _DICTS
    fitting = {
        each.lower(): each
        for each, value in given.items()
        if not each.startswith("_") and (isinstance(value, Mapping) if is_dict else callable(value))
    }
    near = get_close_matches(wanted, fitting, 1, _ALIKE) if is_dict else [wanted] * (wanted in fitting)
    return fitting[near[0]] if near else ""


def hint_of(wanted: str, holder: Any) -> str:
    """What a function that is missing may have been called: `` (it has lod; did you mean load?)``, or ""."""
    given = getattr(holder, "__dict__", {})
    found = {each.lower(): each for each, value in given.items() if callable(value) and not each.startswith("_")}
    near = get_close_matches(wanted, found, 1, _NEAR)
    return f" (it has {found[near[0]]}; did you mean {wanted}?)" if near else ""
