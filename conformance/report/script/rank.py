"""What a rank's process does: decides how a loader is read, and what is noted of it."""

import contextlib
import faulthandler
import hashlib
import importlib
import json
import os
import random
import sys
import tempfile
from dataclasses import make_dataclass
from types import SimpleNamespace
from typing import Any

from conformance.report.script.probe import Dataset, EpochStream, Source, Stream, elements
from conformance.report.script.watch import breaking_collate, breaking_initialiser

SAMPLES = RANDOM_SEED = 0
PATIENCE = 10.0
REQUEST: dict[str, Any] = {}
RANKS: list[Any] = []
RUNS: dict[str, dict[str, Any]] = {}
CASE = SimpleNamespace()


def implementation() -> tuple[Any, Any]:
    """Stands for one of the ways to an adapter."""
    raise NotImplementedError


def read(load: Any, decode: Any, request: Any, numbers: Any) -> dict[str, Any]:
    """Stands for the way in which the case reads its loader."""
    raise NotImplementedError


def one_rank(position: int, folder: str, names: list[str]) -> None:
    """What the process of a rank does: these runs one after the other, and a line of JSON for each."""
    result = open(f"{folder}/result", "w")  # noqa: SIM115
    cores = sorted(os.sched_getaffinity(0))  # only: cores
    os.sched_setaffinity(0, cores[int(os.environ["PYTHONHASHSEED"]) - 1 :] or cores)  # only: cores
    os.environ.update(WATCH=folder, CONSUMER=str(os.getpid()))  # only: watched
    os.environ["STATE"] = f"{folder}/../state-{position}"  # only: saved
    os.environ["TMPDIR"] = tempfile.tempdir = f"{folder}/tmp"  # only: left
    os.mkdir(tempfile.tempdir)  # only: left
    with contextlib.suppress(ImportError):  # only: numpy
        importlib.import_module("numpy")  # only: numpy
    try:
        importlib.import_module("numpy")  # only: arrays
        load, decode = implementation()
    except (Exception, SystemExit) as error:
        print(json.dumps({"impossible": f"{type(error).__name__}: {error}"}), file=result, flush=True)
        os._exit(2)
    for name in names:
        run = RUNS[name]
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        join_group(f"{folder}/../group-{name}", position)  # only: group
        seed_generators(run.get("random_seed", RANDOM_SEED))  # only: seeded
        for other in run.get("others", ()):  # only: others
            samples, changed = other.get("samples", SAMPLES), {**run, **other}  # only: others
            with contextlib.suppress(Exception):  # only: others
                asked = make_request(samples, RANKS[position], folder, changed)  # only: others
                read(load, decode, asked, range(2))  # only: others
            seed_generators(RANDOM_SEED)  # only: others
        request = make_request(SAMPLES, RANKS[position], folder, run)
        print(json.dumps(read(load, decode, request, run["epochs"])), file=result, flush=True)
        leave_group()  # only: group
    # Not sys.exit: a thread that a loader leaves behind must not keep the process.
    os._exit(0)


class Request(make_dataclass("Fields", ["dataset", "rank", "workdir", *REQUEST], frozen=True)):  # type: ignore[misc]
    """What load is given: plain data, which can't be changed."""

    @property
    def combined_batch(self) -> Any:
        """The samples of a full step."""
        return self.batch_size * self.gradient_accumulation * self.replication_factor * self.device_iterations


def make_request(samples: int, rank: Any, folder: str, run: dict[str, Any]) -> Request:
    """The request of a rank in a run, with a folder for the files that its loader reads."""
    workdir = f"{folder}/map-{samples}"
    # A job that is started again finds its files where they were.  # only: saved
    workdir = f"{folder.rpartition('-')[0]}-files/map-{samples}"  # only: saved
    os.makedirs(workdir, exist_ok=True)
    changes = {name: run[name] for name in run if name in REQUEST}
    changes["collate_fn"] = breaking_collate  # only: collate
    changes["worker_init_fn"] = breaking_initialiser  # only: init
    dataset = Dataset(samples)  # only: map
    dataset = elements(samples)  # only: iterable
    dataset = elements(samples, Stream)  # only: stream
    dataset = elements(samples, EpochStream)  # only: own
    changes["indices"] = list({**REQUEST, **changes}["indices"])  # only: indices
    changes["sources"] = tuple(Source(places) for places in CASE.sources)  # only: mixture
    return Request(dataset=dataset, rank=rank, workdir=workdir, **{**REQUEST, **changes})


def seed_generators(seed: int) -> None:
    """Put the global generators that a loader might draw from in a known state."""
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)


def length_of(loader: Any) -> int | str | None:
    """What len() gives: a number, the exception in words, or None where there is no len()."""
    try:
        return len(loader) if hasattr(type(loader), "__len__") else None
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def generator_states() -> dict[str, str]:
    """A digest of the state of each global generator."""
    states: dict[str, Any] = {"random": random.getstate()}
    if "numpy" in sys.modules:
        _, words, *rest = sys.modules["numpy"].random.get_state()
        states["numpy"] = (words.tolist(), rest)
    if "torch" in sys.modules:
        states["torch"] = sys.modules["torch"].get_rng_state().tolist()
    return {name: hashlib.sha256(repr(state).encode()).hexdigest()[:12] for name, state in states.items()}


def join_group(meeting: str, position: int) -> None:
    """Make this process a rank of torch.distributed."""
    distributed = importlib.import_module("torch.distributed")
    where = f"file://{os.path.abspath(meeting)}"
    distributed.init_process_group("gloo", init_method=where, rank=position, world_size=len(RANKS))


def leave_group() -> None:
    """Stop being a rank of torch.distributed."""
    importlib.import_module("torch.distributed").destroy_process_group()
