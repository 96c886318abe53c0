"""Tar shards, as webdataset has them: whole files are dealt out to ranks, and all ranks end with the first."""

import io
import random
import tarfile
from itertools import islice
from pathlib import Path

claims = dict(drops="per-shard", equal_steps=True, shuffle="buffered")


class TarLoader:
    """One rank's files; `sizes` has the samples of every file, as an index beside the files would say."""

    def __init__(self, paths, sizes, request):
        if request.batch_size < 1 or not 0 <= request.rank < request.world_size:
            raise ValueError(f"no step of {request.batch_size} on rank {request.rank} of {request.world_size}")
        self.paths, self.sizes, self.request, self.epoch = paths, sizes, request, 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __iter__(self):
        request, generator = self.request, random.Random(f"{self.request.seed} {self.epoch}")
        files = list(range(len(self.paths)))
        if request.shuffle:
            generator.shuffle(files)  # the same order on every rank
        dealt = [files[rank :: request.world_size] for rank in range(request.world_size)]
        fewest = min(self.steps_of(mine) for mine in dealt)
        return islice(self.steps(dealt[request.rank], generator), fewest)

    def steps_of(self, files):
        size, samples = self.request.batch_size, [self.sizes[file] for file in files]
        return sum(each // size for each in samples) if self.request.drop_last else -(-sum(samples) // size)

    def steps(self, files, generator):
        step = []
        for file in files:
            with tarfile.open(self.paths[file]) as tar:
                numbers = [int(tar.extractfile(member).read()) for member in tar]
            if self.request.shuffle:
                generator.shuffle(numbers)
            for number in numbers:
                step.append(self.request.dataset[number])  # what decoding a member would give
                if len(step) == self.request.batch_size:
                    yield step
                    step = []
            step = [] if self.request.drop_last else step
        if step:
            yield step


def load(request):
    samples = len(request.dataset)
    each = max(4, samples // 64)  # not asked for files: 64 of them at most
    sizes = request.shards or [min(each, samples - start) for start in range(0, samples, each)]
    return TarLoader(written(Path(request.workdir), sizes), sizes, request)


def written(folder, sizes):
    """A tar file for each shard; a member holds the number of its sample."""
    paths, start = [], 0
    for size in sizes:
        paths.append(folder / f"{start:06}-{size}.tar")
        if not paths[-1].exists():
            with tarfile.open(paths[-1], "w") as tar:
                for number in map(str, range(start, start + size)):
                    entry = tarfile.TarInfo(f"{number}.txt")
                    entry.size = len(number)
                    tar.addfile(entry, io.BytesIO(number.encode()))
        start += size
    return paths
