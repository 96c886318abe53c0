"""The contract with an implementation: decides what an adapter may say and what a loader is asked for.

An adapter imports nothing of ours. It has `load(request)`, which returns one rank's loader, and `claims`, a dict of
what that loader promises. A promise that is not made is not judged; an unknown one is an error.
"""

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal, Protocol

from conformance.shapes.shape import Shape

Policy = Literal["drop", "pad", "uneven", "once"]

# The hooks that say how an asynchronous loader reads ahead.
AHEAD = ("buffer_size", "early_preload", "load_indefinitely", "rebatched")


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


@dataclass(frozen=True)
class Request:
    """What one rank's loader is asked for: plain data, the argument of an adapter's `load`.

    The samples of `dataset` are integers; the loader delivers them in batches of `batch_size`, in any container that
    `decode` (or the default decoder) reads. With `device_options` claimed, a step holds `combined_batch` samples.
    `workdir` is a folder that the adapter may fill with files made from this dataset. It is kept for later requests of
    this rank with a dataset of the same content, and identifies that content: a length, a type or a repr does not.
    Those from `collate_fn` to `rebatched` are asked for only where the claim `hooks` names them: `timeout` is the
    seconds that a worker may take over a step, 0 for no limit; a `sampler` gives the indices of an epoch in their
    order, and a `batch_sampler` its steps; the state of a `generator`, which is torch's, decides the shuffle in place
    of `seed`. Those from `buffer_size` on say how an asynchronous loader reads ahead: at
    most so many steps beyond the one that the consumer holds (0: as many as it likes), already before the first
    iterator is made, into the next epoch before that is asked for, and in small batches that are joined to full steps.
    `batches` says how the members of a step are chosen, of the ways that the claim of this name has: "grouped", from
    one of `groups`, the group of each sample; "budget" or "at_least", so that their `sizes` add up to `budget` at most,
    or at the least. `batch_size` says nothing in the last two. `indices`, where `subsets` is claimed, are the samples
    of the dataset that are asked for, in their order: the caller's own list. `sources` are map-style datasets to be
    mixed by their `weights` until one or all are exhausted, as `stop` says: one of those that `mixtures` claims.
    `shards` is asked for only where the claim `drops` is made: how many samples lie in each file, in their order.
    Without `sources`, `weights`, if they are among the hooks, say how much oftener one sample is drawn than another;
    None: all alike.
    """

    dataset: Any
    batch_size: int
    shuffle: bool
    seed: int
    drop_last: bool
    num_workers: int
    rank: int
    world_size: int
    replication_factor: int
    device_iterations: int
    gradient_accumulation: int
    asynchronous: bool
    workdir: str
    collate_fn: Callable[[list[Any]], Any] | None = None
    worker_init_fn: Callable[[int], None] | None = None
    timeout: float = 0
    persistent_workers: bool = False
    sampler: Any = None
    batch_sampler: Any = None
    generator: Any = None
    buffer_size: int = 0
    early_preload: bool = False
    load_indefinitely: bool = True
    rebatched: bool = False
    batches: str = ""
    groups: tuple[int, ...] = ()
    sizes: tuple[int, ...] = ()
    budget: int = 0
    indices: list[int] | None = None
    sources: tuple[Any, ...] = ()
    stop: str = ""
    shards: tuple[int, ...] = ()
    weights: tuple[float, ...] | None = None

    @property
    def combined_batch(self) -> int:
        """N, the samples of a full step (BATCH-1)."""
        return self.batch_size * self.gradient_accumulation * self.replication_factor * self.device_iterations


@dataclass(frozen=True)
class Claims:
    """What an implementation promises (specs/README.md, "Claims"). None or False: not promised, so not judged."""

    datasets: tuple[str, ...] = ("map",)
    ranks: Literal["explicit", "process_group"] | None = "explicit"
    when_dropping: Policy | None = None
    when_keeping: Policy | None = None
    layout: Literal["contiguous", "strided"] | None = None
    assignment: Literal["static", "dynamic"] = "static"
    shuffle: Literal["global", "buffered"] | None = None
    workers: bool = False
    iterable_workers: Literal["split", "replicated"] | None = None
    epochs: Literal["set_epoch", "automatic", "endless"] | None = None
    hooks: tuple[str, ...] = ()
    length: bool = False
    device_options: bool = False
    asynchronous: bool = False
    aliases: bool | Literal["asynchronous"] = False
    resume: bool | Literal["unshuffled"] = False
    elastic: bool = False
    errors: Literal["raise", "skip"] = "raise"
    in_order: bool = True
    smallest: int | Literal["world_size", "step"] = 0
    end_of_epoch: Literal["next", "empty"] | None = None
    device: tuple[str, ...] = ()
    launcher: bool | Literal["settings"] = False
    pipelines: tuple[str, ...] = ()
    batches: tuple[str, ...] = ()
    oversized: Literal["skip", "refuse", "alone"] | None = None
    stream_shuffle: Literal["buffered", "shards"] | None = None
    subsets: bool = False
    mixtures: tuple[str, ...] = ()
    loop: Literal["step", "drop"] | None = None
    without: tuple[str, ...] = ()
    equal_steps: bool = False
    drops: Literal["per-shard"] | None = None
    sampling: Literal["replacement"] | None = None
    lookahead: Literal[0, 1] = 0

    @property
    def is_endless(self) -> bool:
        """Whether one iterator gives pass after pass, and none has an end."""
        return self.epochs == "endless"

    def policy(self, drop_last: bool) -> Policy | None:
        """What becomes of the remainder, or None where nothing is promised."""
        return self.when_dropping if drop_last else self.when_keeping

    def least_samples(self, world_size: int, combined_batch: int) -> int:
        """The smallest dataset that is accepted, by ranks and samples of a step."""
        if self.smallest == "step":
            return world_size * combined_batch
        return world_size if self.smallest == "world_size" else self.smallest

    @property
    def goes_by_set_epoch(self) -> bool:
        """Whether `set_epoch` says which epoch comes, where the loader has it: so it is if nothing else is claimed."""
        return self.epochs in (None, "set_epoch")

    @property
    def deals_out_dynamically(self) -> bool:
        """Whether which rank a sample comes to hangs on time, so that only all ranks together can be compared."""
        return self.assignment == "dynamic"

    def as_dict(self) -> dict[str, Any]:
        """The claims as JSON data, the defaults spelled out."""
        claims = {**dataclasses.asdict(self), **{name: list(getattr(self, name)) for name in (*CHOICES, *LIMITS)}}
        # A limit is told where there is one.
        return {name: value for name, value in claims.items() if value or name not in LIMITS}


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


# Claims that have one of some values.
VALUES: dict[str, tuple[Any, ...]] = {
    "ranks": ("explicit", "process_group", None),
    "when_dropping": ("drop", "pad", "uneven", "once"),
    "when_keeping": ("drop", "pad", "uneven", "once"),
    "assignment": ("static", "dynamic"),
    "layout": ("contiguous", "strided"),
    "shuffle": ("global", "buffered"),
    "iterable_workers": ("split", "replicated"),
    "epochs": ("set_epoch", "automatic", "endless"),
    "errors": ("raise", "skip"),
    "smallest": (0, 1, "world_size", "step"),
    "end_of_epoch": ("next", "empty"),
    "aliases": (False, True, "asynchronous"),
    "launcher": (False, True, "settings"),
    "loop": ("step", "drop"),
    "resume": (False, True, "unshuffled"),
    "drops": ("per-shard",),
    "sampling": ("replacement",),
    "lookahead": (0, 1),
    "oversized": ("skip", "refuse", "alone"),
    "stream_shuffle": ("buffered", "shards"),
    **dict.fromkeys(
        (
            "workers",
            "length",
            "device_options",
            "asynchronous",
            "elastic",
            "in_order",
            "equal_steps",
            "subsets",
        ),
        (False, True),
    ),
}
# Claims that take any of some names.
CHOICES = {
    "datasets": ("map", "iterable"),
    "hooks": (
        *("collate_fn", "worker_init_fn", "timeout", "persistent_workers", "sampler", "batch_sampler", "generator"),
        "set_epoch",
        *AHEAD,
        "weights",
    ),
    "device": ("training", "inference", "outputs", "synthetic", "ranks"),
    "pipelines": ("workers", "ranks", "dispatch", "initialiser", "pause", "services"),
    "batches": ("grouped", "budget", "at_least"),
    "mixtures": ("first_exhausted", "all_exhausted"),
}
# What a loader can't be asked for: "ranks" is more than one of them, "drop_last" is True, "batch_size" another than 1.
LIMITS = {"without": ("ranks", "drop_last", "batch_size")}
# A claim that makes no sense without another one.
_NEEDS = {"elastic": "resume", "end_of_epoch": "resume"}


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
    _refuse_contradictions(fields)
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


def _refuse_contradictions(fields: dict[str, Any]) -> None:
    for name, needed in _NEEDS.items():
        if fields.get(name) and not fields.get(needed):
            raise AdapterError(
                f"the claims contradict each other: {name}={fields[name]!r} needs {needed}=True; claim both or neither"
            )
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
