"""PyTorch Geometric's DynamicBatchSampler: samples are added to a step up to a number of nodes.

Source of the claims: https://pytorch-geometric.readthedocs.io/en/latest/modules/loader.html
(DynamicBatchSampler: "dynamically adds samples to a mini-batch up to a maximum size", `max_num`; `skip_too_big`: "skip
samples which cannot fit in a batch by itself"; without `num_steps` it "will iterate through all the underlying
examples", and its length is undefined).

It knows nothing of ranks. The sampler is given the sizes alone, so that it reads no sample to learn its size. A request
without a budget gets torch's own steps. Not claimed: `length`; `shuffle` (it takes no seed).
"""

from dataclasses import dataclass
from typing import Any

from torch.utils.data import DataLoader
from torch_geometric.loader import DynamicBatchSampler

from conformance.peers import torch_map

claims: dict[str, Any] = dict(
    ranks=None,
    batches=("budget",),
    oversized="skip",
    when_dropping="drop",
    when_keeping="uneven",
    workers=True,
)
# The loader below is torch's, with what that does otherwise than the specs say.
known_failures = {name: torch_map.known_failures[name] for name in ("WORK-17", "ERROR-3", "LEAK-6")}


@dataclass(frozen=True)
class Graph:
    """What the sampler asks of a sample."""

    num_nodes: int


def load(request: Any) -> DataLoader[Any]:
    """The loader of the one process."""
    if request.batches:
        sampler: Any = DynamicBatchSampler([Graph(size) for size in request.sizes], request.budget, skip_too_big=True)
        return DataLoader(request.dataset, batch_sampler=sampler, num_workers=request.num_workers)
    return DataLoader(
        request.dataset,
        batch_size=request.batch_size,
        drop_last=request.drop_last,
        num_workers=request.num_workers,
    )
