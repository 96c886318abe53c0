"""torchdata.nodes: a sampler, a mapper with threads, a batcher and a loader, chained.

Source of the claims: https://docs.pytorch.org/data/0.11/torchdata.nodes.html and "Getting Started With torchdata.nodes"
(SamplerWrapper calls set_epoch with the next number in each epoch; Batcher drops the last batch or keeps it; Loader
gives a new epoch for each iterator); the remainder over ranks is torch's DistributedSampler's.

Not claimed: `length` (a Loader has none); `iterable_workers` (a source is read by one thread, and knows no ranks).
Threads are its default; worker processes are not tried here.
"""

from typing import Any

from torch.utils.data import IterableDataset
from torch.utils.data.distributed import DistributedSampler
from torchdata.nodes import Batcher, IterableWrapper, Loader, ParallelMapper, SamplerWrapper

from conformance.peers import torch_map

claims: dict[str, Any] = dict(
    datasets=("map", "iterable"),
    when_dropping="drop",
    when_keeping="pad",
    layout="strided",
    shuffle="global",
    workers=True,
    epochs="automatic",
    resume=True,
    end_of_epoch="next",
)
# The sampler below is torch's, whose generator takes 32 bits of its seed.
known_failures = {"ORDER-7": torch_map.known_failures["ORDER-7"]}


def load(request: Any) -> Any:
    """One rank's chain of nodes."""
    if isinstance(request.dataset, IterableDataset):
        samples: Any = IterableWrapper(request.dataset)
    else:
        indices = SamplerWrapper(_sampler(request))
        # With 0 workers it maps in the caller's own thread.
        samples = ParallelMapper(indices, request.dataset.__getitem__, num_workers=request.num_workers)
    return Loader(Batcher(samples, batch_size=request.batch_size, drop_last=request.drop_last))


def _sampler(request: Any) -> DistributedSampler[Any]:
    ranks = dict(num_replicas=request.world_size, rank=request.rank)
    how = dict(shuffle=request.shuffle, seed=request.seed, drop_last=request.drop_last)
    return DistributedSampler(request.dataset, **ranks, **how)
