"""spdl's loader for torch's datasets: `get_pytorch_dataloader(in_order=True)`, with worker processes.

Source of the claims: https://facebookresearch.github.io/spdl/main (spdl.dataloader.get_pytorch_dataloader: "almost
drop-in replacement of PyTorch's DataLoader class"; `in_order`: "whether to emit results in input order"; `sampler`,
`drop_last`, `collate_fn`; 0 workers are taken for 1). The ranks' shares are DistributedSampler's, as
https://docs.pytorch.org/docs/stable/data.html says.

A failing batch is logged and left out by default, as in all of its pipelines: `errors` is "skip". Not claimed:
`persistent_workers`, `worker_init_fn` (it refuses them).
"""

from typing import Any

from spdl.dataloader import get_pytorch_dataloader

from conformance.peers.torch_map import TorchLoader, sampler_of

claims: dict[str, Any] = dict(
    when_dropping="drop",
    when_keeping="pad",
    layout="strided",
    shuffle="global",
    workers=True,
    hooks=("collate_fn",),
    epochs="set_epoch",
    length=True,
    errors="skip",
)


def load(request: Any) -> TorchLoader:
    """One rank's loader."""
    sampler = sampler_of(request)
    loader: Any = get_pytorch_dataloader(
        request.dataset,
        batch_size=request.batch_size,
        sampler=sampler,
        num_workers=max(1, request.num_workers),
        collate_fn=request.collate_fn,
        drop_last=request.drop_last,
        in_order=True,
    )
    return TorchLoader(loader, sampler)
