"""What a record costs, and how fast it is judged.

    python -m tests.benchmarks.record

takes some minutes, and prints four tables: the processor time that recording adds to a batch beside what the loader
itself takes for it; what a megabyte of content costs to hash; how many deliveries a second are judged, beside a plain
numpy pass over the same bytes; and what partial results of the ranks take, and their merging. Nothing is downloaded.

No two runs of a job are compared: on a machine that others use, that resolves no percent. What recording adds is
taken on a loader of bare integers, where it shows, with and without the taps of `loaderspec watch` in turn; and divided
by the time that a real load takes for a batch of as many samples. All times are processor time, of the process and its
workers.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader

from conformance.audit.gather import gather
from conformance.audit.partial import merged, read_partial, write_partial
from conformance.audit.verdict import judged
from conformance.records.content import HASH, digest
from conformance.records.writer import Recorder
from conformance.watch.options import Options, environment
from tests.benchmarks.images import Encoded, in_memory
from tests.benchmarks.table import aligned, machine

ROOT = Path(__file__).resolve().parents[2]
# Samples in a batch: the tutorial's step, and that of the images that are decoded.
LOADS = {"tutorial": 800, "PNG": 80, "bare integers": 800, "bare integers, small": 32}
WORKERS = (0, 2)
INTEGERS = 800_000


def dataset(load: str, quick: bool) -> Any:
    """What a load reads."""
    if load == "tutorial":
        return in_memory(80 if quick else 4_000)
    if load == "PNG":
        return Encoded(24 if quick else 1_600)
    return range(1_000 if quick else INTEGERS)


def run(load: str, batch: int, workers: int, quick: bool) -> float:
    """Seconds of processor time that a batch takes, of the process and its workers, in the second epoch."""
    torch.set_num_threads(1)
    read: Any = dataset(load, quick)
    loader = DataLoader(read, min(batch, len(read)), shuffle=True, num_workers=workers, persistent_workers=workers > 0)
    for _ in loader:
        pass
    before = _used(loader)
    batches = sum(1 for _ in loader)
    return (_used(loader) - before) / batches


def _used(loader: Any) -> float:
    workers = getattr(getattr(loader, "_iterator", None), "_workers", ())
    # Nanoseconds on a processor; what getrusage says of children comes when they have ended.
    each = (Path(f"/proc/{worker.pid}/schedstat").read_text().split()[0] for worker in workers)
    return time.process_time() + sum(int(used) for used in each) / 1e9


def taken(load: str, batch: int, workers: int, quick: bool, watched: bool) -> float:
    """The same in a process of its own, with the taps of `watch` or without."""
    words = [sys.executable, "-m", "tests.benchmarks.record", "--one", load, str(batch), str(workers)]
    with tempfile.TemporaryDirectory() as folder:
        plain = {**os.environ, "PYTHONPATH": str(ROOT)}
        used = environment(Path(folder), Options(), plain) if watched else plain
        done = subprocess.run(
            words + ["--quick"] * quick, env=used, cwd=ROOT, capture_output=True, text=True, check=True
        )
    return float(json.loads(done.stdout))


def overhead(quick: bool, rounds: int) -> Iterator[list[str]]:
    """A row for each load: what it takes, what recording adds, and their ratio."""
    yield ["load", "batch", "workers", "loader, ms", "record, us", "percent"]
    added = {}
    for batch in sorted(set(LOADS.values())):
        for workers in WORKERS:
            pairs = [[taken("", batch, workers, quick, watched) for watched in (False, True)] for _ in range(rounds)]
            # The least of several: what others do on the machine only adds.
            plain, watched = (min(pair[at] for pair in pairs) for at in (0, 1))
            added[batch, workers] = watched - plain, plain
    for load, batch in LOADS.items():
        for workers in WORKERS:
            more, integers = added[batch, workers]
            own = (
                integers
                if load.startswith("bare")
                else min(taken(load, batch, workers, quick, False) for _ in range(min(rounds, 2)))
            )
            yield [load, str(batch), str(workers), f"{own * 1e3:.2f}", f"{more * 1e6:.1f}", f"{more / own:.2%}"]


def hashing() -> Iterator[list[str]]:
    """What a megabyte of content takes."""
    yield ["content of a sample", "hash", "ms a megabyte"]
    for name, shape in (("one tensor of 1 MiB", (1, 512, 512)), ("16 tensors of 64 KiB", (16, 128, 128))):
        tensors = list(torch.rand(*shape))
        times = []
        for _ in range(20):
            begin = time.process_time()
            for tensor in tensors:
                digest(tensor)
            times.append(time.process_time() - begin)
        megabytes = shape[0] * shape[1] * shape[2] * 4 / 1e6
        yield [name, HASH, f"{statistics.median(times) / megabytes * 1e3:.3f}"]


def auditing(sizes: list[int], digests: int) -> Iterator[list[str]]:
    """How fast records are judged: four ranks, two epochs, each sample once."""
    yield ["record", "deliveries", "M/s", "plain pass, M/s", "ratio", "peak, GB"]
    for size in sizes:
        yield _audited("indices", size // 2, False)
    yield _audited("digests", digests // 2, True)


def _audited(name: str, samples: int, content: bool) -> list[str]:
    words = [sys.executable, "-m", "tests.benchmarks.record", "--audit", str(samples)] + ["--content"] * content
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    used, plain, peak = json.loads(done.stdout)
    many = 2 * samples
    rates = [f"{many / used / 1e6:.1f}", f"{many / plain / 1e6:.0f}", f"1 : {used / plain:.0f}"]
    return [name, f"{many:.0e}".replace("e+0", "e"), *rates, f"{peak:.2f}"]


def audit(samples: int, content: bool) -> tuple[float, float, float]:
    """Seconds that judging a record takes, seconds of a pass over its bytes, and the most memory in gigabytes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        child = os.fork()  # what writing needs is no part of the peak
        if not child:
            write(folder, samples, content)
            os._exit(0)
        os.waitpid(child, 0)
        begin = time.process_time()
        verdict = judged(gather(folder))
        used = time.process_time() - begin
        assert not verdict.findings, verdict.findings
        begin = time.process_time()
        for path in folder.iterdir():
            with path.open("rb") as file:
                while piece := file.read(1 << 22):
                    np.frombuffer(piece[: len(piece) // 8 * 8], np.uint64).sum()
        plain = time.process_time() - begin
    return used, plain, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def merging(sizes: list[int]) -> Iterator[list[str]]:
    """What partial results of each rank take, and what it takes to join and judge them."""
    yield ["record", "deliveries", "partials, M/s", "MB each", "merge and verdict, s"]
    for size in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name, "record")
            folder.mkdir()
            write(folder, size // 2, False)
            begin = time.process_time()
            for at, path in enumerate(sorted(folder.iterdir())):
                alone = Path(name, f"rank-{at}")
                alone.mkdir()
                path.rename(alone / path.name)
                write_partial(gather(alone), Path(name, f"{at}.partial"))
            partials, stored = time.process_time() - begin, sorted(Path(name).glob("*.partial"))
            begin = time.process_time()
            verdict = judged(merged(map(read_partial, stored)))
            used = time.process_time() - begin
            assert not verdict.findings, verdict.findings
            megabytes = sum(path.stat().st_size for path in stored) / len(stored) / 1e6
            rates = [f"{size / partials / 1e6:.1f}", f"{megabytes:.2f}", f"{used:.2f}"]
            yield ["indices, 4 ranks", f"{size:.0e}".replace("e+0", "e"), *rates]


def write(folder: Path, samples: int, content: bool, ranks: int = 4, epochs: int = 2, batch: int = 256) -> None:
    """A record: each epoch visits all samples in another order, a multiple of a number that has no factor in common."""
    for rank in range(ranks):
        recorder = Recorder(folder)
        recorder.hello({"rank": rank, "world_size": ranks})
        kind = {"ids": "content"} if content else {"ids": "index", "length": samples}
        loader = recorder.loader({"file": "train.py", "line": 9, "class": "DataLoader", **kind})
        for number in range(epochs):
            epoch = recorder.epoch(loader, {"set_epoch": number})
            block = batch * 256
            for at in range(0, samples // ranks, block):
                places = np.arange(at, min(at + block, samples // ranks), dtype=np.int64) * ranks + rank
                ids = (places * 636_413_623 + number) % samples
                for begin in range(0, len(ids), batch):
                    some = ids[begin : begin + batch]
                    recorder.batch(loader, epoch, _digests(some) if content else some)
            recorder.end_of_epoch(loader, epoch, "whole")
        recorder.close()


def _digests(ids: Any) -> list[bytes]:
    mixed = ids.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(32)
    mixed *= np.uint64(0xD6E8FEB86659FD93)
    both = np.stack([mixed ^ (mixed >> np.uint64(29)), mixed], axis=1).tobytes()
    return [both[at : at + 16] for at in range(0, len(both), 16)]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few samples: to see that it runs")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=["overhead", "hashing", "auditing", "merging"])
    parser.add_argument("--largest", type=int, default=100_000_000, help="deliveries of the largest record")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--audit", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--content", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(run(given.one[0], int(given.one[1]), int(given.one[2]), given.quick)))
        return
    if given.audit:
        print(json.dumps(audit(given.audit, given.content)))
        return
    print(machine("torch", "numpy"))
    sizes = [2_000] if given.quick else [10_000_000, given.largest]
    tables = {
        "overhead": lambda: overhead(given.quick, given.rounds),
        "hashing": hashing,
        "auditing": lambda: auditing(sizes, 2_000 if given.quick else 10_000_000),
        "merging": lambda: merging(sizes),
    }
    for name, rows in tables.items():
        if given.only in (None, name):
            print("", *aligned(list(rows())), sep="\n", flush=True)


if __name__ == "__main__":
    main()
