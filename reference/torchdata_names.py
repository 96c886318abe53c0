"""Decides under which names a script that was written for torchdata finds its pipelines: those of torchdata 0.9.

`install()` makes `torchdata.dataloader2` and `torchdata.datapipes` importable in this process, and in processes that
are forked from it. What is really installed wins: a torchdata that still has them is left alone, and of one that has
them no more the rest (`torchdata.stateful_dataloader`) stays as it is. Without a call nothing is changed.

A name that torchdata had and that is not served can be neither imported nor read, and says so; nor can its functional
form be called. Chapter 8 lists them.

`python -m reference.run script.py` and `poprun` do it for their programs: `reference/shims/torchdata.py` comes first on
their path, and calls `take_over`.
"""

import importlib.util
import sys
from functools import partial
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import torch.utils.data.datapipes.iter as torch_iter
import torch.utils.data.datapipes.map as torch_map
from torch.utils.data import DataChunk, IterDataPipe, MapDataPipe, functional_datapipe
from torch.utils.data._utils.pin_memory import pin_memory
from torch.utils.data.datapipes.utils.common import StreamWrapper
from torch.utils.data.graph import DataPipe, DataPipeGraph, traverse_dps

from . import datapipes, reading_service
from .dataloader2 import DataLoader2, DataLoader2Iterator
from .launch.refusing import refuse
from .launch.shims import SHIMS
from .pipelines import adapters, graph_functions
from .pipelines.messages import WorkerInfo
from .pipelines.seeds import SeedGenerator

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
# Its name before torchdata 0.6, which later ones kept.
_SERVICES["PrototypeMultiProcessingReadingService"] = reading_service.MultiProcessingReadingService
_GRAPH = ("find_dps", "list_dps", "remove_dp", "replace_dp", "set_datapipes_seed", "set_graph_random_seed")
_PIPES = {name: getattr(datapipes, name) for name in datapipes.__all__}
_NAMES: dict[str, dict[str, Any]] = {
    "torchdata": {},
    "torchdata.dataloader2": {
        **_SERVICES,
        "DataLoader2": DataLoader2,
        "DataLoader2Iterator": DataLoader2Iterator,
        "WorkerInfo": WorkerInfo,
    },
    "torchdata.dataloader2.adapter": {name: getattr(adapters, name) for name in ("Adapter", "CacheTimeout", "Shuffle")},
    "torchdata.dataloader2.graph": {
        "DataPipe": DataPipe,
        "DataPipeGraph": DataPipeGraph,
        "traverse_dps": traverse_dps,
        **{name: getattr(graph_functions, name) for name in _GRAPH},
    },
    "torchdata.dataloader2.random": {"SeedGenerator": SeedGenerator},
    "torchdata.dataloader2.reading_service": {**_SERVICES, "WorkerInfo": WorkerInfo},
    "torchdata.dataloader2.utils": {"WorkerInfo": WorkerInfo},
    "torchdata.datapipes": {"DataChunk": DataChunk, "functional_datapipe": functional_datapipe},
    "torchdata.datapipes.iter": {
        **{name: getattr(torch_iter, name) for name in torch_iter.__all__},
        **{name: pipe for name, pipe in _PIPES.items() if not issubclass(pipe, MapDataPipe)},
        "IterDataPipe": IterDataPipe,
    },
    "torchdata.datapipes.map": {
        **{name: getattr(torch_map, name) for name in torch_map.__all__},
        **{name: pipe for name, pipe in _PIPES.items() if issubclass(pipe, MapDataPipe)},
        "MapDataPipe": MapDataPipe,
    },
    "torchdata.datapipes.utils": {"StreamWrapper": StreamWrapper, "pin_memory_fn": pin_memory},
}
NOT_SERVED: dict[str, dict[str, str]] = {
    "torchdata": {"janitor": ""},
    "torchdata.dataloader2": {"CheckpointableReadingServiceInterface": "", "PauseIteration": "", "ShuffleSpec": ""},
    "torchdata.dataloader2.random": {"dist_share_seed": ""},
    "torchdata.dataloader2.reading_service": {"CheckpointableReadingServiceInterface": ""},
    "torchdata.dataloader2.utils": {"process_init_fn": "", "process_reset_fn": ""},
    "torchdata.datapipes.iter": {
        "AISFileLister": "list_files_by_ais",
        "AISFileLoader": "load_files_by_ais",
        "BatchAsyncMapper": "async_map_batches",
        "Bz2FileLoader": "load_from_bz2",
        "DataFrameMaker": "dataframe",
        "Dropper": "drop",
        "Extractor": "extract",
        "FSSpecSaver": "save_by_fsspec",
        "Flattener": "flatten",
        "GDriveReader": "read_from_gdrive",
        "HashChecker": "check_hash",
        "HttpReader": "read_from_http",
        "HuggingFaceHubReader": "",
        "IndexAdder": "add_index",
        "IoPathFileLister": "list_files_by_iopath",
        "IoPathFileOpener": "open_files_by_iopath",
        "IoPathSaver": "save_by_iopath",
        "MultiplexerLongest": "mux_longest",
        "OnlineReader": "read_from_remote",
        "ParagraphAggregator": "lines_to_paragraphs",
        "ParquetDataFrameLoader": "load_parquet_as_df",
        "RarArchiveLoader": "load_from_rar",
        "RoundRobinDemultiplexer": "round_robin_demux",
        "Rows2Columnar": "rows2columnar",
        "S3FileLister": "list_files_by_s3",
        "S3FileLoader": "load_files_by_s3",
        "SampleMultiplexer": "",
        "Saver": "save_to_disk",
        "ShardExpander": "shard_expand",
        "ShuffledFlatMapper": "shuffled_flatmap",
        "Slicer": "slice",
        "TFRecordLoader": "load_from_tfrecord",
        "ThreadPoolMapper": "threadpool_map",
        "WebDataset": "webdataset",
        "XzFileLoader": "load_from_xz",
        "ZipperLongest": "zip_longest",
    },
    "torchdata.datapipes.map": {"InMemoryCacheHolder": "in_memory_cache", "UnZipper": "unzip"},
    "torchdata.datapipes.utils": {"janitor": "", "to_graph": ""},
}
"""Names that torchdata 0.9 had and that are not here, each with its functional form, if it had one."""


def install() -> None:
    """Make the names importable, as far as they are not."""
    for name in _NAMES:
        if name not in sys.modules and not _is_there(name):
            _serve(name)


def _serve(name: str) -> None:
    module = ModuleType(name, f"The names of {name} as torchdata 0.9 had them, by {__package__}.")
    # With a path it counts as a package, whose submodules may be imported.
    module.__path__ = []
    vars(module).update(_NAMES[name], __getattr__=partial(_missing, name))
    sys.modules[name] = module
    refuse(name, partial(_not_served, name))
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(importlib.import_module(parent), last, module)
    pipe = MapDataPipe if name.endswith(".map") else IterDataPipe
    for asked, form in NOT_SERVED.get(name, {}).items():
        if form and form not in pipe.functions:
            pipe.register_function(form, partial(_refuse_form, name, asked, form))


def take_over() -> None:
    """Put the installed torchdata, if there is one, in the place of the shim that is being imported; add the names."""
    sys.modules.pop("torchdata", None)
    found = PathFinder.find_spec("torchdata", [part for part in sys.path if not part or Path(part) != SHIMS])
    if found is not None and found.loader is not None:
        real = importlib.util.module_from_spec(found)
        sys.modules["torchdata"] = real
        found.loader.exec_module(real)
    else:
        # To look for it would find the shim, again and again.
        _serve("torchdata")
    install()


def _missing(module: str, name: str) -> NoReturn:
    raise AttributeError(_not_served(module, name))


def _not_served(module: str, name: str) -> str:
    """What to say of a name that a module has not."""
    if name in NOT_SERVED.get(module, {}):
        return f"{module}.{name} was a name of torchdata 0.9 that {_by(module)}"
    return (
        f"module {module!r} has no attribute {name!r}: names are imported from it and not from modules within it, and "
        f"specs/8-pipelines.md lists those of torchdata 0.9 that are not there."
    )


def _refuse_form(module: str, name: str, form: str, *given: Any, **named: Any) -> NoReturn:
    raise NotImplementedError(f"{form}(), of {module}.{name}, was a pipe of torchdata 0.9 that {_by(module)}")


def _by(module: str) -> str:
    pipe = "Write it as a pipe of your own, a class derived from torch.utils.data.IterDataPipe, or install"
    instead = pipe if module == "torchdata.datapipes.iter" else "Do without it, or install"
    return f"{__package__} does not serve: specs/8-pipelines.md lists them. {instead} torchdata==0.9.0."


def _is_there(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False
