"""The machinery of a reproduction script: decides how it runs each rank, and what it prints and returns.

Nothing here is called by the suite: `repro.py` writes these functions into a script, behind the constants of one case.
So they use the standard library alone, and what they call by a capital name is written by `repro.py`. Each rank has a
process of its own, since the fault may be a hang, a death, a hash seed or the state of a global generator.
"""

import contextlib
import faulthandler
import functools
import hashlib
import importlib
import importlib.util
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

# What stands here is only for the type checker: a script has its own.
IMPLEMENTATION = ""
ATTRIBUTE = ""
SAMPLES = 0
REQUEST: dict[str, Any] = {}
RANKS: list[Any] = []
RUNS: dict[str, dict[str, Any]] = {}
CASE = SimpleNamespace()
SETS_EPOCH = True
FAILURE_IS_THE_FAULT = False
PATIENCE = 10.0
EXPECTED = ""


def check(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """Stands for the check of the clause."""
    raise NotImplementedError


class Dataset:
    """Sample i is the integer 1000 + i."""

    def __init__(self, length: int) -> None:
        self.length = length

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> int:
        if not -self.length <= index < self.length:
            raise IndexError(index)
        return 1000 + int(index) % self.length


def decode(batch: Any, in_array: bool = False) -> list[int]:
    """The numbers in a batch: a tensor, array, list, tuple or dict, nested or not."""
    if hasattr(batch, "tolist"):
        return decode(batch.tolist(), in_array=True)
    if isinstance(batch, dict):
        batch = list(batch.values())
    if isinstance(batch, int | float) and not isinstance(batch, bool) and (in_array or isinstance(batch, int)):
        if batch == int(batch):
            return [int(batch)]
    elif hasattr(batch, "__iter__") and not hasattr(batch, "__next__") and not isinstance(batch, str | bytes):
        return [number for part in batch for number in decode(part, in_array)]
    raise TypeError(f"a batch holds {batch!r}, which is no sample")


def import_file() -> Any:
    """The adapter, found from the current folder, or beside this script or its folder."""
    here = Path(__file__).resolve().parent
    path = next((path for path in map(Path, (IMPLEMENTATION, here.parent / IMPLEMENTATION)) if path.is_file()), None)
    if path is None:
        raise ImportError(f"there is no file {IMPLEMENTATION}; run this from the folder that holds it")
    sys.path.insert(0, str(path.resolve().parent))
    name = f"loaderspec_adapter_{path.stem}"
    found = importlib.util.spec_from_file_location(name, path)
    assert found is not None and found.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def import_module() -> Any:
    """The implementation, from where it is installed, the current folder, or the one that this script's lies in."""
    sys.path += [os.getcwd(), str(Path(__file__).resolve().parent.parent)]
    return importlib.import_module(IMPLEMENTATION)


def load_and_decode(found: Any) -> tuple[Any, Any]:
    """The adapter's own load and decode."""
    for name in filter(None, [ATTRIBUTE]):
        found = getattr(found, name)
    return getattr(found, "load", found), getattr(found, "decode", None) or decode


def search_load_and_decode(found: Any) -> tuple[Any, Any]:
    """Load and decode: its own, those of its submodule loaderspec, or made for a package of PopTorch's shape."""
    for name in filter(None, [ATTRIBUTE]):
        found = getattr(found, name)
    if not hasattr(found, "load") and hasattr(found, "__path__"):
        with contextlib.suppress(ModuleNotFoundError):
            found = importlib.import_module(f"{found.__name__}.loaderspec")
    if not hasattr(found, "load") and hasattr(found, "Options") and hasattr(found, "DataLoader"):
        return functools.partial(poptorch_loader, found), decode
    return getattr(found, "load", found), getattr(found, "decode", None) or decode


def poptorch_loader(package: Any, request: Any) -> Any:
    """One rank's loader of a package that has Options and DataLoader of PopTorch's shape."""
    options = package.Options()
    options.deviceIterations(request.device_iterations)
    options.replicationFactor(request.replication_factor)
    options.Training.gradientAccumulation(request.gradient_accumulation)
    options.Distributed.configureProcessId(request.rank, request.world_size)
    # randomSeed is documented to seed torch as well, which is not the loader's doing.
    torch = importlib.import_module("torch")
    before = random.getstate(), torch.get_rng_state()
    options.randomSeed(request.seed)
    random.setstate(before[0])
    torch.set_rng_state(before[1])
    return package.DataLoader(
        options,
        request.dataset,
        batch_size=request.batch_size,
        shuffle=request.shuffle,
        drop_last=request.drop_last,
        num_workers=request.num_workers,
    )


def make_request(samples: int, rank: Any, workdir: str, **changes: Any) -> SimpleNamespace:
    """What the adapter's load is given."""
    fields = {**REQUEST, "rank": rank, **changes}
    combined = 1
    for name in ("batch_size", "gradient_accumulation", "replication_factor", "device_iterations"):
        combined *= fields[name]
    folder = f"{workdir}/map-{samples}"
    os.makedirs(folder, exist_ok=True)
    return SimpleNamespace(dataset=Dataset(samples), workdir=folder, combined_batch=combined, **fields)


def seed_generators(seed: int) -> None:
    """Put the global generators that a loader might draw from in a known state."""
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)


def generator_states() -> dict[str, str]:
    """A digest of the state of each global generator."""
    states: dict[str, Any] = {"random": random.getstate()}
    if "numpy" in sys.modules:
        states["numpy"] = [getattr(part, "tolist", lambda: part)() for part in sys.modules["numpy"].random.get_state()]
    if "torch" in sys.modules:
        states["torch"] = sys.modules["torch"].get_rng_state().tolist()
    return {name: hashlib.sha256(repr(state).encode()).hexdigest()[:12] for name, state in states.items()}


def read(load: Any, decode: Any, request: Any, numbers: Any) -> dict[str, Any]:
    """Read one rank's loader, epoch after epoch, and note what it delivers or how it fails."""
    epochs: list[dict[str, Any]] = []
    kind, where = "raised", "load"
    before = generator_states()
    try:
        loader = load(request)
        for number in numbers:
            where = "set_epoch"
            if SETS_EPOCH and hasattr(loader, "set_epoch"):
                loader.set_epoch(number)
            length, where, kind = length_of(loader), "iter", "raised"
            steps: list[list[int]] = []
            iterator = iter(loader)
            where = "a step"
            for batch in iterator:
                kind = "undecodable"
                steps.append([int(value) - 1000 for value in decode(batch)])
                kind = "endless"
                if len(steps) + sum(map(len, steps)) > 100 + 10 * len(request.dataset) + 10 * request.combined_batch:
                    raise RuntimeError("far more samples than the dataset holds")
                kind = "raised"
            epochs.append({"number": number, "steps": steps, "length": length})
        where = "close"
        closing = [name for name in ("close", "shutdown", "terminate") if hasattr(loader, name)]
        for name in closing[:1]:
            getattr(loader, name)()
        failure = None
    except (Exception, SystemExit) as error:
        failure = {"kind": kind, "message": f"{type(error).__name__}: {error} (in {where})"}
    after = generator_states()
    states = {name: [before[name], after[name]] for name in before}
    return {"epochs": epochs, "failure": failure, "states": states}


def length_of(loader: Any) -> int | str | None:
    """What len() gives: a number, the exception in words, or None where there is no len()."""
    try:
        return len(loader) if hasattr(type(loader), "__len__") else None
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def one_rank(position: int, other_process: bool, folder: str) -> None:
    """What a rank's process does: its runs one after the other, each leaving a line of JSON."""
    with open(f"{folder}/result", "w") as result, open(f"{folder}/hang", "w") as hang:
        faulthandler.dump_traceback_later(120, exit=True, file=hang)
        try:
            load, decode = IMPORTED()
        except (Exception, SystemExit) as error:
            print(json.dumps({"impossible": f"{type(error).__name__}: {error}"}), file=result, flush=True)
            os._exit(2)
        for name, run in RUNS.items():
            if run.get("other_process", False) != other_process:
                continue
            faulthandler.dump_traceback_later(PATIENCE, exit=True, file=hang)
            # A failing main run ends it: there is nothing to compare.
            ...
