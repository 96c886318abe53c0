"""DDP sampler: torch's DataLoader with DistributedSampler, over a dataset or one part of a split."""

from torch.utils.data import DataLoader, Subset
from torch.utils.data.distributed import DistributedSampler

from conformance.peers import torch_map

claims = dict(
    when_dropping="drop",
    when_keeping="pad",
    layout="strided",
    shuffle="global",
    workers=True,
    length=True,
    subsets=True,
)
# What torch itself does otherwise than the chapters say.
known_failures = {clause: torch_map.known_failures[clause] for clause in ("ORDER-7", "WORK-9", "WORK-17", "ERROR-3")}


class Loader(DataLoader):
    def set_epoch(self, epoch):
        self.sampler.set_epoch(epoch)


def load(request):
    dataset = request.dataset if request.indices is None else Subset(request.dataset, request.indices)
    sampler = DistributedSampler(
        dataset,
        num_replicas=request.world_size,
        rank=request.rank,
        shuffle=request.shuffle,
        seed=request.seed,
        drop_last=request.drop_last,
    )
    return Loader(
        dataset,
        batch_size=request.batch_size,
        sampler=sampler,
        drop_last=request.drop_last,
        num_workers=request.num_workers,
    )
