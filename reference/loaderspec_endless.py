"""The adapter by which the suite judges epochs without end: the same loader, with a sampler that gives pass after pass.

A loader that goes on with a state needs an end to count from, so that no restart is promised.
"""

from typing import Any

from . import loaderspec
from .dataloader import DataLoader
from .rules.endless import EndlessShard

claims: dict[str, Any] = dict(
    epochs="endless", when_keeping="once", when_dropping="once", shuffle="global", workers=True
)


def load(request: Any) -> DataLoader:
    """Return one rank's loader for the request."""
    seed = request.seed if request.shuffle else None
    return DataLoader(
        loaderspec._options(request),
        request.dataset,
        batch_size=request.batch_size,
        sampler=EndlessShard(len(request.dataset), request.world_size, request.rank, seed),
        drop_last=request.drop_last,
        num_workers=request.num_workers,
        # Each rank is given its own samples already.
        auto_distributed_partitioning=False,
    )
