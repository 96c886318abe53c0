"""The adapter by which the suite judges the orders without a list: the same loader, told to shuffle by the network.

What has nothing to do with a shuffle is judged by `loaderspec.py`, and not promised here once more.
"""

from typing import Any

from . import loaderspec
from .dataloader import DataLoader
from .enums import ShuffleMethod

_ELSEWHERE = (
    "device",
    "launcher",
    "loop",
    "checkpoints",
    "pipelines",
    "batches",
    "oversized",
    "stream_shuffle",
    "subsets",
    "mixtures",
)

claims: dict[str, Any] = {name: promised for name, promised in loaderspec.claims.items() if name not in _ELSEWHERE}


def load(request: Any) -> DataLoader:
    """Return one rank's loader for the request."""
    return loaderspec.loader(request, ShuffleMethod.Feistel)
