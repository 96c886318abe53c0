"""What the record says came is what came: in every way in which torch's loader reads."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from conformance.audit.files import Made, skim
from conformance.records.content import digest
from conformance.records.reader import Deliveries, files, read_file
from tests.harness.watch.jobs import Jobs
from tests.harness.watch.reads_itself import MANNERS, STARTED

READS_ITSELF = Path(__file__).parent / "reads_itself.py"


def recorded(folder: Path) -> list[list[list[Any]]]:
    """For each loader and each of its epochs, the ids of its batches: numbers, or digests in hexadecimal."""
    paths = files(folder)
    made = Made([skim(path) for path in paths])
    epochs: dict[tuple[int, int], list[Any]] = defaultdict(list)
    for path in paths:
        token = path.stem
        for block in read_file(path):
            if not isinstance(block, Deliveries) or block.iterator:
                continue
            batches = epochs[block.loader, block.epoch]
            if block.ids is None:
                for worker in block.workers.tolist():
                    ids, _ = made.take(f"{token}/{block.loader}/{block.epoch}", worker, 1)
                    batches.append([each.tobytes().hex() for each in ids])
            else:
                at = 0
                for size in block.sizes.tolist():
                    ids = block.ids[at : at + size]
                    batches.append(ids.tolist() if ids.ndim == 1 else [each.tobytes().hex() for each in ids])
                    at += size
    return [[epochs[loader, epoch] for epoch in range(3)] for loader in range(len({loader for loader, _ in epochs}))]


def given(path: Path, manners: list[dict[str, Any]]) -> list[list[list[Any]]]:
    """What the job's loops were given, as the record should have it."""
    came = json.loads(path.read_text())
    return [
        [
            [
                [digest(each).hex() for each in batch] if type(manner["dataset"]).__name__ == "Stream" else batch
                for batch in epoch
            ]
            for epoch in epochs
        ]
        for manner, epochs in zip(manners, came, strict=True)
    ]


@pytest.mark.parametrize(("manners", "words"), [(MANNERS, []), (STARTED, ["started"])], ids=["forked", "started"])
def test_what_came_is_what_is_recorded(
    manners: list[dict[str, Any]], words: list[str], started: Jobs, tmp_path: Path
) -> None:
    """Each batch, in its order, of epochs that were read whole and left early; nothing that was only drawn ahead."""
    path = tmp_path / "came.json"
    assert [0] == started.run(READS_ITSELF, tmp_path / "record", words=[str(path), *words])
    assert given(path, manners) == recorded(tmp_path / "record")
