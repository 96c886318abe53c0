"""Where a script gets the loader from: decides how an implementation is found without this package."""

import contextlib
import functools
import importlib
import importlib.util
import os
import random
import sys
from pathlib import Path
from typing import Any

from conformance.report.script.probe import decode

IMPLEMENTATION = ATTRIBUTE = ""


def load(request: Any) -> Any:
    """Stands for the load of an adapter that a script holds itself."""
    raise NotImplementedError


def find() -> Any:
    """Stands for one of `import_file` and `import_module`."""
    raise NotImplementedError


def adapter_in_script() -> tuple[Any, Any]:
    """The load that stands above."""
    return load, decode


def adapter_with_load() -> tuple[Any, Any]:
    """The adapter's own load and decode."""
    found = find()
    return found.load, getattr(found, "decode", None) or decode


def adapter_of_any_kind() -> tuple[Any, Any]:
    """Its load and decode, those of its submodule loaderspec, or a load made for a package of PopTorch's shape."""
    found = find()
    for name in filter(None, ATTRIBUTE.split(".")):
        found = getattr(found, name)
    if not hasattr(found, "load") and hasattr(found, "__path__"):
        with contextlib.suppress(ModuleNotFoundError):
            found = importlib.import_module(f"{found.__name__}.loaderspec")
    if not hasattr(found, "load") and hasattr(found, "Options") and hasattr(found, "DataLoader"):
        return functools.partial(poptorch_loader, found), decode
    return getattr(found, "load", found), getattr(found, "decode", None) or decode


def adapter_of_poptorch_shape() -> tuple[Any, Any]:
    """A load made for a package that has Options and DataLoader of PopTorch's shape."""
    return functools.partial(poptorch_loader, find()), decode


def poptorch_loader(package: Any, request: Any) -> Any:
    """One rank's loader, made from Options."""
    options = package.Options()
    options.deviceIterations(request.device_iterations)
    options.replicationFactor(request.replication_factor)
    options.Training.gradientAccumulation(request.gradient_accumulation)
    options.Distributed.configureProcessId(request.rank, request.world_size)
    # randomSeed is documented to seed torch as well: its doing, and not the loader's.
    torch = sys.modules.get("torch")
    before = random.getstate(), torch and torch.get_rng_state()
    options.randomSeed(request.seed)
    random.setstate(before[0])
    if torch:
        torch.set_rng_state(before[1])
    names = ("batch_size", "shuffle", "drop_last", "num_workers")
    asked = {name: getattr(request, name) for name in names}
    asked |= reading_ahead(package, request)  # only: asynchronous
    return package.DataLoader(options, request.dataset, **asked)


def reading_ahead(package: Any, request: Any) -> dict[str, Any]:
    """How a loader of PopTorch's shape is asked to read ahead, if it is to."""
    if not request.asynchronous:
        return {}
    asked = {name: getattr(request, name) for name in ("early_preload", "load_indefinitely")}
    asked |= {"buffer_size": request.buffer_size or 3, "sharing_strategy": package.SharingStrategy.Fork}
    modes = package.DataLoaderMode
    return {"mode": modes.AsyncRebatched if request.rebatched else modes.Async, "async_options": asked}


def import_file() -> Any:
    """The adapter, found from the current folder or from the one that holds this script's folder."""
    places = (Path(IMPLEMENTATION), Path(__file__).resolve().parent.parent / IMPLEMENTATION)
    path = next((place.resolve() for place in places if place.is_file()), None)
    if path is None:
        raise ImportError(f"there is no file {IMPLEMENTATION}; run this script from the folder that holds it")
    sys.path.insert(0, str(path.parent))
    spec: Any = importlib.util.spec_from_file_location(f"loaderspec_adapter_{path.stem}", path)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def import_module() -> Any:
    """The implementation, from where it is installed, the current folder, or the one that holds this script's."""
    sys.path += [os.getcwd(), str(Path(__file__).resolve().parent.parent)]
    return importlib.import_module(IMPLEMENTATION)
