"""Decides under which names a script that was written for torchdata finds its pipelines: those of torchdata 0.9.

`install()` makes `torchdata.dataloader2` and `torchdata.datapipes` importable in this process, and in processes that
are forked from it. What is really installed wins: a torchdata that still has them is left alone, and of one that has
them no more the rest (`torchdata.stateful_dataloader`) stays as it is. Without a call nothing is changed.

`python -m reference.run script.py` and `poprun` do it for their programs: `reference/shims/torchdata.py` comes first on
their path, and calls `take_over`.
"""

import importlib.util
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

import torch.utils.data.datapipes.iter as torch_iter
import torch.utils.data.datapipes.map as torch_map
from torch.utils.data import IterDataPipe, MapDataPipe, functional_datapipe
from torch.utils.data.graph import traverse_dps

from . import datapipes, reading_service
from .dataloader2 import DataLoader2, DataLoader2Iterator, Shuffle
from .launch.shims import SHIMS
from .pipelines import messages as pipe_messages
from .pipelines import seeds as pipe_seeds

_SERVICES = {
    name: getattr(reading_service, name)
    for name in (
        "DistributedReadingService",
        "InProcessReadingService",
        "MultiProcessingReadingService",
        "ReadingServiceInterface",
        "SequentialReadingService",
    )
}
_PIPES = {
    name: getattr(datapipes, name)
    for name in ("CSVParser", "FullSync", "Header", "Prefetcher", "ShardingRoundRobinDispatcher")
}
_NAMES: dict[str, dict[str, Any]] = {
    "torchdata": {},
    "torchdata.dataloader2": {
        **_SERVICES,
        "DataLoader2": DataLoader2,
        "DataLoader2Iterator": DataLoader2Iterator,
        "WorkerInfo": pipe_messages.WorkerInfo,
    },
    "torchdata.dataloader2.adapter": {"Shuffle": Shuffle},
    "torchdata.dataloader2.graph": {"traverse_dps": traverse_dps},
    "torchdata.dataloader2.random": {"SeedGenerator": pipe_seeds.SeedGenerator},
    "torchdata.dataloader2.reading_service": _SERVICES,
    "torchdata.datapipes": {"functional_datapipe": functional_datapipe},
    "torchdata.datapipes.iter": {
        **{name: getattr(torch_iter, name) for name in torch_iter.__all__},
        **_PIPES,
        "IterDataPipe": IterDataPipe,
    },
    "torchdata.datapipes.map": {
        **{name: getattr(torch_map, name) for name in torch_map.__all__},
        "MapDataPipe": MapDataPipe,
    },
}


def install() -> None:
    """Make the names importable, as far as they are not."""
    for name, contents in _NAMES.items():
        if name in sys.modules or _is_there(name):
            continue
        module = ModuleType(name, f"The names of {name} as torchdata 0.9 had them, by {__package__}.")
        # With a path it counts as a package, whose submodules may be imported.
        module.__path__ = []
        vars(module).update(contents)
        sys.modules[name] = module
        parent, _, last = name.rpartition(".")
        if parent:
            setattr(importlib.import_module(parent), last, module)


def take_over() -> None:
    """Put the installed torchdata, if there is one, in the place of the shim that is being imported; add the names."""
    sys.modules.pop("torchdata", None)
    found = PathFinder.find_spec("torchdata", [part for part in sys.path if not part or Path(part) != SHIMS])
    if found is not None and found.loader is not None:
        real = importlib.util.module_from_spec(found)
        sys.modules["torchdata"] = real
        found.loader.exec_module(real)
    install()


def _is_there(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False
