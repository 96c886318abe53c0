"""HuggingFace datasets, streaming: several shards, shuffled with a small buffer, with workers and `set_epoch`.

Source of the claims: https://huggingface.co/docs/datasets/stream ("Shuffle": "a buffer", "also shuffles the order of
the shards"; "Reshuffle": `set_epoch`, "the seed becomes: initial seed + current epoch") and
https://huggingface.co/docs/datasets/use_with_pytorch ("each worker is assigned a subset of the list of shards",
"split_dataset_by_node", with persistent workers `set_epoch` reaches them).

There are two shards for each worker of each rank, if there are rows enough. Rows hold the number of a sample; a mapping
gives the sample. Batches are plain lists, so that no collating of torch's is judged a second time. Map-style datasets
are judged as `datasets-streaming`.

Not claimed: `length` (a stream has none); `resume` ("examples from shuffle buffers are lost"). `smallest` is 1: an
empty Dataset can't be cut into shards, and it says so.
"""

from typing import Any

from datasets import Dataset
from datasets.distributed import split_dataset_by_node
from torch.utils.data import DataLoader

from conformance.peers import torch_map

claims: dict[str, Any] = dict(
    datasets=("iterable",),
    stream_shuffle="buffered",
    iterable_workers="split",
    hooks=("persistent_workers",),
    workers=True,
    epochs="set_epoch",
    smallest=1,
)
# The loader below is torch's, with what that does otherwise than the specs say.
known_failures = {
    "WORK-13": {**torch_map.known_failures["WORK-13"], "case": "WORK-13-n2,w1,b1,keep,k1,iterable,persistent,two@1"},
    "LEAK-6": {**torch_map.known_failures["LEAK-6"], "case": "LEAK-6-n3,w1,b1,keep,k1,iterable,killed@1,kind=long"},
}


class BufferedLoader:
    """A stream and its loader."""

    def __init__(self, stream: Any, request: Any) -> None:
        self.stream = stream
        self.loader: DataLoader[Any] = DataLoader(
            stream,
            batch_size=request.batch_size,
            drop_last=request.drop_last,
            num_workers=request.num_workers,
            collate_fn=lambda rows: [row["sample"] for row in rows],
            persistent_workers=request.persistent_workers and request.num_workers > 0,
        )

    def __iter__(self) -> Any:
        return iter(self.loader)

    def set_epoch(self, epoch: int) -> None:
        """Tell the stream."""
        self.stream.set_epoch(epoch)


def load(request: Any) -> BufferedLoader:
    """One rank's stream."""
    samples = list(request.dataset)
    shards = 2 * request.world_size * max(1, request.num_workers)
    rows = Dataset.from_dict({"number": list(range(len(samples)))})
    stream = rows.to_iterable_dataset(num_shards=max(1, min(shards, len(samples))))
    if request.shuffle:
        stream = stream.shuffle(seed=request.seed, buffer_size=4)
    stream = split_dataset_by_node(stream, request.rank, request.world_size)
    stream = stream.map(lambda row: {"sample": samples[row["number"]]}, remove_columns=["number"])
    return BufferedLoader(stream, request)
