"""The adapter by which the suite judges drawing with replacement: the same loader, with a sampler that draws.

What has nothing to do with that is judged by `loaderspec.py`, and promised here only where a sampler can change it.
"""

from typing import Any

from . import loaderspec
from .dataloader import DataLoader
from .rules.drawing import DrawnShard

claims: dict[str, Any] = dict(
    sampling="replacement",
    hooks=("weights",),
    when_dropping="drop",
    when_keeping="uneven",
    layout="contiguous",
    workers=True,
    epochs="automatic",
    length=True,
)


def load(request: Any) -> DataLoader:
    """Return one rank's loader for the request."""
    if not request.shuffle:
        return loaderspec.load(request)
    size = request.batch_size
    drawn = DrawnShard(
        len(request.dataset),
        size,
        request.world_size,
        request.rank,
        request.drop_last,
        request.seed,
        request.weights,
    )
    return DataLoader(
        loaderspec._options(request),
        request.dataset,
        batch_size=size,
        sampler=drawn,
        drop_last=request.drop_last,
        num_workers=request.num_workers,
        # Each rank is given its own samples already.
        auto_distributed_partitioning=False,
    )
