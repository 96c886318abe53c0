"""HuggingFace datasets: several of them interleaved with probabilities, then shuffled, and shared out by torch.

Source of the claims: https://huggingface.co/docs/datasets/process#interleave and
https://huggingface.co/docs/datasets/package_reference/main_classes (interleave_datasets, `probabilities`: "examples
from a random source at a time according to the provided probabilities"; "first_exhausted": "stopped as soon as one
dataset has ran out of samples"; "all_exhausted": "as soon as every samples of every dataset has been added at least
once"). The ranks' shares are DistributedSampler's, as https://docs.pytorch.org/docs/stable/data.html says.

The mixture is map-style, and is drawn once, from the seed; an epoch is another order of it. What is dropped of an
epoch may be the only copy of a sample, so that no policy is claimed under drop_last. Rows hold the number of a sample
among all sources; a transform gives the sample. Other requests are for one source.
"""

from typing import Any

from datasets import Dataset, interleave_datasets
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from conformance.peers import torch_map
from conformance.peers.torch_map import TorchLoader

claims: dict[str, Any] = dict(
    mixtures=("first_exhausted", "all_exhausted"),
    when_keeping="pad",
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
    "ORDER-7": torch_map.known_failures["ORDER-7"],
}


def load(request: Any) -> TorchLoader:
    """One rank's loader."""
    sources = request.sources or (request.dataset,)
    firsts = [sum(len(source) for source in sources[:at]) for at in range(len(sources))]
    rows = [
        Dataset.from_dict({"number": list(range(first, first + len(source)))})
        for first, source in zip(firsts, sources, strict=True)
    ]
    mixed = rows[0]
    if request.sources:
        mixed = interleave_datasets(
            rows, probabilities=list(request.weights), seed=request.seed, stopping_strategy=request.stop
        )
    places = [(source, at) for source in sources for at in range(len(source))]
    sampler: DistributedSampler[Any] = DistributedSampler(
        mixed,
        num_replicas=request.world_size,
        rank=request.rank,
        shuffle=request.shuffle,
        seed=request.seed,
        drop_last=request.drop_last,
    )

    def read(rows: dict[str, list[int]]) -> dict[str, list[Any]]:
        return {"sample": [source[at] for source, at in map(places.__getitem__, rows["number"])]}

    loader: DataLoader[Any] = DataLoader(
        mixed.with_transform(read),
        batch_size=request.batch_size,
        sampler=sampler,
        drop_last=request.drop_last,
        num_workers=request.num_workers,
        collate_fn=lambda rows: [row["sample"] for row in rows],
    )
    return TorchLoader(loader, sampler)
