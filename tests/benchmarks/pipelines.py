"""Decides how fast a pipeline is: rows per second of the tutorial's, ours beside torchdata 0.9.0 and a plain generator.

    python -m tests.benchmarks.pipelines                    ours and the limit
    python -m tests.benchmarks.pipelines --torchdata        and torchdata, in an environment made for it
    python -m tests.benchmarks.pipelines --torchdata=DIR    likewise; the environment is kept there

The pipeline: two CSV files, opened, parsed, shuffled, sharded, mapped, and put into batches of 8, or not. Each way runs
in a process of its own, in turns; an epoch that is not counted comes first. The environment has torchdata 0.9.0 and
what it needs, and the same torch as this one. Nothing is asserted here.
"""

import argparse
import csv
import json
import os
import random
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from tests.benchmarks.table import aligned, machine

ROOT = Path(__file__).resolve().parents[2]
BATCH = 8
PATIENCE = 300  # seconds; the old library may hang
WAYS = [("generator", 0), ("ours", 0), ("torchdata", 0), ("ours", 2), ("torchdata", 2)]


def number_of(row: list[str]) -> int:
    """What the pipeline maps."""
    return int(row[0])


def pipeline(names: list[str], batch: int) -> Any:
    """The tutorial's, of whichever library is loaded."""
    from torch.utils.data.datapipes.iter import IterableWrapper

    pipe = IterableWrapper(names).open_files(encoding="utf-8").parse_csv().shuffle().sharding_filter().map(number_of)
    return pipe.batch(batch) if batch else pipe


def loader(kind: str, workers: int, names: list[str], batch: int) -> Any:
    """A loader of one library."""
    if kind == "ours":
        from reference.dataloader2 import DataLoader2
        from reference.reading_service import MultiProcessingReadingService
    else:
        import torchdata.datapipes.iter  # noqa: F401  (registers the functional forms)
        from torchdata.dataloader2 import DataLoader2, MultiProcessingReadingService
    return DataLoader2(pipeline(names, batch), reading_service=MultiProcessingReadingService(workers))


class Generator:
    """The limit: one process, no pipes, the same shuffle of everything at once."""

    def __init__(self, names: list[str], batch: int) -> None:
        self.names, self.batch = names, batch

    def seed(self, seed: int) -> None:
        """As a loader has it."""
        self.random = random.Random(seed)

    def __iter__(self) -> Iterator[Any]:
        rows = []
        for name in self.names:
            with Path(name).open(encoding="utf-8") as file:
                rows.extend(csv.reader(file))
        self.random.shuffle(rows)
        numbers = map(number_of, rows)
        if not self.batch:
            yield from numbers
            return
        batch = []
        for number in numbers:
            batch.append(number)
            if len(batch) == self.batch:
                yield batch
                batch = []
        if batch:
            yield batch


def measure(kind: str, workers: int, names: list[str], batch: int, epochs: int) -> list[float]:
    """Rows per second in each epoch but the first."""
    source = Generator(names, batch) if kind == "generator" else loader(kind, workers, names, batch)
    rates = []
    for epoch in range(epochs + 1):
        source.seed(epoch)
        begin = perf_counter()
        rows = sum(len(each) for each in source) if batch else sum(1 for _ in source)
        rates.append(rows / (perf_counter() - begin))
    return rates[1:]


def run(python: str, way: tuple[str, int], names: list[str], batch: int, epochs: int) -> list[float] | str:
    """One way in a process of its own: its rates, or why there are none."""
    asked = json.dumps([*way, names, batch, epochs])
    # The old library must not find ours, nor ours the old one.
    environment = {**os.environ, "PYTHONPATH": str(ROOT) if way[0] == "ours" else "", "PYTHONWARNINGS": "ignore"}
    command = [python, "-m", "tests.benchmarks.pipelines", f"--measure={asked}"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE, env=environment, check=False, cwd=ROOT
        )
    except subprocess.TimeoutExpired:
        return f"hung for {PATIENCE} s"
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["failed without a word"])[-1]
    rates: list[float] = json.loads(done.stdout)
    return rates


def environment_for_torchdata(folder: Path) -> str:
    """Make an environment with torchdata 0.9.0, unless it is there; return its Python."""
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--no-deps"]
        subprocess.run([*install, "torchdata==0.9.0", "requests", "urllib3"], check=True)
        (packages,) = folder.glob("lib/python*/site-packages")
        # torch is large, and must be the same for both: it is found here, behind what was installed there.
        (packages / "torch_of_the_other.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return str(python)


def write(folder: str, rows: int) -> list[str]:
    """Two files of so many rows together."""
    names = [str(Path(folder, f"train{number}.csv")) for number in (1, 2)]
    for name, begin in zip(names, (0, rows // 2), strict=True):
        Path(name).write_text("".join(f"{row},{row % 10},text\n" for row in range(begin, begin + rows // 2)))
    return names


def results(pythons: dict[str, str], rows: int, epochs: int, rounds: int) -> Iterator[tuple[str, ...]]:
    """The table: median, lowest and highest rate of each way."""
    yield "pipeline", "workers", "rows/s", "lowest", "highest"
    with tempfile.TemporaryDirectory() as folder:
        names = write(folder, rows)
        for batch in (BATCH, 0):
            found: dict[tuple[str, int], list[float] | str] = {way: [] for way in WAYS if way[0] in pythons}
            for _ in range(rounds):
                for way, so_far in found.items():
                    more = run(pythons[way[0]], way, names, batch, epochs)
                    found[way] = so_far + more if isinstance(so_far, list) and isinstance(more, list) else str(more)
            for (kind, workers), rates in found.items():
                name = f"{kind}, {f'batches of {batch}' if batch else 'single rows'}"
                if isinstance(rates, str):
                    yield name, str(workers), rates, "", ""
                else:
                    yield name, str(workers), *(f"{rate:,.0f}" for rate in (median(rates), min(rates), max(rates)))


def main() -> None:
    """Measure, or do one measurement for the process that asked for it."""
    parser = argparse.ArgumentParser(description="Rows per second of the tutorial's pipeline.")
    parser.add_argument("--torchdata", nargs="?", const="", help="measure torchdata 0.9.0 too, in this environment")
    parser.add_argument("--rows", type=int, default=40_000)
    parser.add_argument("--epochs", type=int, default=3, help="epochs that are counted, in each round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(*json.loads(options.measure))), flush=True)
        # The old library may hang when it ends.
        os._exit(0)
    pythons = {"generator": sys.executable, "ours": sys.executable}
    with tempfile.TemporaryDirectory() as temporary:
        if options.torchdata is not None:
            folder = Path(options.torchdata or temporary)
            try:
                pythons["torchdata"] = environment_for_torchdata(folder)
            except subprocess.CalledProcessError as error:
                print(f"torchdata 0.9.0 can't be installed here, so it is not measured: {error}")
        print(machine("torch"))
        for line in aligned(list(results(pythons, options.rows, options.epochs, options.rounds))):
            print(line)


if __name__ == "__main__":
    main()
