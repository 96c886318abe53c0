"""Any package with `Options` and `DataLoader` of PopTorch's shape, without an adapter of its own.

Source of the claims: the PopTorch user guide on `poptorch.DataLoader` (automatic partitioning, drop_last, shuffling).
"""

from collections.abc import Callable
from typing import Any

from conformance.contract import Request
from conformance.processes.random_state import undisturbed

CLAIMS = dict(
    when_dropping="drop",
    when_keeping="uneven",
    layout="contiguous",
    shuffle="global",
    workers=True,
    epochs="automatic",
    length=True,
    device_options=True,
)


def loader_of(package: Any) -> Callable[[Request], Any]:
    """The `load` of an adapter for `package`."""

    def load(request: Request) -> Any:
        return package.DataLoader(
            _options(package, request),
            request.dataset,
            batch_size=request.batch_size,
            shuffle=request.shuffle,
            drop_last=request.drop_last,
            num_workers=request.num_workers,
        )

    return load


def _options(package: Any, request: Request) -> Any:
    options = package.Options()
    options.deviceIterations(request.device_iterations)
    options.replicationFactor(request.replication_factor)
    options.Training.gradientAccumulation(request.gradient_accumulation)
    options.Distributed.configureProcessId(request.rank, request.world_size)
    # `randomSeed` is documented to seed torch as well: that is this call's doing, and not the loader's (ORDER-10).
    with undisturbed():
        options.randomSeed(request.seed)
    return options
