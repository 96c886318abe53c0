"""The peers: decides what each is called, where its adapter is, what to install for it, and in which environment.

The environments are few, since one takes minutes and up to 2 GB; what does not live together is in another group. Only
`loaderspec matrix` makes them: whoever has a peer installed judges it with `--impl=NAME`.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Group:
    """One environment: what pip installs, and what it takes out again, as it doesn't import beside this torch."""

    requires: tuple[str, ...]
    removes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Peer:
    """A loader that others have made. `packages` are what to install; `patience` is in seconds, as in `--patience`."""

    name: str
    title: str
    group: str
    module: str
    packages: tuple[str, ...]
    link: str
    patience: float = 10.0


_TORCH = "torch==2.13.0"
GROUPS: dict[str, Group] = {
    "torch": Group(
        (
            _TORCH,
            "torchdata==0.11.0",
            "accelerate==1.15.0",
            "datasets==5.2.0",
            "webdataset==1.0.2",
            "litdata==0.2.76",
            "lightning==2.6.6",
            "spdl==0.8.0",
        ),
        removes=("torchvision",),
    ),
}

_DOCS = "https://docs.pytorch.org"
_HUB = "https://huggingface.co/docs"
PEERS: tuple[Peer, ...] = (
    Peer("torch", "torch DataLoader", "torch", "torch_map", ("torch",), f"{_DOCS}/docs/stable/data.html"),
    Peer(
        "torchdata",
        "torchdata StatefulDataLoader",
        "torch",
        "torchdata_stateful",
        ("torchdata",),
        f"{_DOCS}/data/0.11/torchdata.stateful_dataloader.html",
    ),
    Peer(
        "torchdata-nodes",
        "torchdata.nodes",
        "torch",
        "torchdata_nodes",
        ("torchdata",),
        f"{_DOCS}/data/0.11/torchdata.nodes.html",
    ),
    Peer(
        "accelerate",
        "accelerate prepare_data_loader",
        "torch",
        "accelerate_prepared",
        ("accelerate",),
        f"{_HUB}/accelerate/package_reference/torch_wrappers",
    ),
    Peer(
        "datasets",
        "HuggingFace datasets, map-style",
        "torch",
        "datasets_map",
        ("datasets", "torch"),
        f"{_HUB}/datasets/use_with_pytorch",
    ),
    Peer(
        "datasets-streaming",
        "HuggingFace datasets, streaming",
        "torch",
        "datasets_streaming",
        ("datasets", "torch"),
        f"{_HUB}/datasets/stream",
    ),
    Peer(
        "webdataset",
        "webdataset",
        "torch",
        "webdataset_shards",
        ("webdataset", "torch"),
        "https://github.com/webdataset/webdataset",
    ),
    Peer(
        "lightning",
        "Lightning DistributedSamplerWrapper",
        "torch",
        "lightning_sampler",
        ("lightning",),
        "https://lightning.ai/docs/pytorch/stable/common/trainer.html",
    ),
)
