"""torchdata 0.9.0's DataLoader2 with its reading services, the last release that had them, as its documentation has it.

Source of the claims: https://docs.pytorch.org/data/0.9/dataloader2.html (`seed`, `shutdown`, one valid iterator with
`limit` and `resume`) and https://docs.pytorch.org/data/0.9/reading_service.html ("Dynamic Sharding":
`sharding_filter` and `sharding_round_robin_dispatch`; "Determinism"; `MultiProcessingReadingService` with
`worker_init_fn`; `DistributedReadingService`; `SequentialReadingService`, over ranks first).
"""

from typing import Any

import torchdata.datapipes.iter  # noqa: F401  (registers the functional forms)
from torchdata.dataloader2 import (
    DataLoader2,
    DistributedReadingService,
    MultiProcessingReadingService,
    SequentialReadingService,
)

claims: dict[str, Any] = dict(pipelines=("workers", "ranks", "dispatch", "initialiser", "pause", "services"))


def pipeline(request: Any) -> Any:
    """Return one rank's loader of a pipeline."""
    workers = _workers(request)
    if request.world_size == 1:
        return DataLoader2(request.datapipe, reading_service=workers)
    return DataLoader2(request.datapipe, reading_service=SequentialReadingService(DistributedReadingService(), workers))


def wrong_order(request: Any) -> Any:
    """Return a loader whose services are joined in the wrong order."""
    return DataLoader2(
        request.datapipe, reading_service=SequentialReadingService(_workers(request), DistributedReadingService())
    )


class _Initialiser:
    """What the library calls in a worker, around the request's function."""

    def __init__(self, initialise: Any) -> None:
        self.initialise = initialise

    def __call__(self, datapipe: Any, info: Any) -> Any:
        self.initialise(info.worker_id)
        return datapipe


def _workers(request: Any) -> Any:
    init = _Initialiser(request.worker_init_fn) if request.worker_init_fn else None
    return MultiProcessingReadingService(request.num_workers, worker_init_fn=init)
