"""Bucketing: a batch sampler for torch's DataLoader whose batches hold samples of one length each."""

import random

from torch.utils.data import DataLoader

from conformance.peers import torch_map

claims = dict(
    batches=("grouped",),
    when_dropping="drop",
    when_keeping="pad",
    shuffle="global",
    length=True,
)
# What torch itself does otherwise than the chapters say.
known_failures = {clause: torch_map.known_failures[clause] for clause in ("WORK-17", "ERROR-3")}


class LengthGroupedBatches:
    """All ranks make the same rounds, each of one length, and a rank takes its batch of each round."""

    def __init__(self, lengths, request):
        if request.batch_size < 1 or not 0 <= request.rank < request.world_size:
            raise ValueError(f"no batch of {request.batch_size} on rank {request.rank} of {request.world_size}")
        self.lengths, self.request, self.epoch = lengths, request, 0

    def rounds(self):
        generator, order = random.Random(f"{self.request.seed} {self.epoch}"), list(range(len(self.lengths)))
        if self.request.shuffle:
            generator.shuffle(order)
        buckets = {}
        for index in order:
            buckets.setdefault(self.lengths[index], []).append(index)
        size, rounds = self.request.batch_size * self.request.world_size, []
        for bucket in buckets.values():
            full = len(bucket) // size if self.request.drop_last else -(-len(bucket) // size)
            padded = [bucket[at % len(bucket)] for at in range(full * size)]
            rounds += [padded[at : at + size] for at in range(0, full * size, size)]
        if self.request.shuffle:
            generator.shuffle(rounds)
        return rounds

    def __iter__(self):
        return (each[self.request.rank :: self.request.world_size] for each in self.rounds())

    def __len__(self):
        return len(self.rounds())


class Loader(DataLoader):
    def set_epoch(self, epoch):
        self.batch_sampler.epoch = epoch


def load(request):
    lengths = request.groups or [0] * len(request.dataset)  # not asked for groups: all samples are of one length
    return Loader(request.dataset, batch_sampler=LengthGroupedBatches(lengths, request))
