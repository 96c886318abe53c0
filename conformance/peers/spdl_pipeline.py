"""spdl: a distributed sampler, and a pipeline of threads that reads, in order, and aggregates.

Source of the claims: https://facebookresearch.github.io/spdl/main (DistributedDeterministicSampler and
DistributedRandomSampler: "each rank in a distributed training setup gets a disjoint subset", in turn;
`ddp_drop_last_distributed_round` drops the incomplete round, else "rank lengths may differ by at most one"; `shuffle`
takes a seed for each epoch; PipelineBuilder: `output_order="input"`, `aggregate` with `drop_last`).

`smallest` is 1: a sampler takes no empty dataset, and says so. A failing sample is logged and left out by default:
`errors` is "skip". The epoch's seed is seed + epoch, as the documentation shows it. Not claimed: `length`; `workers`
(threads read, as many as there are workers asked for).
"""

from collections.abc import Iterator
from typing import Any

from spdl.pipeline import PipelineBuilder
from spdl.source import DistributedDeterministicSampler, DistributedRandomSampler

claims: dict[str, Any] = dict(
    when_dropping="drop",
    when_keeping="uneven",
    layout="strided",
    shuffle="global",
    epochs="set_epoch",
    errors="skip",
    smallest=1,
)


class PipelineLoader:
    """A sampler, and a pipeline for each epoch."""

    def __init__(self, request: Any) -> None:
        self.asked = request
        kind = DistributedRandomSampler if request.shuffle else DistributedDeterministicSampler
        self.sampler = kind(
            len(request.dataset),
            rank=request.rank,
            world_size=request.world_size,
            ddp_drop_last_distributed_round=request.drop_last,
        )

    def set_epoch(self, epoch: int) -> None:
        """Shuffle again."""
        if self.asked.shuffle:
            self.sampler.shuffle(seed=self.asked.seed + epoch)

    def __iter__(self) -> Iterator[Any]:
        asked = self.asked
        threads = max(1, asked.num_workers)
        builder = PipelineBuilder().add_source(self.sampler)
        builder = builder.pipe(asked.dataset.__getitem__, concurrency=threads, output_order="input")
        builder = builder.aggregate(asked.batch_size, drop_last=asked.drop_last).add_sink(2)
        pipeline = builder.build(num_threads=threads)
        with pipeline.auto_stop():
            yield from pipeline


def load(request: Any) -> PipelineLoader | list[Any]:
    """One rank's loader."""
    # With drop_last a sampler takes no dataset that has not a sample for each rank, and says so: nothing would be left.
    if request.drop_last and 0 < len(request.dataset) < request.world_size:
        return []
    return PipelineLoader(request)
