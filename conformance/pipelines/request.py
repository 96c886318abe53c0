"""The contract with a loader of pipelines: decides what an adapter's `pipeline(request)` is asked for."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class PipelineRequest:
    """What one rank's loader of a pipeline is asked for, the argument of an adapter's `pipeline`.

    `datapipe` is the end of a graph of torch's pipes (`torch.utils.data.IterDataPipe`). The loader has `__iter__`,
    `seed(n)` and `shutdown()`; `seed` is not the adapter's to set: it is what `seed(n)` will be called with. If
    `world_size` is above 1 the default process group of torch.distributed exists. `worker_init_fn` is None, or is to be
    called in each worker with the worker's number, before anything is read there ("initialiser").
    """

    datapipe: Any
    num_workers: int
    rank: int
    world_size: int
    seed: int
    worker_init_fn: Callable[[int], None] | None = None
