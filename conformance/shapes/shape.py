"""The shape of a target: decides what a class or function is, what it can be asked for, and what that claims for it."""

import inspect
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from conformance.shapes.parameters import PLAYED, field_of, is_needed, parameters_of

# A loader of its own; torch's loader or one derived from it; what gives indices, or lists of them, to torch's loader.
Kind = Literal["loader", "torch loader", "sampler", "batch sampler"]

_ASKED = ("batch_size", "shuffle", "seed", "drop_last", "rank", "world_size", "num_workers")
_METHODS = ("__len__", "set_epoch", "state_dict", "load_state_dict")
_HOOKS = ("collate_fn", "worker_init_fn", "timeout", "persistent_workers")


@dataclass(frozen=True)
class Shape:
    """What was found out about a target from its parameters alone.

    `filled` maps each parameter to the field of the request that fills it; `open` are the parameters that must be given
    and that nothing fills; `absent` the fields that it has no parameter for. `played` are the parameters of PLAYED that
    it has, `methods` those of its methods that matter to an adapter.
    """

    name: str
    kind: Kind
    filled: dict[str, str] = field(default_factory=dict)
    open: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    played: tuple[str, ...] = ()
    methods: frozenset[str] = frozenset()

    def asks(self, name: str) -> bool:
        """Whether a parameter is filled from this field."""
        return name in self.filled.values()

    @property
    def called(self) -> str:
        """What the adapter calls it: not by the name of the adapter's own function."""
        return "make" if self.name == "load" else self.name

    @property
    def is_sampler(self) -> bool:
        """Whether it has to be put under a loader."""
        return self.kind in ("sampler", "batch sampler")

    @property
    def takes_sampler(self) -> bool:
        """Whether ranks, order and seed reach it through a sampler of torch's."""
        return "sampler" in self.played and not self.asks("rank") and (self.kind != "loader" or "torch" in sys.modules)

    @property
    def has_ranks(self) -> bool:
        """Whether it can be asked for one rank of several."""
        return self.takes_sampler or (self.asks("rank") and self.asks("world_size"))

    @property
    def draws_from_generator(self) -> bool:
        """Whether its seed is that of a generator."""
        return "generator" in self.played and not self.asks("seed") and not self.takes_sampler

    @property
    def shuffles(self) -> bool:
        """Whether a shuffle can be asked for, and repeated."""
        seeded = self.asks("seed") or (self.draws_from_generator and "torch" in sys.modules)
        return self.takes_sampler or (self.asks("shuffle") and seeded)


def shape_of(target: Any, name: str = "") -> Shape | None:
    """The shape of a class or function; None if none of its parameters has the usual name of a dataset or a sampler."""
    if not callable(target) or not (inspect.isclass(target) or inspect.isroutine(target)):
        return None
    parameters = parameters_of(target)
    filled = _filled(parameters)
    played = tuple(each for each in PLAYED if each in parameters)
    if "dataset" not in filled.values() and "sampler" not in played:
        return None
    kind = _kind(target, filled)
    if kind == "loader" and "dataset" not in filled.values():
        return None
    given = {*filled, "epoch", *(("generator",) if "torch" in sys.modules else ())}
    given |= {"sampler"} if kind != "loader" or "torch" in sys.modules else set()
    return Shape(
        name or target.__name__,
        kind,
        filled,
        tuple(each for each, parameter in parameters.items() if is_needed(parameter) and each not in given),
        tuple(each for each in _ASKED if each not in filled.values()),
        played,
        frozenset(each for each in _METHODS if _has(target, each)),
    )


def _filled(parameters: Mapping[str, inspect.Parameter]) -> dict[str, str]:
    """The parameter for each field: the first, where a target has two of them."""
    found: dict[str, str] = {}
    for name, parameter in parameters.items():
        asked = field_of(name)
        # A request without a function is one with None, which must not take the place of a function of its own.
        keeps_its_own = asked in ("collate_fn", "worker_init_fn") and parameter.default is not None
        if asked and asked not in found.values() and not keeps_its_own:
            found[name] = asked
    return found


def _kind(target: Any, filled: dict[str, str]) -> Kind:
    data = sys.modules.get("torch.utils.data")
    if data is not None and inspect.isclass(target) and issubclass(target, data.DataLoader):
        return "torch loader"
    named = target.__name__.endswith("Sampler")
    if inspect.isclass(target) and (named or (data is not None and issubclass(target, data.Sampler))):
        return "batch sampler" if "batch_size" in filled.values() else "sampler"
    return "loader"


def _has(target: Any, method: str) -> bool:
    return inspect.isclass(target) and callable(getattr(target, method, None))


def claims_of(shape: Shape) -> dict[str, Any]:
    """What the parameters and methods of a target claim for it; the policies for the remainder show only in a run."""
    claims: dict[str, Any] = {}
    if shape.is_sampler or shape.kind == "torch loader" or shape.asks("num_workers"):
        claims["workers"] = not shape.is_sampler
    claims["hooks"] = tuple(each for each in _HOOKS if shape.asks(each) and not shape.is_sampler)
    claims["shuffle"] = "global" if shape.shuffles else None
    claims["length"] = True if "__len__" in shape.methods or shape.kind == "torch loader" else None
    claims["resume"] = True if {"state_dict", "load_state_dict"} <= shape.methods else None
    claims["without"] = tuple(each for each in _limits(shape))
    return {name: value for name, value in claims.items() if value}


def _limits(shape: Shape) -> list[str]:
    limits = [] if shape.has_ranks else ["ranks"]
    if not shape.asks("drop_last") and shape.kind not in ("torch loader", "sampler"):
        limits.append("drop_last")
    if not shape.asks("batch_size") and shape.kind not in ("torch loader", "sampler"):
        limits.append("batch_size")
    return limits
