"""What is judged: a loader's `load`, its claims, and what else an adapter may offer."""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from conformance.contract.claims import Claims
from conformance.contract.request import Request
from conformance.shapes.shape import Shape


@dataclass(frozen=True)
class Offer:
    """Functions of an adapter that belong to a claim: those that must be there, and those that may be.

    `for_value`: those that must be there where the claim is this value, or names it.
    """

    needs: tuple[str, ...] = ()
    may: tuple[str, ...] = ()
    for_value: Mapping[str, str] = dataclasses.field(default_factory=dict)


# What an adapter may offer beside `load`, by claim.
OFFERS = {
    "device": Offer(("model",)),
    "loop": Offer(("train",)),
    "launcher": Offer(("launch", "whoami"), ("tag", "settings"), {"settings": "settings"}),
    "pipelines": Offer(("pipeline",), ("wrong_order",), {"services": "wrong_order"}),
    "elastic": Offer(may=("merge",)),
}


# Claims of what other programs import, so that an adapter which only exists in this process can't make them.
BY_NAME_ONLY = ("launcher",)


class AdapterError(Exception):
    """The adapter (not the loader) is wrong: it can't be found, or says something that can't be. Exit code 4."""


class Elsewhere(Protocol):
    """What stands between the suite and a loader that runs beside the rank's process, and not in it."""

    @property
    def beyond(self) -> Mapping[str, str]:
        """The clauses that can't be judged so, and why."""
        ...

    def begin(self) -> None:
        """Have in this process what is needed, before anything is asked for or counted."""
        ...

    def complaint(self) -> str:
        """What of the other side could not be understood, which says nothing of the loader; or ""."""
        ...


@dataclass(frozen=True)
class Implementation:
    """An implementation under test: where it came from, its `load`, its claims, and what else its adapter offers.

    `offers` are the functions of OFFERS that it has, by name; `home` is the module that the adapter is written in.
    `shape` is what was found out about an implementation that has no adapter.
    `elsewhere` is there for one that is no Python (`bridge/`).
    """

    name: str
    load: Callable[[Request], Any]
    claims: Claims
    decode: Callable[[Any], Any] | None = None
    known_failures: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    offers: Mapping[str, Callable[..., Any]] = dataclasses.field(default_factory=dict)
    home: str = ""
    shape: Shape | None = None
    elsewhere: Elsewhere | None = None
