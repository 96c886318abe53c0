"""Lightning's UnrepeatedDistributedSampler, which its Trainer puts below the loaders of a prediction.

Source of the claims: https://lightning.ai/docs/pytorch/stable/common/trainer.html (use_distributed_sampler) and the
class's own text in lightning.pytorch.overrides.distributed, https://github.com/Lightning-AI/pytorch-lightning
("doesn't repeat data, instead allowing the number of batches per process to be off-by-one from each other", "safe to
use as long as each process runs at least one batch. We verify this in an assert").

`smallest` is the number of ranks, by that assert. (An empty dataset it accepts, which `smallest` can't say beside
that.) Not claimed: `shuffle` ("it's deterministic and doesn't require shuffling"; it takes no seed). The Trainer makes
a loader of a prediction without `drop_last`, whatever it had; what the sampler does with `drop_last` is not said.
"""

from typing import Any

from lightning.pytorch.overrides.distributed import UnrepeatedDistributedSampler
from torch.utils.data import DataLoader

from conformance.peers import torch_map

claims: dict[str, Any] = dict(
    without=("drop_last",),
    when_keeping="uneven",
    layout="strided",
    workers=True,
    length=True,
    smallest="world_size",
)
# The loader below is torch's, with what that does otherwise than the specs say.
known_failures: dict[str, Any] = {
    "COUNT-6": dict(
        case="COUNT-6-n1,w2,b1,keep",
        reason="the ranks that have no sample refuse, each by its own assert, as documented; the others have theirs",
    ),
    "WORK-9": {**torch_map.known_failures["WORK-9"], "case": "WORK-9-n2,w2,b1,keep,k1,workers"},
    **{name: torch_map.known_failures[name] for name in ("WORK-17", "ERROR-3", "LEAK-6")},
}


def load(request: Any) -> DataLoader[Any]:
    """One rank's loader."""
    if not len(request.dataset):
        raise ValueError("no sample is fewer than there are ranks")
    sampler: Any = UnrepeatedDistributedSampler(
        request.dataset, num_replicas=request.world_size, rank=request.rank, shuffle=False
    )
    return DataLoader(request.dataset, batch_size=request.batch_size, sampler=sampler, num_workers=request.num_workers)
