"""PyTorch's WeightedRandomSampler below a DataLoader, as a script of one process has them.

Source of the claims: https://docs.pytorch.org/docs/stable/data.html, "torch.utils.data.WeightedRandomSampler" ("Samples
elements from [0,..,len(weights)-1] with given probabilities (weights)"; `num_samples`; `replacement`; `generator`).

It knows nothing of ranks: `ranks` is None. Its generator goes on drawing, so that `epochs` is "automatic". An
unshuffled request gets the dataset in order, from the loader's own sampler.
"""

from typing import Any

import torch
from torch.utils.data import DataLoader, WeightedRandomSampler

from conformance.peers import torch_map

claims: dict[str, Any] = dict(
    ranks=None,
    sampling="replacement",
    hooks=("weights",),
    when_dropping="drop",
    when_keeping="uneven",
    workers=True,
    epochs="automatic",
    length=True,
)
# The loader below is torch's, with what that does otherwise than the specs say.
known_failures = {name: torch_map.known_failures[name] for name in ("WORK-17", "ERROR-3", "LEAK-6")}


def load(request: Any) -> DataLoader[Any]:
    """The loader of the one process."""
    sampler = None
    # It takes no empty dataset, and says so.
    if request.shuffle and len(request.dataset):
        sampler = WeightedRandomSampler(
            request.weights or [1.0] * len(request.dataset),
            num_samples=len(request.dataset),
            replacement=True,
            generator=torch.Generator().manual_seed(request.seed),
        )
    return DataLoader(
        request.dataset,
        batch_size=request.batch_size,
        sampler=sampler,
        drop_last=request.drop_last,
        num_workers=request.num_workers,
    )
