"""Loaders that are right in one process and wrong in several, or on iterable datasets (chapter 4, first part)."""

import math
import os
import random
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from tests.known_bad.correct import KnownBad, claim, mix
from tests.known_bad.pool import BadPool, Pool, Replicating, Worker

SEVERAL = dict(workers=True)
SPLIT = dict(datasets=("iterable",), workers=True, iterable_workers="split")
COPIES = dict(datasets=("iterable",), workers=True, iterable_workers="replicated")
# One family each, but for the faults that show in two.
WORKERS, ITERABLE = ("workers",), ("iterable",)

# --- samples --------------------------------------------------------------------------------------------------------


class FailsWithWorkers(BadPool):
    """With two workers or more there is not enough shared memory."""

    claims, families = SEVERAL, WORKERS
    clause, smallest = "WORK-1", "n0,w1,b1,keep,k2,workers"
    report = "pytorch/pytorch#5040"

    def plan(self) -> list[list[int]]:
        if self.request.num_workers > 1:
            raise OSError("No space left on device: /dev/shm")
        return super().plan()


class DealsOutSamplesNotSteps(BadPool):
    """Samples and not steps are dealt out to workers, and each worker drops a rest of its own."""

    claims, families = SEVERAL, WORKERS
    clause, smallest, related = "WORK-1", "n2,w1,b2,drop,k2,workers", ("ORDER-8",)
    report = "facebookresearch/detectron2#5035"

    def read_ahead(self, plan: list[list[int]], worker: int) -> Iterator[list[Any]]:
        shard = self.shard(self.order())
        return (self.fetch(step) for step in self.cut(shard[worker :: self.workers]))


class CountsItsWorkers(BadPool):
    """len() is too large by the number of workers."""

    claims, families = dict(workers=True, length=True), ("map", "workers")
    clause, smallest = "COUNT-4", "n0,w1,b1,keep,k1,workers"
    report = "facebookresearch/detectron2#5035"

    def __len__(self) -> int:
        return super().__len__() + int(self.request.num_workers)


class SeedsTheCallerForItsWorkers(BadPool):
    """The caller's generator is seeded before workers are started. (No public report.)"""

    claims, families = SEVERAL, ("map", "workers")
    clause, smallest = "ORDER-10", "n0,w1,b1,keep,k1,random-state"

    def __iter__(self) -> Iterator[Any]:
        if self.request.num_workers:
            torch.manual_seed(7)
        return super().__iter__()


class ShufflesByTheSeedOfItsWorkers(BadPool):
    """With workers, the caller's generator seeds them, and the shuffle too."""

    claims, families, related = claim(SEVERAL, shuffle="global"), ("map", "workers"), ("ORDER-8", "WORK-1")
    clause, smallest = "ORDER-9", "n5,w1,b1,keep,shuffle,k1,random-state"
    report = "Lightning-AI/pytorch-lightning#17713"

    def mixed_seed(self) -> int:
        drawn = random.getstate() if self.request.num_workers else ()
        return mix(self.request.seed, self.epoch, drawn)  # type: ignore[arg-type]


class ReadsEachSampleTwice(BadPool):
    """A step is read once to learn its shape, and once to deliver it."""

    claims, families = SEVERAL, WORKERS
    clause, smallest = "WORK-2", "n1,w1,b1,keep,k1,e2,workers"
    report = "pytorch/pytorch#59312"

    def fetch(self, step: list[int]) -> list[Any]:
        super().fetch(step)
        return super().fetch(step)


class ReadsTheFirstSampleForItsShape(BadPool):
    """Before each epoch sample 0 is read to learn its shape. (No public report.)"""

    claims, families = SEVERAL, WORKERS
    clause, smallest = "WORK-2", "n1,w1,b1,keep,k1,e2,workers"

    def plan(self) -> list[list[int]]:
        plan = super().plan()
        self.fetch(plan[0] if plan else [])
        return plan


# --- iterable datasets ----------------------------------------------------------------------------------------------


class Block(IterableDataset[Any]):
    """The elements of one rank, from `start` to before `end`."""

    def __init__(self, request: Any) -> None:
        self.elements, self.rank, self.ranks = request.dataset, request.rank, request.world_size
        self.start, self.end = 0, len(range(request.rank, request.dataset.length, request.world_size))

    def __iter__(self) -> Iterator[Any]:
        return islice(islice(self.elements, self.rank, None, self.ranks), self.start, self.end)

    def narrow(self) -> None:
        """Leave this worker's block, as many tutorials do it."""
        info = get_worker_info()
        if info is not None:
            # The fault: the brackets are closed too early, so that this rounds up, divides, and rounds down.
            per_worker = int(math.ceil(self.end - self.start) / float(info.num_workers))
            self.start += info.id * per_worker
            self.end = min(self.start + per_worker, self.end)


class NarrowingBlock(Block):
    """The recipe inside __iter__."""

    def __iter__(self) -> Iterator[Any]:
        self.narrow()
        return super().__iter__()


def narrow_the_copy(worker: int) -> None:
    """The recipe as a worker_init_fn."""
    info = get_worker_info()
    assert info is not None
    assert isinstance(info.dataset, Block)
    info.dataset.narrow()


class FloorsBlocksInIter(KnownBad):
    """In __iter__ each worker takes a block of int(ceil(elements) / workers), so that the tail is lost."""

    claims, families = SPLIT, ITERABLE
    clause, smallest, related = "WORK-3", "n1,w1,b1,keep,k2,iterable", ("WORK-5",)
    report = "pytorch/pytorch#30599"

    def __iter__(self) -> Iterator[Any]:
        request = self.request
        dataset = NarrowingBlock(request)
        return iter(DataLoader(dataset, request.batch_size, num_workers=request.num_workers))


class FloorsBlocksInWorkerInit(KnownBad):
    """A worker_init_fn narrows each worker's dataset to int(ceil(elements) / workers), so that the tail is lost."""

    claims, families = SPLIT, ITERABLE
    clause, smallest, related = "WORK-3", "n1,w1,b1,keep,k2,iterable", ("WORK-5",)
    report = "pytorch/pytorch#30599"

    def __iter__(self) -> Iterator[Any]:
        request, workers = self.request, self.request.num_workers
        return iter(DataLoader(Block(request), request.batch_size, num_workers=workers, worker_init_fn=narrow_the_copy))


class EachWorkerYieldsEverything(BadPool):
    """Each worker of a rank yields all of the rank's elements."""

    claims, families = SPLIT, ITERABLE
    clause, smallest = "WORK-3", "n1,w1,b1,keep,k2,iterable"
    report = "huggingface/datasets#3423"

    def share(self, worker: int) -> Iterable[Any]:
        return islice(self.request.dataset, self.request.rank, None, self.request.world_size)


class SplitsOverWorkersOnly(BadPool):
    """Elements are split over the workers of a rank, and not over ranks."""

    claims, families = SPLIT, ITERABLE
    clause, smallest = "WORK-3", "n1,w2,b1,keep,iterable"
    report = "huggingface/datasets#5360"

    def share(self, worker: int) -> Iterable[Any]:
        return islice(self.request.dataset, worker, None, self.workers)


class SplitsThoughItSaysCopies(BadPool):
    """Each worker yields a copy, it says, and yet the loader splits the elements over them."""

    claims, families = COPIES, ITERABLE
    clause, smallest, related = "WORK-4", "n1,w1,b1,keep,k2,iterable", ("WORK-5",)
    report = "pytorch/data#1082"


class OneCopyInTheMainProcess(BadPool):
    """Beside the workers the rank itself yields a copy. (No public report.)"""

    claims, families = COPIES, ITERABLE
    clause, smallest, related = "WORK-4", "n1,w1,b1,keep,k1,iterable", ("WORK-6",)

    def share(self, worker: int) -> Iterable[Any]:
        return self.request.dataset  # type: ignore[no-any-return]

    def in_turn(self, crew: list[Worker]) -> Iterator[Any]:
        yield from super().in_turn(crew)
        yield from self.batches([], 0)


class GivesEverythingTwiceWhenDropping(BadPool):
    """Under drop_last each worker gives its copy twice. (No public report.)"""

    claims, families = COPIES, ITERABLE
    clause, smallest, related = "WORK-4", "n1,w1,b1,drop,iterable", ("WORK-6",)

    def share(self, worker: int) -> Iterable[Any]:
        again = 2 if self.request.drop_last else 1
        return (sample for _ in range(again) for sample in self.request.dataset)


class FailsWhenDroppingWithWorkers(Replicating, BadPool):
    """Under drop_last more than one worker is too many for it. (No public report.)"""

    claims, families = COPIES, ITERABLE
    clause, smallest = "WORK-4", "n1,w1,b1,drop,k2,iterable"

    def __iter__(self) -> Iterator[Any]:
        if self.request.drop_last and self.request.num_workers > 1:
            raise RuntimeError("too many workers")
        return super().__iter__()


class DropsThoughItKeeps(BadPool):
    """Each worker drops what fills no step, though the rest is to be kept."""

    claims, families = COPIES, ITERABLE
    clause, smallest = "WORK-4", "n1,w1,b2,keep,iterable"
    report = "graphcore/poptorch#21"

    def share(self, worker: int) -> Iterable[Any]:
        return self.request.dataset  # type: ignore[no-any-return]

    def grouped(self, elements: Iterable[Any]) -> Iterator[list[Any]]:
        return (step for step in Pool.grouped(self, elements) if len(step) == self.request.combined_batch)


class DropsWholeRounds(BadPool):
    """The steps of the last round are dropped, unless every worker has one."""

    claims, families = SPLIT, ITERABLE
    clause, smallest = "WORK-5", "n1,w1,b1,drop,k2,iterable"
    report = "google/grain#1129"

    def in_turn(self, crew: list[Worker]) -> Iterator[Any]:
        if not self.request.drop_last:
            yield from super().in_turn(crew)
            return
        heard = [self.receive(worker) for worker in crew]
        while all(kind == "batch" for kind, _ in heard):
            yield from [value for _, value in heard]
            heard = [self.receive(worker) for worker in crew]


class DropsTheLastStepAlways(BadPool):
    """The last step is dropped, whether it is full or not."""

    claims, families = dict(datasets=("iterable",)), ITERABLE
    clause, smallest = "WORK-5", "n1,w1,b1,drop,iterable"
    report = "libffcv/ffcv#287"

    def grouped(self, elements: Iterable[Any]) -> Iterator[list[Any]]:
        steps = list(super().grouped(elements))
        return iter(steps[:-1] if self.request.drop_last else steps)


class OvertakesInAPair(BadPool):
    """Of each two steps that a worker has ready, the later one comes first."""

    claims, families = dict(datasets=("iterable",)), ITERABLE
    clause, smallest = "WORK-6", "n2,w1,b1,keep,iterable"
    report = "ray-project/ray#58658"

    def grouped(self, elements: Iterable[Any]) -> Iterator[list[Any]]:
        steps = super().grouped(elements)
        while pair := list(islice(steps, 2)):
            yield from reversed(pair)


class OvertakesWithTwoWorkers(BadPool):
    """With two workers and more, each hands on its steps from the last to the first."""

    claims, families = SPLIT, ITERABLE
    clause, smallest = "WORK-6", "n3,w1,b1,keep,k2,iterable"
    report = "webdataset/webdataset#447"

    def grouped(self, elements: Iterable[Any]) -> Iterator[list[Any]]:
        steps = list(super().grouped(elements))
        return reversed(steps) if self.workers > 1 else iter(steps)


# --- worker information ---------------------------------------------------------------------------------------------


class NamesOneWorkerTooMany(BadPool):
    """get_worker_info() counts the main process as a worker."""

    claims, families = SEVERAL, WORKERS
    clause, smallest = "WORK-7", "n1,w1,b1,keep,k1,workers"
    report = "NVIDIA/Megatron-Energon#68"

    def inform(self, number: int) -> None:
        self.present(number, self.workers + 1, self.worker_seed(number), self.request.dataset)


class NumbersWorkersFromOne(BadPool):
    """get_worker_info() numbers the workers from 1. (No public report.)"""

    claims, families = SEVERAL, WORKERS
    clause, smallest = "WORK-7", "n1,w1,b1,keep,k1,workers"

    def inform(self, number: int) -> None:
        self.present(number + 1, self.workers, self.worker_seed(number), self.request.dataset)


class GivesAllWorkersOneSeed(BadPool):
    """get_worker_info() has the same seed in all workers."""

    claims, families = SEVERAL, WORKERS
    clause, smallest = "WORK-7", "n2,w1,b1,keep,k2,workers"
    report = "mlfoundations/open_clip#743"

    def inform(self, number: int) -> None:
        self.present(number, self.workers, self.request.seed, self.request.dataset)


class NamesAnotherDataset(BadPool):
    """get_worker_info() names the list of steps and not the dataset."""

    claims, families = SEVERAL, WORKERS
    clause, smallest = "WORK-7", "n1,w1,b1,keep,k1,workers"
    report = "kitzeslab/opensoundscape#1180"

    def inform(self, number: int) -> None:
        self.present(number, self.workers, self.worker_seed(number), self.steps())


class SaysNothingToTheSecondWorker(BadPool):
    """get_worker_info() is None in the second worker."""

    claims, families = SEVERAL, WORKERS
    clause, smallest = "WORK-7", "n2,w1,b1,keep,k2,workers"
    report = "pytorch/pytorch#30599"

    def inform(self, number: int) -> None:
        if number != 1:
            super().inform(number)


class PlaysTheWorkerItself(BadPool):
    """One worker alone is not started: the rank reads in its place, and get_worker_info() says that it is worker 0."""

    claims, families = SEVERAL, WORKERS
    clause, smallest = "WORK-7", "n1,w1,b1,keep,k1,workers"
    report = "meta-pytorch/torchtune#168"

    def work(self, plan: list[list[int]], number: int, line: Any) -> None:
        if self.workers > 1:
            super().work(plan, number, line)

    def in_turn(self, crew: list[Worker]) -> Iterator[Any]:
        if self.workers > 1:
            return super().in_turn(crew)
        self.inform(0)
        return self.batches(self.plan(), 0)


# --- random draws ---------------------------------------------------------------------------------------------------


class ForgetsToSeedNumpy(BadPool):
    """Forked workers inherit NumPy's global generator: alike in all workers, on all ranks, in each epoch."""

    claims, families = SEVERAL, WORKERS
    clause, smallest = "WORK-8", "n2,w1,b1,keep,k2,workers"
    related = ("WORK-9", "WORK-10")
    report = "pytorch/pytorch#5059"

    def seed(self, seed: int) -> None:
        random.seed(seed)
        torch.default_generator.manual_seed(seed)


class SeedsAllWorkersAlike(BadPool):
    """The worker's number does not go into its seed. (No public report of just this.)"""

    claims, families = SEVERAL, WORKERS
    clause, smallest = "WORK-8", "n2,w1,b1,keep,k2,workers"

    def seed(self, seed: int) -> None:
        super().seed(mix(self.epoch, self.request.rank))


class SeedsAllRanksAlike(BadPool):
    """The rank does not go into a worker's seed."""

    claims, families = SEVERAL, WORKERS
    clause, smallest = "WORK-9", "n2,w2,b1,keep,k1,workers"
    report = "meta-pytorch/torchtune#177"

    def worker_seed(self, number: int) -> int:
        return mix(self.request.seed, self.epoch, number)


class SeedsAllEpochsAlike(BadPool):
    """The epoch does not go into a worker's seed."""

    claims, families = SEVERAL, WORKERS
    clause, smallest = "WORK-10", "n1,w1,b1,keep,k1,e2,workers"
    report = "Lightning-AI/pytorch-lightning#20412"

    def worker_seed(self, number: int) -> int:
        return mix(self.request.seed, self.request.rank, number)


class SeedsPythonByTheClock(BadPool):
    """Python's own generator is seeded by the time in each worker."""

    claims, families = SEVERAL, WORKERS
    clause, smallest = "WORK-11", "n1,w1,b1,keep,k1,again"
    report = "pytorch/pytorch#7882"

    def seed(self, seed: int) -> None:
        super().seed(seed)
        random.seed(time.time_ns())


class SeedsByProcessId(BadPool):
    """The process id goes into a worker's seed."""

    claims, families = SEVERAL, WORKERS
    clause, smallest = "WORK-11", "n1,w1,b1,keep,k1,again"
    report = "meta-pytorch/torchtune#131"

    def seed(self, seed: int) -> None:
        super().seed(mix(seed, os.getpid()))


class NeverTellsItsWorkers(BadPool):
    """Workers that persist go on shuffling with the epoch in which they were started."""

    claims, families = dict(SEVERAL, shuffle="global", epochs="set_epoch", hooks=("persistent_workers",)), WORKERS
    clause, smallest, related = "ORDER-8", "n4,w1,b1,keep,shuffle,k1,e2,persistent,workers", ("WORK-1",)
    report = "huggingface/datasets#6673"
    started: int | None = None

    def mixed_seed(self) -> int:
        if not (self.request.persistent_workers and self.request.num_workers):
            return super().mixed_seed()
        self.started = self.epoch if self.started is None else self.started
        return mix(self.request.seed, self.started)


class LeavesRoomForTenWorkers(BadPool):
    """Seeds are counted on by ten for each rank, and by one for each worker. (No public report.)"""

    claims, families = SEVERAL, WORKERS
    clause, smallest = "WORK-9", "n21,w2,b1,keep,k11,again"

    def worker_seed(self, number: int) -> int:
        return mix(self.request.seed, self.epoch, 10 * self.request.rank + number)
