"""Weighted sampler: torch's WeightedRandomSampler, for ranks: all draw the same list, and each takes its part."""

import random

from torch.utils.data import DataLoader

from conformance.peers import torch_map

claims = dict(
    sampling="replacement",
    hooks=("weights",),
    when_dropping="drop",
    when_keeping="uneven",
    length=True,
)
# What torch itself does otherwise than the chapters say.
known_failures = {clause: torch_map.known_failures[clause] for clause in ("WORK-17", "ERROR-3")}


class WeightedShard:
    """As many samples as the dataset has, drawn by their weights; or all in order where no shuffle is asked for."""

    def __init__(self, request):
        if not 0 <= request.rank < request.world_size:
            raise ValueError(f"there is no rank {request.rank} of {request.world_size}")
        self.request, self.epoch = request, 0

    def __iter__(self):
        request, samples = self.request, range(len(self.request.dataset))
        if request.shuffle and samples:
            generator = random.Random(f"{request.seed} {self.epoch}")  # the same on every rank
            samples = generator.choices(samples, request.weights, k=len(samples))
        end = len(samples) - len(samples) % request.world_size if request.drop_last else len(samples)
        return iter(samples[request.rank : end : request.world_size])

    def __len__(self):
        samples, ranks = len(self.request.dataset), self.request.world_size
        return samples // ranks if self.request.drop_last else len(range(self.request.rank, samples, ranks))


class Loader(DataLoader):
    def set_epoch(self, epoch):
        self.sampler.epoch = epoch


def load(request):
    sampler = WeightedShard(request)
    return Loader(request.dataset, request.batch_size, sampler=sampler, drop_last=request.drop_last)
