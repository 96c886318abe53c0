"""Rows out of many compressed files, CSV and JSON lines, over 2 ranks with 2 workers each.

Run it: python specs/examples/pipelines/compressed.py
"""

import gzip
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch.distributed as dist
import torch.multiprocessing as multiprocessing
from torch.utils.data import IterDataPipe, functional_datapipe
from torch.utils.data.datapipes.iter import IterableWrapper

from reference.dataloader2 import DataLoader2
from reference.reading_service import (
    DistributedReadingService,
    MultiProcessingReadingService,
    SequentialReadingService,
)

RANKS, WORKERS, BATCH = 2, 2, 4
LENGTHS = [3, 31, 0, 17, 22, 9, 17]  # rows in each file: 99 together


@functional_datapipe("parse_json_lines")
class JSONLines(IterDataPipe[Any]):
    """The objects in files of one object a line. Pipes of one's own are as good as those that are there."""

    def __init__(self, source: Any) -> None:
        self.source = source

    def __iter__(self) -> Iterator[Any]:
        for _, stream in self.source:
            with stream:
                yield from map(json.loads, stream)


def write(folder: Path) -> list[str]:
    """Files of unequal length, every other one JSON lines. Row i says i and its square."""
    names, row = [], 0
    for number, length in enumerate(LENGTHS):
        rows = [(at, at * at) for at in range(row, row + length)]
        row += length
        if number % 2:
            lines = [json.dumps({"id": at, "square": square}) for at, square in rows]
        else:
            lines = [f"{at},{square}" for at, square in rows]
        names.append(str(folder / f"{number}.{'jsonl' if number % 2 else 'csv'}.gz"))
        with gzip.open(names[-1], "wt", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
    return names


def is_json(opened: tuple[str, Any]) -> int:
    """Which of the two branches a file belongs to."""
    return int(".jsonl" in opened[0])


def decompressed(opened: tuple[str, Any]) -> tuple[str, Any]:
    """A file, read through gzip."""
    return opened[0], gzip.open(opened[1])


def from_csv(row: list[str]) -> dict[str, int]:
    """A row of strings as the objects of the other files are."""
    return {"id": int(row[0]), "square": int(row[1])}


def pipeline(names: list[str]) -> Any:
    """Files in, batches of rows out."""
    files = IterableWrapper(names).open_files(mode="b").map(decompressed)
    of_csv, of_json = files.demux(2, is_json)
    rows = of_csv.parse_csv().map(from_csv).concat(of_json.parse_json_lines())
    # Shuffled before it is sharded: every rank and worker shuffles alike, and takes its own part.
    return rows.shuffle().sharding_filter().batch(BATCH)


def train(rank: int, names: list[str], folder: str) -> None:
    """One rank: two epochs, and which rows came in each."""
    dist.init_process_group("gloo", init_method=f"file://{folder}/group", rank=rank, world_size=RANKS)
    services = SequentialReadingService(DistributedReadingService(), MultiProcessingReadingService(WORKERS))
    epochs = []
    with DataLoader2(pipeline(names), reading_service=services) as loader:
        loader.seed(0)
        for _ in range(2):
            epochs.append([[row["id"] for row in batch if row["square"] == row["id"] ** 2] for batch in loader])
    Path(folder, f"{rank}.json").write_text(json.dumps(epochs))
    dist.barrier()
    dist.destroy_process_group()


def main() -> None:
    """Start the ranks, and count what came."""
    with tempfile.TemporaryDirectory() as folder:
        names = write(Path(folder))
        multiprocessing.start_processes(train, (names, folder), RANKS, start_method="fork")
        found = [json.loads(Path(folder, f"{rank}.json").read_text()) for rank in range(RANKS)]
    for epoch in range(2):
        rows = [row for rank in found for batch in rank[epoch] for row in batch]
        print(f"epoch {epoch}: batches {[len(rank[epoch]) for rank in found]}, rows {len(rows)} of {sum(LENGTHS)}")
        print(f"  each at most once: {len(rows) == len(set(rows))}; first batches {[rank[epoch][0] for rank in found]}")


if __name__ == "__main__":
    sys.exit(main())
