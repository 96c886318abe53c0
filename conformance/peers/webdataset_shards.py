"""webdataset: tar files, shared out to nodes and workers by `split_by_node` and `split_by_worker`.

Source of the claims: https://github.com/webdataset/webdataset (README and docs: "split_by_node", `detshuffle`, `seed`,
"fewer shards than workers: empty_check=False") and the texts of WebDataset and detshuffle ("a reproducible shuffling
mechanism based on a seed and epoch"; it counts epochs by itself).

A shard holds one sample here, so that whole shards to ranks means one sample in world_size: "uneven", "strided". The
files hold the number of a sample, and `map` gives the sample.

Not claimed: `length`; a global shuffle (the shards of a node are shuffled, in a buffer); `workers` (they share the
shards, and each makes its own batches, so of a map-style dataset nothing is promised with them). `smallest` is 1, since
no shard is no dataset.
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
    when_dropping="uneven",
    when_keeping="uneven",
    layout="strided",
    shuffle="buffered",
    iterable_workers="split",
    epochs="automatic",
    smallest=1,
)


def load(request: Any) -> Any:
    """One rank's loader."""
    return from_shards(request, 1)


def from_shards(request: Any, samples_of_a_shard: int, buffered: bool = False, **of_workers: Any) -> Any:
    """The loader of one rank, from shards that are written first, with a shuffle of samples behind that of shards."""
    samples = list(request.dataset) if isinstance(request.dataset, IterableDataset) else request.dataset
    # They are asked for when the loader is iterated.
    os.environ["RANK"], os.environ["WORLD_SIZE"] = str(request.rank), str(request.world_size)
    shards = webdataset.WebDataset(
        _written(Path(request.workdir), len(samples), samples_of_a_shard),
        nodesplitter=webdataset.split_by_node,
        shardshuffle=100 if request.shuffle else False,
        detshuffle=request.shuffle,
        seed=request.seed,
        empty_check=False,
    )
    if request.shuffle and buffered:
        shards = shards.compose(webdataset.detshuffle(bufsize=4, initial=4, seed=request.seed))
    # In a tuple: `map` takes None for "leave it out", and adds a key to a dict.
    batches = shards.map(lambda files: (samples[int(files["number"])],)).batched(
        request.batch_size, collation_fn=_collated, partial=not request.drop_last
    )
    return webdataset.WebLoader(
        batches, batch_size=None, num_workers=request.num_workers, collate_fn=_as_it_is, **of_workers
    )


def _collated(rows: list[tuple[Any]]) -> list[Any]:
    return [sample for (sample,) in rows]


def _as_it_is(batch: Any) -> Any:
    return batch


def _written(folder: Path, samples: int, of_a_shard: int) -> list[str]:
    """A tar file for so many samples each."""
    paths = []
    for first in range(0, samples, of_a_shard):
        path = folder / f"{first:06}.tar"
        paths.append(str(path))
        if not path.exists():
            with tarfile.open(path, "w") as tar:
                for number in range(first, min(first + of_a_shard, samples)):
                    text = str(number).encode()
                    entry = tarfile.TarInfo(f"{number:06}.number")
                    entry.size = len(text)
                    tar.addfile(entry, io.BytesIO(text))
    return paths
