"""What a loader may promise: the claims, and which values each can have."""

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal

Policy = Literal["drop", "pad", "uneven", "once"]

# The hooks that say how an asynchronous loader reads ahead.
AHEAD = ("buffer_size", "early_preload", "load_indefinitely", "rebatched")

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
            "checkpoints",
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
    checkpoints: bool = False
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
    def streams_to_workers(self) -> bool:
        """Whether workers are asked for with an iterable dataset; a copy each is promised only where there are some."""
        return self.iterable_workers == "split" or (self.iterable_workers == "replicated" and self.workers)

    @property
    def deals_out_dynamically(self) -> bool:
        """Whether which rank a sample comes to hangs on time, so that only all ranks together can be compared."""
        return self.assignment == "dynamic"

    def as_dict(self) -> dict[str, Any]:
        """The claims as JSON data, the defaults spelled out."""
        claims = {**dataclasses.asdict(self), **{name: list(getattr(self, name)) for name in (*CHOICES, *LIMITS)}}
        # A limit is told where there is one.
        return {name: value for name, value in claims.items() if value or name not in LIMITS}
