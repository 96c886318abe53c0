"""HuggingFace datasets, map-style: `shuffle`, `split_dataset_by_node`, and torch's DataLoader.

Source of the claims: https://huggingface.co/docs/datasets/package_reference/main_classes (split_dataset_by_node: "each
node is assigned a chunk of data, e.g. rank 0 is given the first chunk"; Dataset.shuffle with a generator) and
https://huggingface.co/docs/datasets/use_with_pytorch.

A Dataset knows no epochs: a training loop shuffles again. `set_epoch` of this adapter does that, with a generator of
(seed, epoch), so ORDER-6, ORDER-7 and ORDER-14 speak of the adapter. Rows hold the number of a sample, and a
transformation gives the sample. Batches are plain lists, so that no collating of torch's is judged a second time.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from datasets import Dataset
from datasets.distributed import split_dataset_by_node
from torch.utils.data import DataLoader

from conformance.peers import torch_map

claims: dict[str, Any] = dict(
    when_dropping="uneven",
    when_keeping="uneven",
    layout="contiguous",
    shuffle="global",
    workers=True,
    epochs="set_epoch",
    length=True,
)
# The loader below is torch's, with what that does otherwise than the specs say.
known_failures = {
    "WORK-9": {**torch_map.known_failures["WORK-9"], "case": "WORK-9-n2,w2,b1,keep,k1,workers"},
    "ERROR-3": torch_map.known_failures["ERROR-3"],
    "LEAK-6": torch_map.known_failures["LEAK-6"],
}


class NodeLoader:
    """The loader of a node, whose dataset is shuffled again for each epoch."""

    def __init__(self, request: Any) -> None:
        self.asked = request
        self.rows = Dataset.from_dict({"number": list(range(len(request.dataset)))})
        self.set_epoch(0)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.loader)

    def __len__(self) -> int:
        return len(self.loader)

    def set_epoch(self, epoch: int) -> None:
        """Shuffle all rows, take this node's, and give each its sample."""
        asked, rows = self.asked, self.rows
        if asked.shuffle:
            rows = rows.shuffle(generator=np.random.default_rng((asked.seed, epoch)))
        mine = split_dataset_by_node(rows, asked.rank, asked.world_size).with_transform(self._samples)
        self.loader: DataLoader[Any] = DataLoader(
            mine,
            batch_size=asked.batch_size,
            drop_last=asked.drop_last,
            num_workers=asked.num_workers,
            collate_fn=lambda rows: [row["sample"] for row in rows],
        )

    def _samples(self, rows: dict[str, list[int]]) -> dict[str, list[Any]]:
        return {"sample": [self.asked.dataset[number] for number in rows["number"]]}


def load(request: Any) -> NodeLoader:
    """One rank's loader."""
    return NodeLoader(request)
