"""What is checked: decides how `train.py:make_loader` becomes loaders, and how its arguments are filled.

train.py:make_loader   a function that returns a loader, or a tuple, list or dict with loaders in it
train.py:loader        a loader
train.py:stream        an IterableDataset, which gets a loader of torch's
"""

import importlib
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from conformance.watch import lines
from conformance.watch.datasets import base_of


class Unfit(ValueError):
    """The target can't be checked: the words say what it is, what is needed, and how to give it."""


@dataclass(frozen=True)
class SetUp:
    """A set-up in which a target is checked. What is None is left to the function. `length`: how many first samples."""

    world_size: int = 1
    num_workers: int | None = None
    batch_size: int | None = None
    drop_last: bool | None = None
    seed: int | None = None
    epochs: int = 2
    length: int | None = None
    values: Mapping[str, Any] = field(default_factory=dict)  # --set name=value


def imported(target: str) -> tuple[Any, str]:
    """The object that a target names, and the name of its attribute. Unfit if it isn't there."""
    where, _, attribute = target.rpartition(":")
    if not where or not attribute:
        raise Unfit(f"{target!r} is no target: write file.py:function, file.py:loader, or module:function")
    try:
        if where.endswith(".py"):
            path = Path(where).resolve()
            if not path.is_file():
                raise Unfit(f"there is no file {where}")
            # By its name, as workers that are spawned import it again.
            sys.path.insert(0, str(path.parent))
            where = path.stem
        else:
            sys.path.insert(0, "")
        module = importlib.import_module(where)
    except ImportError as error:
        raise Unfit(f"{where} can't be imported: {error}") from error
    if not hasattr(module, attribute):
        raise Unfit(f"{target}: there is no {attribute}; there are {', '.join(_own(module)[:12])}")
    return getattr(module, attribute), attribute


def _own(module: ModuleType) -> list[str]:
    """The names of what a file defines itself, without those that it imports."""
    named = {name: value for name, value in vars(module).items() if not name.startswith("_")}
    return [
        name
        for name, value in named.items()
        if not isinstance(value, ModuleType) and getattr(value, "__module__", module.__name__) == module.__name__
    ]


def filled(function: Callable[..., Any], name: str, rank: int, epoch: int, setup: SetUp) -> dict[str, Any]:
    """The arguments of a function, by their names. Unfit if one is needed that nobody gave."""
    known: dict[str, Any] = {
        **dict.fromkeys(("rank", "local_rank", "process_index"), rank),
        **dict.fromkeys(("world_size", "num_replicas", "num_processes"), setup.world_size),
        "epoch": epoch,
        "epochs": setup.epochs,
    }
    chosen = {
        "num_workers": setup.num_workers,
        "batch_size": setup.batch_size,
        "drop_last": setup.drop_last,
        "seed": setup.seed,
    }
    known |= {key: value for key, value in chosen.items() if value is not None}
    fallback = {"num_workers": 0, "batch_size": 2, "drop_last": False, "seed": 0}
    given: dict[str, Any] = {}
    parameters = inspect.signature(function).parameters
    for each in parameters.values():
        if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            continue
        needed = each.default is each.empty
        found = {**(fallback if needed else {}), **known, **setup.values}
        if each.name in found:
            given[each.name] = found[each.name]
        elif needed:
            raise Unfit(f"{name} needs {each.name!r}: give it with --set {each.name}=VALUE")
    unknown = [key for key in setup.values if key not in parameters]
    if unknown:
        raise Unfit(f"{name} has no parameter {unknown[0]!r}: it has {', '.join(parameters) or 'none'}")
    return given


def parameters(found: Any) -> list[str]:
    """What can be chosen for a target: the parameters of a function; of a stream, those of the loader that it gets."""
    if inspect.isroutine(found) or inspect.isclass(found):
        return list(inspect.signature(found).parameters)
    return ["num_workers", "batch_size"] if hasattr(found, "__iter__") and not hasattr(found, "batch_size") else []


def loaders(found: Any, name: str, rank: int, epoch: int, setup: SetUp) -> list[Any]:
    """The loaders of a target, in one rank. Unfit if there is none."""
    lines.fallback = _line_of(found)
    value = found
    if inspect.isroutine(found) or inspect.isclass(found):
        value = found(**filled(found, name, rank, epoch, setup))
    kept = list(_loaders(value, setup))
    if not kept:
        what = f"{name} gives a {type(value).__name__}"
        raise Unfit(f"{what}: a loader is needed, an IterableDataset, or a tuple, list or dict of these")
    return kept


def _loaders(value: Any, setup: SetUp) -> Iterator[Any]:
    from torch.utils.data import DataLoader, IterableDataset

    from conformance.records.wrapper import record

    if isinstance(value, IterableDataset):
        yield DataLoader(value, batch_size=setup.batch_size or 2, num_workers=setup.num_workers or 0)
    elif isinstance(value, DataLoader):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _loaders(each, setup)
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _loaders(each, setup)
    elif hasattr(value, "__iter__") and not hasattr(value, "__getitem__"):
        yield record(value)


def shortable(loader: Any) -> int | None:
    """How many samples a loader's dataset has; None if it can't be let have less."""
    base = base_of(getattr(loader, "dataset", None))
    if not hasattr(base, "__getitem__") or not hasattr(base, "__len__") or type(base).__module__ == "builtins":
        return None
    return len(base)


def shorten(loader: Any, length: int) -> None:
    """Let the dataset of a loader say that it has this many samples: what is made of its class from now on is short."""
    kind = type(base_of(getattr(loader, "dataset", None)))
    if shortable(loader) is None:
        raise Unfit(f"a dataset of type {kind.__name__} can't be made shorter")
    plain: Any = kind.__len__

    def __len__(self: Any) -> int:
        return int(min(length, plain(self)))

    kind.__len__ = __len__


def _line_of(found: Any) -> lines.Line:
    try:
        kind = found if inspect.isroutine(found) or inspect.isclass(found) else type(found)
        return inspect.getsourcefile(kind) or "?", inspect.getsourcelines(kind)[1]
    except (OSError, TypeError):
        return "?", 0
