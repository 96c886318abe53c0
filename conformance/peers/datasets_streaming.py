"""HuggingFace datasets, streaming: `to_iterable_dataset`, `shuffle`, `split_dataset_by_node`, torch's DataLoader.

Source of the claims: https://huggingface.co/docs/datasets/stream ("Shuffle": a buffer; "set_epoch": the seed becomes
seed + epoch; "split_dataset_by_node": whole shards to nodes if their number divides evenly, else "each node keeps 1
example out of world_size"; workers share the shards; "Save a dataset checkpoint and resume iteration": torchdata's
StatefulDataLoader is used for that, and "examples from shuffle buffers are lost").

As map-style there is one shard, of which each rank keeps one example in world_size: "uneven", "strided". As
iterable-style there is one shard for each worker of each rank. Rows hold the number of a sample; a mapping gives the
sample. Batches are plain lists, so that no collating of torch's is judged a second time.

Not claimed: `length` (a stream has none); `workers` (they share the shards, so that their number is part of the order);
`resume` of a shuffled epoch (the buffer is not part of the state, and it warns of that). `smallest` is 1: an empty
Dataset can't be cut into shards, and it says so.
"""

from typing import Any

from datasets import Dataset
from datasets.distributed import split_dataset_by_node
from torch.utils.data import IterableDataset
from torchdata.stateful_dataloader import StatefulDataLoader

claims: dict[str, Any] = dict(
    datasets=("map", "iterable"),
    when_dropping="uneven",
    when_keeping="uneven",
    layout="strided",
    shuffle="buffered",
    iterable_workers="split",
    epochs="set_epoch",
    resume="unshuffled",
    smallest=1,
)


class StreamLoader:
    """A stream and its loader."""

    def __init__(self, stream: Any, request: Any) -> None:
        self.stream = stream
        self.loader: Any = StatefulDataLoader(
            stream,
            batch_size=request.batch_size,
            drop_last=request.drop_last,
            num_workers=request.num_workers,
            collate_fn=lambda rows: [row["sample"] for row in rows],
        )

    def __iter__(self) -> Any:
        return iter(self.loader)

    def set_epoch(self, epoch: int) -> None:
        """Tell the stream."""
        self.stream.set_epoch(epoch)

    def state_dict(self) -> Any:
        """Where stream and workers are."""
        return self.loader.state_dict()

    def load_state_dict(self, state: Any) -> None:
        """Go on from there."""
        self.loader.load_state_dict(state)


def load(request: Any) -> StreamLoader:
    """One rank's stream."""
    iterable = isinstance(request.dataset, IterableDataset)
    samples = list(request.dataset) if iterable else request.dataset
    shards = request.world_size * max(1, request.num_workers) if iterable else 1
    rows = Dataset.from_dict({"number": list(range(len(samples)))})
    stream = rows.to_iterable_dataset(num_shards=max(1, min(shards, len(samples))))
    if request.shuffle:
        stream = stream.shuffle(seed=request.seed, buffer_size=100)
    stream = split_dataset_by_node(stream, request.rank, request.world_size)
    return StreamLoader(stream.map(lambda row: {"sample": samples[row["number"]]}, remove_columns=["number"]), request)
