"""webdataset, several samples a shard, with workers: `detshuffle` of shards and, through a small buffer, of samples.

Source of the claims: https://webdataset.github.io/webdataset/ and https://github.com/webdataset/webdataset
("split_by_node", "split_by_worker", `detshuffle`: "a reproducible shuffling mechanism based on a seed and epoch", which
counts epochs by itself; WebLoader is torch's DataLoader).

Shards hold two samples; whole shards go to ranks, and those of a rank to its workers, so that ranks may differ by more
than a sample: "once".

Not claimed: `length`; `layout`; `workers` of map-style datasets (they share the shards, and each makes its own
batches).
"""

import io
import os
import tarfile
from pathlib import Path
from typing import Any

import webdataset
from torch.utils.data import IterableDataset

claims: dict[str, Any] = dict(
    datasets=("map", "iterable"),
    when_keeping="once",
    shuffle="buffered",
    stream_shuffle="buffered",
    iterable_workers="split",
    hooks=("persistent_workers",),
    epochs="automatic",
    smallest=1,
)
_SAMPLES_OF_A_SHARD = 2


def load(request: Any) -> Any:
    """One rank's loader."""
    samples = list(request.dataset) if isinstance(request.dataset, IterableDataset) else request.dataset
    # They are asked for when the loader is iterated.
    os.environ["RANK"], os.environ["WORLD_SIZE"] = str(request.rank), str(request.world_size)
    shards = webdataset.WebDataset(
        _written(Path(request.workdir), len(samples)),
        nodesplitter=webdataset.split_by_node,
        shardshuffle=100 if request.shuffle else False,
        detshuffle=request.shuffle,
        seed=request.seed,
        empty_check=False,
    )
    if request.shuffle:
        shards = shards.compose(webdataset.detshuffle(bufsize=4, initial=4, seed=request.seed))
    # In a tuple: `map` takes None for "leave it out", and adds a key to a dict.
    batches = shards.map(lambda files: (samples[int(files["number"])],)).batched(
        request.batch_size, collation_fn=_collated, partial=not request.drop_last
    )
    return webdataset.WebLoader(
        batches,
        batch_size=None,
        num_workers=request.num_workers,
        collate_fn=_as_it_is,
        persistent_workers=request.persistent_workers and request.num_workers > 0,
    )


def _collated(rows: list[tuple[Any]]) -> list[Any]:
    return [sample for (sample,) in rows]


def _as_it_is(batch: Any) -> Any:
    return batch


def _written(folder: Path, samples: int) -> list[str]:
    """A tar file for each few samples."""
    paths = []
    for first in range(0, samples, _SAMPLES_OF_A_SHARD):
        path = folder / f"{first:06}.tar"
        paths.append(str(path))
        if not path.exists():
            with tarfile.open(path, "w") as tar:
                for number in range(first, min(first + _SAMPLES_OF_A_SHARD, samples)):
                    text = str(number).encode()
                    entry = tarfile.TarInfo(f"{number:06}.number")
                    entry.size = len(text)
                    tar.addfile(entry, io.BytesIO(text))
    return paths
