"""torchdata.nodes' MultiNodeWeightedSampler: several sources are read as one, by weights.

Source of the claims: https://docs.pytorch.org/data/0.11/torchdata.nodes.html (MultiNodeWeightedSampler: "a node that
samples from multiple datasets with weights"; "FIRST_DATASET_EXHAUSTED: Stop when the first dataset is exhausted";
"CYCLE_UNTIL_ALL_DATASETS_EXHAUSTED: Cycle through the source nodes until all datasets are exhausted"; `seed`; "the node
implements the state").

Each source is a sampler and a mapper; requests without sources are for one. `ranks` is None: each rank would draw by a
seed of its own, and nothing is said of where they end. Not claimed: `length` (a Loader has none).
"""

from typing import Any

from torch.utils.data.distributed import DistributedSampler
from torchdata.nodes import Batcher, Loader, Mapper, MultiNodeWeightedSampler, SamplerWrapper, StopCriteria

from conformance.peers import torch_map

claims: dict[str, Any] = dict(
    ranks=None,
    mixtures=("first_exhausted", "all_exhausted"),
    when_dropping="drop",
    when_keeping="uneven",
    shuffle="global",
    epochs="automatic",
    resume=True,
    end_of_epoch="next",
)
# The sampler below is torch's, whose generator takes 32 bits of its seed.
known_failures = {"ORDER-7": torch_map.known_failures["ORDER-7"]}
_STOPS = {
    "first_exhausted": StopCriteria.FIRST_DATASET_EXHAUSTED,
    "all_exhausted": StopCriteria.CYCLE_UNTIL_ALL_DATASETS_EXHAUSTED,
}


def load(request: Any) -> Any:
    """The chain of nodes of the one process."""
    nodes = [_node(source, request) for source in request.sources or (request.dataset,)]
    samples: Any = nodes[0]
    if request.sources:
        samples = MultiNodeWeightedSampler(
            {str(at): node for at, node in enumerate(nodes)},
            {str(at): float(weight) for at, weight in enumerate(request.weights)},
            stop_criteria=_STOPS[request.stop],
            rank=request.rank,
            world_size=request.world_size,
            seed=request.seed,
        )
    return Loader(Batcher(samples, batch_size=request.batch_size, drop_last=request.drop_last))


def _node(source: Any, request: Any) -> Any:
    """The samples of one source."""
    # Of torch's samplers the one that is told which epoch comes.
    sampler: DistributedSampler[Any] = DistributedSampler(
        source, num_replicas=1, rank=0, shuffle=request.shuffle, seed=request.seed
    )
    return Mapper(SamplerWrapper(sampler), source.__getitem__)
