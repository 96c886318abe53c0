"""The usual names of a loader's parameters: decides which field of a request a parameter is filled from."""

import inspect
from collections.abc import Iterator
from typing import Any

# For each field of a request, the names by which loaders ask for it; the commonest first.
NAMES: dict[str, tuple[str, ...]] = {
    "dataset": ("dataset", "data_source", "data", "ds", "source", "samples"),
    "batch_size": ("batch_size", "micro_batch_size", "bs", "batch"),
    "shuffle": ("shuffle", "shuffled"),
    "seed": ("seed", "random_seed", "random_state", "base_seed"),
    "drop_last": ("drop_last", "drop_remainder", "drop_last_batch"),
    "num_workers": ("num_workers", "workers", "n_workers", "worker_count"),
    "rank": ("rank", "process_index", "process_id", "shard_index", "shard_id", "dp_rank"),
    "world_size": (
        "world_size",
        "num_replicas",
        "num_ranks",
        "num_processes",
        "process_count",
        "num_shards",
        "shard_count",
        "dp_size",
    ),
    "collate_fn": ("collate_fn",),
    "worker_init_fn": ("worker_init_fn",),
    "timeout": ("timeout",),
    "persistent_workers": ("persistent_workers",),
}
# Parameters with a part to play that no field of a request has.
PLAYED = ("epoch", "sampler", "batch_sampler", "generator")
_FIELD_OF = {name: field for field, names in NAMES.items() for name in names}


def parameters_of(target: Any) -> dict[str, inspect.Parameter]:
    """The named parameters of a class or function; those of base classes too, as far as ``**kwargs`` lead to them."""
    found: dict[str, inspect.Parameter] = {}
    for signature in _signatures(target):
        inherited = bool(found)
        for name, parameter in signature.parameters.items():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                continue
            # What a base class must be given, the class itself gives it.
            if not inherited or not is_needed(parameter):
                found.setdefault(name, parameter)
        if all(each.kind != each.VAR_KEYWORD for each in signature.parameters.values()):
            break
    return found


def _signatures(target: Any) -> Iterator[inspect.Signature]:
    if not inspect.isclass(target):
        yield from _signature(target)
        return
    for each in target.__mro__[:-1]:
        for signature in _signature(vars(each).get("__init__")):
            yield signature.replace(parameters=[*signature.parameters.values()][1:])


def _signature(function: Any) -> Iterator[inspect.Signature]:
    try:
        yield inspect.signature(function)
    except (TypeError, ValueError):  # written in C, or wrapped in something without a signature
        return


def field_of(parameter: str) -> str:
    """The field of a request that a parameter of this name asks for, or ""."""
    return _FIELD_OF.get(parameter, "")


def is_needed(parameter: inspect.Parameter) -> bool:
    """Whether a call without it fails."""
    return parameter.default is parameter.empty
