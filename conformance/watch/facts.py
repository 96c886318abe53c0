"""Facts of loaders, epochs and processes: decides what is told of each, as plain data. Nothing in here judges."""

import os
import sys
from types import FrameType
from typing import Any

from conformance.records.place import place
from conformance.watch.copies import epoch_state
from conformance.watch.datasets import base_of, parts_of, print_of
from conformance.watch.draws import draws_of
from conformance.watch.entries import entries_of
from conformance.watch.fingerprints import fingerprints
from conformance.watch.lines import first_argument, handed_on, is_users, users_frame, users_line

Facts = dict[str, Any]


def process() -> Facts:
    """Who this process is: its place in the job, and the process groups of which it knows."""
    told: Facts = {"argv": list(getattr(sys, "orig_argv", sys.argv)), "cwd": os.getcwd(), **place()}
    distributed = initialised()
    if distributed is not None:
        told["groups"] = groups(distributed)
    return told


def initialised() -> Any:
    """torch.distributed if the job has initialised it, else None."""
    distributed: Any = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    return distributed


def groups(distributed: Any) -> list[list[int]]:
    """The ranks of each process group that is smaller than the world."""
    try:
        world = distributed.get_world_size()
        found = distributed.distributed_c10d._world.pg_group_ranks.values()
        return [list(each) for each in sorted({tuple(sorted(ranks)) for ranks in found if 1 < len(ranks) < world})]
    except Exception:  # not torch's interface: another version has it elsewhere, and then nothing is told
        return []


def loader(given: Any, made: Facts) -> Facts:
    """What a loader says of itself; `made` has the line where the user made it."""
    iterable = getattr(given, "_dataset_kind", 0) == 1
    sampler = _sampler(given)
    base = base_of(given.dataset)
    return {
        **made,
        **_source(base),
        "class": _name(given),
        "dataset_class": _name(base),
        "dataset_print": print_of(base),
        "kind": "iterable" if iterable else "map",
        "length": None if iterable else length(base),
        "parts": parts_of(base),
        "entries": None if iterable else entries_of(base),
        "batch_size": _batch_size(given),
        "own_batches": _own_batches(given.batch_sampler),
        "drop_last": bool(given.drop_last or getattr(given.batch_sampler, "drop_last", False)),
        "num_workers": given.num_workers,
        "persistent": bool(given.persistent_workers),
        "sampler": None if iterable else _name(sampler),
        "sampler_length": None if iterable or sampler is given.batch_sampler else length(sampler),
        "draws": None if iterable or _own_batches(given.batch_sampler) else draws_of(sampler, given.dataset),
        "replacement": bool(getattr(sampler, "replacement", False)),
        "replicas": None if iterable else _replicas(given, sampler),
        "seed": _whole_number(sampler, "seed"),
        # DistributedSampler says it; of others the class does.
        "shuffle": getattr(sampler, "shuffle", None),
    }


def _own_batches(sampler: Any) -> bool | None:
    """Whether a batch sampler of the user's own cuts the batches; None where a library's does, or none."""
    code = getattr(getattr(type(sampler), "__iter__", None), "__code__", None)
    return True if code is not None and is_users(code.co_filename) else None


def _source(dataset: Any) -> Facts:
    """Where a dataset of the user's gives its elements."""
    for name in ("__iter__", "__getitem__"):
        code = getattr(getattr(type(dataset), name, None), "__code__", None)
        if code is not None and is_users(code.co_filename):
            return {"dataset_file": code.co_filename, "dataset_line": code.co_firstlineno}
    return {}


def made(loader: Any, frame: FrameType | None) -> Facts:
    """Where a loader is made, and by which library out of another loader."""
    file, line = users_line(frame)
    return {"file": file, "line": line, "made_by": handed_on(frame, loader), "dispatched": _dispatched(frame)}


def _dispatched(frame: FrameType | None) -> bool:
    """Whether it is made for accelerate's dispatcher, which reads it on rank 0 and cuts up what it read."""
    while frame is not None and frame.f_code.co_name == "__init__":
        if type(first_argument(frame)).__name__ == "DataLoaderDispatcher":
            return True
        frame = frame.f_back
    return False


def epoch(given: Any, frame: FrameType | None) -> Facts:
    """What is known when an epoch begins, in the process that reads the loader."""
    file, line = users_line(frame)
    torch: Any = sys.modules["torch"]
    base = base_of(given.dataset)
    return {
        "file": file,
        "line": line,
        "set_epoch": _epoch_of(given),
        "dataset_epoch": _epoch_of_dataset(base),
        "dataset_state": epoch_state(base),
        "no_grad": not torch.is_grad_enabled(),
        "eval": _in_eval(frame, torch),
        # What accelerate's dispatcher reads on rank 0 is cut up into other steps.
        "steps": None if given.__dict__.get("_loaderspec_made", {}).get("dispatched") else length_of(given),
        "random": fingerprints(given.dataset),
        "skipped": getattr(given.batch_sampler, "skip_batches", None),
        # torchdata's: the state with which the iterator that is being made begins.
        "restored": getattr(given, "next_iter_state", None) is not None or None,
    }


def length_of(given: Any) -> int | None:
    """`len(loader)`, without what torch notes when it is asked for that of an iterable dataset; None if it has none."""
    if getattr(given, "_dataset_kind", 0) != 1:
        return length(given)
    elements = length(given.dataset)
    size: int | None = given.batch_size
    if elements is None or size is None:
        return elements
    return elements // size if given.drop_last else -(-elements // size)


def _sampler(given: Any) -> Any:
    """The sampler of samples: below a batch sampler, and below what libraries wrap around one."""
    plain = given.sampler
    batches = given.batch_sampler
    for _ in range(4):
        if batches is None or getattr(batches, "sampler", None) is not None:
            break
        batches = getattr(batches, "batch_sampler", None)
    below = getattr(batches, "sampler", None)
    if below is not None:
        return below
    # A batch sampler of the user's own: torch then holds a sampler that nobody asks.
    return plain if given.batch_sampler is None else given.batch_sampler


def _replicas(given: Any, sampler: Any) -> int | None:
    """Over how many ranks the sampler deals out its indices, as far as it says it."""
    names = ("num_replicas", "num_processes", "world_size")
    told = [_whole_number(each, name) for each in (sampler, given.batch_sampler) for name in names]
    return next((number for number in told if number is not None), None)


def _whole_number(value: Any, name: str) -> int | None:
    try:
        told = getattr(value, name, None)
    except Exception:  # a property that needs what the job does not have yet
        return None
    return told if type(told) is int else None


def _epoch_of(given: Any) -> int | None:
    for each in (given.sampler, given.batch_sampler, _sampler(given)):
        told = getattr(each, "epoch", None)
        if isinstance(told, int) and hasattr(each, "set_epoch"):
            return told
    return None


def _epoch_of_dataset(dataset: Any) -> int | None:
    """The epoch as a dataset has it that hears of epochs, and shuffles by them as far as it says."""
    if not callable(getattr(dataset, "set_epoch", None)) or getattr(dataset, "shuffle", True) is False:
        return None
    told = [getattr(dataset, name, None) for name in ("epoch", "_epoch")]
    return next((number for number in told if type(number) is int), None)


def _batch_size(given: Any) -> int | None:
    size: Any = given.batch_size
    if size is None:
        size = getattr(given.batch_sampler, "batch_size", None)
    return size if isinstance(size, int) else None


def _in_eval(frame: FrameType | None, torch: Any) -> bool | None:
    """Whether the models that the reading function can see are in eval mode; None if it sees none."""
    found = users_frame(frame)
    if found is None:
        return None
    seen = [value for value in (*found.f_locals.values(), *found.f_globals.values()) if _is_module(value, torch)]
    return not any(model.training for model in seen) if seen else None


def _is_module(value: Any, torch: Any) -> bool:
    return isinstance(value, torch.nn.Module) and next(value.parameters(), None) is not None


def length(value: Any) -> int | None:
    """`len`, or None where there is none."""
    try:
        return len(value)
    except Exception:  # it has none, or it needs what the job does not have yet
        return None


def _name(value: Any) -> str:
    return type(value).__name__
