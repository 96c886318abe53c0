"""The pipelines of the old library's recorded runs, built anew; and which of our decisions each run falls under."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import IterDataPipe, get_worker_info
from torch.utils.data.datapipes.iter import IterableWrapper

import reference.datapipes  # noqa: F401  (registers the functional forms)
from reference.dataloader2 import DataLoader2
from reference.reading_service import (
    DistributedReadingService,
    InProcessReadingService,
    MultiProcessingReadingService,
    SequentialReadingService,
)

Case = dict[str, Any]

SEEDS = "another hash makes the orders: the same elements, another order"
RANKS = "rank = i mod R, whatever the number of workers"
UNEVEN = "workers may end at different times: the same beginning, and no error"
REFUSED = "services in the wrong order are refused"
BOTH = f"{SEEDS}; {RANKS}"
TWICE = "sharding twice is refused before anything is read, and no hang"


class FailsAt(IterDataPipe[Any]):
    """Raises in the place of its element number `at`."""

    def __init__(self, source: Any, at: int) -> None:
        self.source, self.at = source, at

    def __iter__(self) -> Iterator[Any]:
        for number, element in enumerate(self.source):
            if number == self.at:
                raise ValueError("boom")
            yield element


class Counts(IterDataPipe[int]):
    """Worker w yields 100 w, 100 w + 1, ..., as many as its count says."""

    def __init__(self, counts: list[int]) -> None:
        self.counts = counts

    def __iter__(self) -> Iterator[int]:
        worker = worker_number(None)
        yield from range(100 * worker, 100 * worker + self.counts[worker])


class NotReplicable(IterDataPipe[Any]):
    """Changes nothing, and stays in the main process."""

    def __init__(self, source: Any) -> None:
        self.source = source

    def is_replicable(self) -> bool:
        return False

    def __iter__(self) -> Iterator[Any]:
        yield from self.source


def worker_number(element: Any) -> int:
    """The number of this worker, -1 in the main process."""
    info = get_worker_info()
    return -1 if info is None else info.id


def tagged(element: Any) -> list[Any]:
    """The element as it is recorded: with the worker that read it."""
    return [element.tolist() if isinstance(element, torch.Tensor) else element, worker_number(element)]


def drawn(element: int) -> list[int]:
    """With a number of each global generator."""
    return [element, random.getrandbits(32), int(torch.randint(2**32, ())), int(np.random.randint(2**32))]


def is_even(element: int) -> bool:
    """For `filter`."""
    return element % 2 == 0


def first_number(row: list[str]) -> int:
    """The value of a row."""
    return int(row[0])


def write_csv(folder: Path, rows: int) -> list[str]:
    """Two files with rows 0 to rows - 1."""
    names = [str(folder / f"train{number}.csv") for number in (1, 2)]
    for number, name in enumerate(names):
        half = range(number * rows // 2, (number + 1) * rows // 2)
        Path(name).write_text("".join(f"{row},{row * row}\n" for row in half))
    return names


def build(case: Case, folder: Path) -> Any:
    """The pipeline of a case."""
    p, steps = case["p"], case["pipeline"].split("_")
    if steps == ["csv"]:
        pipe = IterableWrapper(write_csv(folder, case["n"])).open_files(encoding="utf-8").parse_csv()
        pipe = (pipe.shuffle() if p.get("shuffle", True) else pipe).sharding_filter()
        return pipe.map(first_number).batch(p["b"]).map(tagged)
    pipe: Any = Counts(p["counts"]) if steps == ["counts"] else IterableWrapper(range(case["n"]))
    if steps == ["dispatch", "raise"]:
        steps = ["raise", "dispatch"]
    make = {
        "filter": lambda: pipe.sharding_filter(),
        "shuffle": lambda: pipe.shuffle(),
        "shuffle4": lambda: pipe.shuffle(buffer_size=4),
        "batch": lambda: pipe.batch(p["b"], drop_last=p.get("drop", False)),
        "collate": lambda: pipe.collate(),
        "dispatch": lambda: pipe.sharding_round_robin_dispatch(),
        "raise": lambda: FailsAt(pipe, p["at"]),
        "rng": lambda: pipe.map(drawn),
        "even": lambda: pipe.filter(is_even),
        "double": lambda: pipe.sharding_filter(),
        "nonrep": lambda: NotReplicable(pipe.map(tagged)),
        "plain": lambda: pipe,
        "counts": lambda: pipe,
    }
    for step in steps:
        pipe = make[step]()
    return pipe if "nonrep" in steps else pipe.map(tagged)


def service(case: Case) -> Any:
    """The reading service of a case. ValueError for the wrong order."""
    asked = [
        MultiProcessingReadingService(case["workers"]) if name == "mp" else DistributedReadingService(timeout=30)
        for name in case["rs"].split(",")
        if name != "inprocess"
    ]
    return SequentialReadingService(*asked) if len(asked) > 1 else asked[0] if asked else InProcessReadingService()


def _seed(loader: DataLoader2, seed: Any, rank: int) -> None:
    """Before an epoch: a number for `seed`, one for each rank, "torch:N" for torch's seed, None for nothing at all."""
    if isinstance(seed, str):
        torch.manual_seed(int(seed.partition(":")[2]))
    elif seed is not None:
        loader.seed(seed[rank] if isinstance(seed, list) else seed)


def run(case: Case, folder: Path, rank: int = 0) -> dict[str, Any]:
    """What the reference does: in the form of the record."""
    epochs: list[Any] = []
    loader = None
    try:
        loader = DataLoader2(build(case, folder), reading_service=service(case))
        for seed in case["seeds"]:
            epochs.append([])
            _seed(loader, seed, rank)
            for element in loader:
                epochs[-1].append(element)
                if len(epochs[-1]) == case.get("stop_after"):
                    break
    except Exception as error:
        return {"epochs": epochs, "error": type(error).__name__}
    finally:
        if loader is not None:
            loader.shutdown()
    return {"epochs": epochs, "error": None}


def decision(case: Case) -> str | None:
    """The decision under which our run must differ from the record, or None where it must be the same."""
    errors = [rank["error"] or "" for rank in case["ranks"]]
    if case["rs"] == "mp,dist":
        return REFUSED
    if case["pipeline"] == "double_filter":
        return TWICE
    if any("Can not" in error for error in errors):
        return UNEVEN
    is_random = "shuffle" in case["pipeline"] or "rng" in case["pipeline"]
    is_random = is_random or (case["pipeline"] == "csv" and case["p"].get("shuffle", True))
    is_sharded = any(step in case["pipeline"] for step in ("filter", "csv")) and "dispatch" not in case["pipeline"]
    is_shared = is_sharded and case["world"] > 1 and (case["workers"] or 0) > 1
    return {(1, 0): SEEDS, (0, 1): RANKS, (1, 1): BOTH}.get((is_random, is_shared))
