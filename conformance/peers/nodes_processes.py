"""torchdata.nodes with worker processes: `ParallelMapper(method="process")` below a batcher and a loader.

Source of the claims: https://docs.pytorch.org/data/0.11/torchdata.nodes.html (ParallelMapper: `method` "process",
`in_order`, default True: "return items in the order from which they arrive from source's iterator"), and those of
`torchdata_nodes.py`.

With 0 workers it maps in the caller's own thread.
"""

from typing import Any

from torchdata.nodes import Batcher, Loader, ParallelMapper, SamplerWrapper

from conformance.peers import torchdata_nodes
from conformance.peers.torch_map import sampler_of

claims: dict[str, Any] = {**torchdata_nodes.claims, "datasets": ("map",)}


def load(request: Any) -> Any:
    """One rank's chain of nodes."""
    samples = ParallelMapper(
        SamplerWrapper(sampler_of(request)),
        request.dataset.__getitem__,
        num_workers=request.num_workers,
        method="process",
    )
    return Loader(Batcher(samples, batch_size=request.batch_size, drop_last=request.drop_last))
