"""Decides how a reading service is asked, also one that a user has written as torchdata documented it."""

import inspect
from numbers import Integral
from typing import Any

from ..rules.checks import show
from .beginning import Change, checked
from .graph import Pipe, check_sharding
from .seeds import SeedGenerator, number_pipes


def joined(first: Change | None, then: Change) -> Change:
    """One change, and another one of what it gives."""
    if first is None:
        return then

    def both(datapipe: Pipe) -> Pipe:
        between = first(datapipe)
        between = datapipe if between is None else between
        changed = then(between)
        return between if changed is None else changed

    return both


def check_service(service: Any) -> None:
    """Raise TypeError for what can't be asked as a reading service."""
    if isinstance(service, type) or not callable(getattr(service, "initialize", None)):
        raise TypeError(
            f"reading_service is {show(service)}, but an instance of ReadingServiceInterface is wanted: give "
            f"MultiProcessingReadingService(num_workers=2) for example, or None."
        )


def graph_of(service: Any, datapipe: Pipe) -> Pipe:
    """The graph as a service, which may be a user's, leaves it."""
    datapipe = checked(service.initialize(datapipe), f"initialize of {type(service).__name__}")
    # PIPE-18: what it has added may stand after a filter.
    check_sharding(datapipe)
    number_pipes(datapipe)
    return datapipe


def begin_iteration(service: Any, seeds: SeedGenerator, change: Change | None) -> Change | None:
    """Let a service, which may be a user's, begin an epoch; return what is to change the graph.

    Raises TypeError if the service returns what has no meaning, and ValueError if it is a seed that is none.
    """
    takes = inspect.signature(service.initialize_iteration).parameters
    takes_change = "iter_reset_fn" in takes or any(each.kind is each.VAR_KEYWORD for each in takes.values())
    more = {"iter_reset_fn": change} if takes_change else {}
    said = service.initialize_iteration(*([seeds] if takes else []), **more)
    if seeds.sent is change:
        # Workers change their graphs by it; the main process has none of that.
        change = None
    if said is None or said is seeds:
        # PIPE-3: a service that says nothing keeps the seed. A seed of its own in each worker would lose elements.
        return change
    if isinstance(said, SeedGenerator):
        vars(seeds).update(vars(said))
        return change
    if isinstance(said, Integral) and not isinstance(said, bool):
        seeds.seed(int(said))
        return change
    if callable(said):
        # A service that was given what earlier ones have returned has joined it as it likes.
        return said if takes_change else joined(change, said)
    raise TypeError(
        f"initialize_iteration of {type(service).__name__} returned {show(said)}, but None is wanted, or a function "
        f"that changes the graph for this epoch, or a seed."
    )


def finalize(service: Any, reason: str) -> None:
    """End a service, which may be of a user who knows of no reasons."""
    takes_reason = bool(inspect.signature(service.finalize).parameters)
    service.finalize(*([reason] if takes_reason else []))
