"""Lightning's DistributedSamplerWrapper: any sampler, shared out to ranks, below a torch DataLoader.

Source of the claims: https://lightning.ai/docs/pytorch/stable/common/trainer.html (use_distributed_sampler) and the
class's own text: "take care of sharding the sampler indices. It is up to the underlying sampler to handle randomness
and shuffling". It is a torch DistributedSampler over what the sampler gives: strided, padded or cut.

`epochs` is "automatic": a RandomSampler with a generator of its own goes on drawing.
"""

from typing import Any

import torch
from lightning.fabric.utilities.distributed import DistributedSamplerWrapper
from torch.utils.data import DataLoader, RandomSampler, Sampler, SequentialSampler

from conformance.peers import torch_map

claims: dict[str, Any] = dict(
    when_dropping="drop",
    when_keeping="pad",
    layout="strided",
    shuffle="global",
    workers=True,
    epochs="automatic",
    length=True,
)
# The loader below is torch's, with what that does otherwise than the specs say; persistent workers are not asked for.
known_failures = {name: known for name, known in torch_map.known_failures.items() if name != "WORK-13"}


def load(request: Any) -> DataLoader[Any]:
    """One rank's loader, as the Trainer makes it from the one in a script."""
    wrapped = DistributedSamplerWrapper(
        _sampler(request),
        num_replicas=request.world_size,
        rank=request.rank,
        shuffle=False,
        drop_last=request.drop_last,
    )
    return DataLoader(
        request.dataset,
        batch_size=request.batch_size,
        sampler=wrapped,
        drop_last=request.drop_last,
        num_workers=request.num_workers,
    )


def _sampler(request: Any) -> Sampler[int]:
    # RandomSampler takes no empty dataset, and says so.
    if not request.shuffle or not len(request.dataset):
        return SequentialSampler(request.dataset)
    return RandomSampler(request.dataset, generator=torch.Generator().manual_seed(request.seed))
