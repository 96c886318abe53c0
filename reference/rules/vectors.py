"""Decides which cases the golden vectors in `specs/vectors/` hold; this package computes their answers.

    python -m reference.rules.vectors            writes the files
    python -m reference.rules.vectors --check    exits with 1, and says why, if a file differs

The format is told in `specs/vectors/README.md`. All numbers are below 2**53, so that JSON readers that hold
numbers as doubles read them exactly.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from itertools import product
from pathlib import Path

import numpy as np

from ..ahead.ring_vectors import bound_vectors, ring_vectors
from .arithmetic import make_plan
from .delivery_vectors import (
    bound_of_seed_vectors,
    epoch_vectors,
    policy_vectors,
    refusal_vectors,
    restart_vectors,
    stream_vectors,
)
from .feistel import key_word, network, position_of, round_count, sample_at
from .partition import cut, locate, shard
from .shuffle import permutation
from .splitting import LAYOUTS, share

FOLDER = Path(__file__).resolve().parents[2] / "specs" / "vectors"

# (samples, micro-batch, gradient accumulation, replicas of a rank, device iterations, ranks)
PLANS = (
    (50_000, 32, 1, 1, 1, 1),
    (50_000, 32, 1, 1, 1, 4),
    (50_000, 32, 1, 2, 1, 4),
    (10_000, 16, 1, 1, 50, 1),
    (10_000, 16, 1, 4, 50, 1),
    (1_281_167, 8, 16, 4, 2, 16),
    (100, 4, 3, 2, 2, 2),
    (0, 1, 1, 1, 1, 1),
    (0, 4, 2, 2, 2, 3),
    (1, 1, 1, 1, 1, 2),
    (3, 2, 1, 1, 1, 2),
    (7, 8, 1, 1, 1, 1),
    (8, 8, 1, 1, 1, 1),
    (9, 8, 1, 1, 1, 1),
    (10**15, 32, 4, 2, 8, 10**6),
    (10**15 - 1, 1, 1, 1, 1, 10**6),
)
SHARDS = tuple(product((0, 1, 2, 7, 8, 9, 25), (1, 2, 3), (1, 2, 3, 4)))
STEPS = ((2, 1, 1, 1), (2, 3, 1, 1), (2, 1, 3, 1), (2, 1, 1, 3), (2, 3, 2, 2), (1, 2, 3, 4))
STREAMS = ((0, 2, 2), (1, 1, 2), (1, 2, 2), (5, 2, 3), (10, 2, 2), (12, 2, 3), (13, 3, 2), (97, 1, 3), (97, 1, 10))
# (samples, seed, epoch): whole orders, and orders of which some positions are told.
WHOLE = tuple(product((0, 1, 2, 3, 4, 5, 8, 9, 16, 17, 100), ((0, 0), (-1, 1))))
LARGE = (
    (10**9, 0, 0),
    (2**32 - 1, 42, 1),
    (2**32, 42, 1),
    (2**32 + 1, 42, 1),
    (2**53 - 1, 2**64 - 1, 2**32 - 1),
    (2**53 + 1, 2**64 - 1, 2**32 - 1),
    (2**54, 1, 0),
    (2**54 + 1, 1, 0),
    (2**62 + 1, 2**63, 3),
    (2**63 - 1, -(2**63), 7),
    (2**63 - 1, 0, 0),
)
# Positions that are led through cells from 2**63 on, where a comparison of signed numbers goes wrong.
FAR = {
    (2**63 - 1, -(2**63), 7): (846218165609526623, 8970930596557493055, 2001501370679724081),
    (2**63 - 1, 0, 0): (764735889911794848, 6819831223551762469, 2110842076318691636),
}
ORDERS = tuple(product((0, 1, 2, 5, 16), (0, 1, 42, -1, 2**63 - 1), (0, 1, 2)))
# A word of an epoch or of a seed that is cut off, or a key of 32 bits, shows in these.
LONG_ORDERS = (
    (16, 7, 3),
    (16, 7, 2**16 + 1),
    (16, 7, 2**32 - 1),
    (16, 2**64 - 1, 0),
    (16, -(2**63), 5),
    (16, 2**32, 0),
    (1_000, 2**40 + 1, 4),
    (300_000, 11, 1),
)
MOST_LISTED = 16


def arithmetic_vectors() -> Iterator[dict[str, object]]:
    """Yield each plan, both ways of treating the rest."""
    for numbers, drop_last in product(PLANS, (True, False)):
        yield asdict(make_plan(*numbers, drop_last=drop_last))


def partition_vectors() -> Iterator[dict[str, object]]:
    """Yield every rank's steps over an unshuffled dataset, for small cases."""
    for (samples, combined_batch, ranks), drop_last in product(SHARDS, (True, False)):
        shards = [shard(samples, combined_batch, ranks, rank, drop_last) for rank in range(ranks)]
        yield {
            "samples": samples,
            "combined_batch": combined_batch,
            "ranks": ranks,
            "drop_last": drop_last,
            "steps_of_rank": [[list(step) for step in cut(part, combined_batch)] for part in shards],
        }


def layout_vectors() -> Iterator[dict[str, object]]:
    """Yield where each sample of one step goes."""
    for micro_batch, accumulation, replicas, device_iterations in STEPS:
        size = micro_batch * accumulation * replicas * device_iterations
        yield {
            "micro_batch": micro_batch,
            "gradient_accumulation": accumulation,
            "replicas": replicas,
            "device_iterations": device_iterations,
            "places": [locate(offset, accumulation, replicas, micro_batch) for offset in range(size)],
        }


def splitting_vectors() -> Iterator[dict[str, object]]:
    """Yield which elements of a stream each worker of each rank reads."""
    for (elements, ranks, workers), layout in product(STREAMS, LAYOUTS):
        shares = [
            [list(range(elements)[share(elements, rank, ranks, worker, workers, layout)]) for worker in range(workers)]
            for rank in range(ranks)
        ]
        yield {"elements": elements, "ranks": ranks, "workers": workers, "layout": layout, "of_rank_and_worker": shares}


def shuffle_vectors() -> Iterator[dict[str, object]]:
    """Yield orders of this reference, which others need not have. Seeds and keys are text: some pass 2**53."""
    for samples, seed, epoch in (*ORDERS, *LONG_ORDERS):
        order = permutation(samples, seed, epoch).tolist()
        hashed = np.random.SeedSequence(seed % 2**64, spawn_key=(epoch,))
        keys = [f"{key:016x}" for key in np.random.PCG64(hashed).random_raw(3).tolist()]
        case = {"samples": samples, "seed": str(seed), "epoch": epoch}
        case |= {"seed_words": hashed.generate_state(8).tolist(), "first_keys": keys}
        if samples <= MOST_LISTED:
            yield {**case, "order": order}
        else:
            text = " ".join(map(str, order))
            yield {**case, "first": order[:8], "sha256": hashlib.sha256(text.encode()).hexdigest()}


def feistel_vectors() -> Iterator[dict[str, object]]:
    """Yield orders without a list. Whatever may pass 2**53 is text; so is all that stands beside it."""
    small = [(samples, seed, epoch, range(samples)) for samples, (seed, epoch) in WHOLE]
    large = [(*case, (*_some(case[0]), *FAR.get(case, ()))) for case in LARGE]
    for samples, seed, epoch, asked in (*small, *large):
        order = network(samples, seed, epoch)
        found = [sample_at(order, position) for position in asked]
        # The two directions are computed by different lines.
        assert list(asked) == [position_of(order, sample) for sample in found]
        words = [f"{key_word(index, seed, epoch, samples):016x}" for index in (1, 2, 3)]
        yield {
            "samples": str(samples),
            "seed": str(seed),
            "epoch": epoch,
            "columns": order.columns,
            "rows": order.rows,
            "rounds": round_count(samples),
            "hash_bits": order.hash_bits,
            "first_words": words,
            "positions": list(map(str, asked)),
            "samples_at": list(map(str, found)),
        }


def _some(samples: int) -> tuple[int, ...]:
    """Positions at the beginning, in the middle and at the end."""
    return (0, 1, 2, samples // 3, samples // 2, samples - 2, samples - 1)


def files() -> dict[str, str]:
    """Return the text of each file by its name."""
    made: dict[str, tuple[str, Iterator[dict[str, object]]]] = {
        "arithmetic.json": (
            'for loaders that claim "drop" under drop_last, and "uneven" without',
            arithmetic_vectors(),
        ),
        "partition.json": ("for loaders with contiguous shards; a gap between ranks is right too", partition_vectors()),
        "layout.json": ("for loaders with device options", layout_vectors()),
        "splitting.json": (
            "for loaders that split streams; others may deal elements out otherwise",
            splitting_vectors(),
        ),
        "shuffle.json": (
            "for this reference only; others have the properties, not the orders",
            shuffle_vectors(),
        ),
        "shards.json": ("for every loader, by the policy and the layout that it claims", policy_vectors()),
        "epochs.json": ("for this reference only, and for those that shuffle as it does", epoch_vectors()),
        "streams.json": ("for loaders of iterable-style datasets", stream_vectors()),
        "restarts.json": ("for loaders that resume", restart_vectors()),
        "refusals.json": ("for every loader", refusal_vectors()),
        "seeds.json": ("for this reference only, and for those that shuffle as it does", bound_of_seed_vectors()),
        "ring.json": ("for loaders that read ahead into a ring of slots", ring_vectors()),
        "ahead.json": ("for loaders that claim buffer_size", bound_vectors()),
        "feistel.json": ("for loaders that shuffle without a list, as chapter 3 tells it", feistel_vectors()),
    }
    return {name: _text(scope, list(cases)) for name, (scope, cases) in made.items()}


def _text(scope: str, cases: list[dict[str, object]]) -> str:
    """Return a JSON object with one case a line, so that a change shows as changed lines."""
    lines = ",\n".join(f"    {json.dumps(case)}" for case in cases)
    return f'{{\n  "format": 1,\n  "scope": {json.dumps(scope)},\n  "cases": [\n{lines}\n  ]\n}}\n'


def write(folder: Path) -> None:
    """Write all files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files().items():
        (folder / name).write_text(text, encoding="utf-8")


def differences(folder: Path) -> list[str]:
    """Return a sentence for each file that is missing or differs from what this code says."""
    found = []
    for name, text in files().items():
        path = folder / name
        if not path.is_file():
            found.append(f"{path} is missing: write it with python -m reference.rules.vectors.")
        elif path.read_text(encoding="utf-8") != text:
            found.append(f"{path} differs from the reference: find out which is right before you rewrite it.")
    return found


def main(arguments: list[str] | None = None) -> int:
    """Write or check the files; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m reference.rules.vectors", description="Golden vectors.")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="default: specs/vectors")
    asked = parser.parse_args(arguments)
    if not asked.check:
        write(asked.folder)
        return 0
    found = differences(asked.folder)
    for sentence in found:
        print(sentence, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
