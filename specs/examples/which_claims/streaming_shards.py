"""Streaming shards: an iterable dataset whose shards are split over ranks and workers, in another order each epoch."""

import random
from itertools import chain, islice

from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from conformance.peers import torch_map

claims = dict(
    datasets=("iterable",),
    workers=True,
    iterable_workers="split",
    stream_shuffle="shards",
    hooks=("set_epoch",),
)
# What torch itself does otherwise than the chapters say.
known_failures = {"WORK-17": torch_map.known_failures["WORK-17"]}


class Split(IterableDataset):
    """What one worker of one rank reads of a stream."""

    def __init__(self, request):
        if not 0 <= request.rank < request.world_size:
            raise ValueError(f"there is no rank {request.rank} of {request.world_size}")
        self.request, self.epoch = request, 0

    def __iter__(self):
        request, worker = self.request, get_worker_info()
        workers, number = (worker.num_workers, worker.id) if worker else (1, 0)
        first, readers = request.rank * workers + number, request.world_size * workers
        if hasattr(request.dataset, "set_epoch"):  # it shuffles itself
            request.dataset.set_epoch(self.epoch)
        if not request.shuffle:
            return islice(request.dataset, first, None, readers)
        shards = list(request.dataset.shards)
        random.Random(f"{request.seed} {self.epoch}").shuffle(shards)  # the same order for all readers
        return chain.from_iterable(shards[first::readers])


class Loader(DataLoader):
    def set_epoch(self, epoch):
        self.dataset.epoch = epoch  # workers are started with the epoch, each with a copy of this


def load(request):
    return Loader(Split(request), request.batch_size, drop_last=request.drop_last, num_workers=request.num_workers)
