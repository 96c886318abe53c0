"""Claims that contradict each other: an error, since no loader could keep both."""

from typing import Any

from conformance.contract.claims import AHEAD
from conformance.contract.implementation import AdapterError

# A claim that makes no sense without another one.
_NEEDS = {"elastic": "resume", "end_of_epoch": "resume"}


def refuse_contradictions(fields: dict[str, Any]) -> None:
    """AdapterError if two of the claims can't both be kept, or one needs another that is not made."""
    for name, needed in _NEEDS.items():
        if fields.get(name) and not fields.get(needed):
            raise AdapterError(
                f"the claims contradict each other: {name}={fields[name]!r} needs {needed}=True; claim both or neither"
            )
    if fields.get("checkpoints") and not fields.get("loop"):
        raise AdapterError("the claims contradict each other: checkpoints needs loop; claim both or neither")
    about_iterables = [name for name in ("iterable_workers", "stream_shuffle") if fields.get(name)]
    about_iterables += ["the hook 'set_epoch'"] if "set_epoch" in fields.get("hooks", ()) else []
    if about_iterables and "iterable" not in fields.get("datasets", ("map",)):
        raise AdapterError(
            f"the claims contradict each other: {about_iterables[0]} needs 'iterable' in datasets; "
            "claim both or neither"
        )
    if fields.get("oversized") and "budget" not in fields.get("batches", ()):
        raise AdapterError(
            "the claims contradict each other: oversized needs 'budget' in batches; claim both or neither"
        )
    ahead = [name for name in fields.get("hooks", ()) if name in AHEAD]
    if ahead and not fields.get("asynchronous"):
        raise AdapterError(
            f"the claims contradict each other: the hook {ahead[0]!r} needs asynchronous=True; claim both or neither"
        )
    if "ranks" in fields and fields["ranks"] is None and fields.get("assignment") == "dynamic":
        raise AdapterError(
            "the claims contradict each other: ranks=None says that there is one process, and assignment='dynamic' "
            "what ranks take from each other; claim one of them"
        )
    for name in ("layout", "resume"):
        if fields.get(name) and fields.get("assignment") == "dynamic":
            raise AdapterError(
                f"the claims contradict each other: with assignment='dynamic' which rank has a sample hangs on time, "
                f"so that {name} promises nothing; claim one of them"
            )
    _refuse_unequal_policies(fields)
    _refuse_other_draws(fields)
    _refuse_ends(fields)
    if fields.get("layout") and "map" not in fields.get("datasets", ("map",)):
        raise AdapterError("the claims contradict each other: layout needs 'map' in datasets; claim both or neither")


def _refuse_unequal_policies(fields: dict[str, Any]) -> None:
    """Policies by which one rank has a step more than another, and those that bound what `drops` bounds otherwise."""
    for name in ("equal_steps", "drops"):
        nothing = "map" not in fields.get("datasets", ("map",)) and not fields.get("iterable_workers")
        if fields.get(name) and (nothing or "ranks" in fields.get("without", ())):
            raise AdapterError(
                f"the claims contradict each other: {name}={fields[name]!r} speaks of datasets that ranks share, and "
                f"here is none: no 'map' in datasets, no iterable_workers, or no ranks; leave {name} out"
            )
    for name in ("when_dropping", "when_keeping"):
        policy = fields.get(name)
        if fields.get("equal_steps") and (policy == "uneven" or (policy == "once" and name == "when_keeping")):
            raise AdapterError(
                f"the claims contradict each other: {name}={policy!r} gives one rank a sample more, and so a step "
                f"more, which equal_steps=True denies; claim one of them"
            )
        if fields.get("drops") and policy:
            raise AdapterError(
                f"the claims contradict each other: {name}={policy!r} bounds what is dropped by the ranks, and "
                f"drops={fields['drops']!r} by the files; claim one of them"
            )


def _refuse_other_draws(fields: dict[str, Any]) -> None:
    """A shuffle beside sampling, which both say what a shuffled epoch is; nothing to draw from; two lookaheads."""
    if fields.get("sampling") and fields.get("shuffle"):
        raise AdapterError(
            f"the claims contradict each other: with shuffle={fields['shuffle']!r} a shuffled epoch holds each sample "
            f"once, and with sampling={fields['sampling']!r} it is drawn; claim one of them"
        )
    if fields.get("sampling") and "map" not in fields.get("datasets", ("map",)):
        raise AdapterError("the claims contradict each other: sampling needs 'map' in datasets; claim both or neither")
    if fields.get("lookahead") and fields.get("asynchronous"):
        raise AdapterError(
            "the claims contradict each other: how far an asynchronous loader reads ahead is asked of it (the hook "
            "'buffer_size'), and lookahead=1 is said of one that is not; claim one of them"
        )
    if "weights" in fields.get("hooks", ()) and not fields.get("sampling"):
        raise AdapterError(
            "the claims contradict each other: the hook 'weights' needs sampling='replacement'; claim both or neither"
        )


def _refuse_ends(fields: dict[str, Any]) -> None:
    """What can't be said of a loader without an end: how many steps it has, and what comes behind them."""
    ends = [name for name in ("length", "end_of_epoch", "elastic", "sampling", "equal_steps") if fields.get(name)]
    if fields.get("epochs") == "endless" and ends:
        raise AdapterError(
            f"the claims contradict each other: {ends[0]}={fields[ends[0]]!r} speaks of an epoch that ends, and with "
            f"epochs='endless' none does; claim one of them"
        )
