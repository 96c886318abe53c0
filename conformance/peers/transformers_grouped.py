"""transformers: DistributedLengthGroupedSampler, which puts samples of roughly one length together, below a DataLoader.

Source of the claims: https://github.com/huggingface/transformers/blob/main/src/transformers/trainer_pt_utils.py
("groups together features of the dataset of roughly the same length while keeping a bit of randomness";
get_length_grouped_indices: "randomly permuted", "grouped in mega-batches", "sorted by length in each mega-batch"; "add
extra samples to make it evenly divisible" or "remove tail of data", as in the torch sampler that it is adapted from).

The lengths are made up from the numbers of the samples. Not claimed: `batches` (lengths of a step are alike, and not
the same); a global shuffle (what has one length in a mega-batch stays together). It always shuffles, so that an
unshuffled request gets the torch sampler, which the Trainer takes for evaluation.
"""

from typing import Any

from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler
from transformers.trainer_pt_utils import DistributedLengthGroupedSampler

from conformance.peers import torch_map
from conformance.peers.torch_map import TorchLoader

claims: dict[str, Any] = dict(
    when_dropping="drop",
    when_keeping="pad",
    layout="strided",
    shuffle="buffered",
    workers=True,
    epochs="set_epoch",
    length=True,
)
# The loader below is torch's, with what that does otherwise than the specs say.
known_failures = {name: torch_map.known_failures[name] for name in ("WORK-9", "WORK-17", "ERROR-3", "LEAK-6")}


def load(request: Any) -> TorchLoader:
    """One rank's loader."""
    ranks = dict(num_replicas=request.world_size, rank=request.rank, drop_last=request.drop_last, seed=request.seed)
    # RandomSampler takes no empty dataset, and says so; nor does this one.
    if request.shuffle and len(request.dataset):
        lengths = [1 + number % 7 for number in range(len(request.dataset))]
        sampler = DistributedLengthGroupedSampler(request.batch_size, lengths=lengths, **ranks)
    else:
        sampler = DistributedSampler(request.dataset, shuffle=False, **ranks)
    loader: DataLoader[Any] = DataLoader(
        request.dataset,
        batch_size=request.batch_size,
        sampler=sampler,
        drop_last=request.drop_last,
        num_workers=request.num_workers,
    )
    return TorchLoader(loader, sampler)
