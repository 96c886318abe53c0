"""PyTorch's DataLoader with DistributedSampler, under what its documentation promises.

Source of the claims: https://docs.pytorch.org/docs/stable/data.html, "torch.utils.data.distributed.DistributedSampler"
(`drop_last`: the tail is dropped to make it evenly divisible, or extra indices are added) and "set_epoch".
"""

from collections.abc import Iterator
from typing import Any

from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

claims = dict(
    when_dropping="drop",
    when_keeping="pad",
    layout="strided",
    shuffle="global",
    workers=True,
    epochs="set_epoch",
    length=True,
)


class TorchLoader:
    """The two objects that a training script keeps side by side, as one loader."""

    def __init__(self, loader: DataLoader[Any], sampler: DistributedSampler[Any]) -> None:
        self.loader = loader
        self.sampler = sampler

    def __iter__(self) -> Iterator[Any]:
        return iter(self.loader)

    def __len__(self) -> int:
        return len(self.loader)

    def set_epoch(self, epoch: int) -> None:
        """Tell the sampler which epoch comes next."""
        self.sampler.set_epoch(epoch)


def load(request: Any) -> TorchLoader:
    """One rank's loader, as the documentation shows it."""
    sampler: DistributedSampler[Any] = DistributedSampler(
        request.dataset,
        num_replicas=request.world_size,
        rank=request.rank,
        shuffle=request.shuffle,
        seed=request.seed,
        drop_last=request.drop_last,
    )
    loader: DataLoader[Any] = DataLoader(
        request.dataset,
        batch_size=request.batch_size,
        sampler=sampler,
        num_workers=request.num_workers,
        drop_last=request.drop_last,
    )
    return TorchLoader(loader, sampler)
