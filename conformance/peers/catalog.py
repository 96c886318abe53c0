"""The peers: decides what each is called, where its adapter is, what to install for it, and in which environment.

The environments are few, since one takes minutes and up to 2 GB; what does not live together is in another group. Only
`loaderspec matrix` makes them: with a peer installed, `--impl=NAME` judges it.
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
            "transformers==5.24.0",
            "torch-geometric==2.8.1",
        ),
        removes=("torchvision",),
    ),
    # Pipelines: the last torchdata that has a DataLoader2 (no wheel for Python 3.13).
    "dl2": Group((_TORCH, "torchdata==0.9.0")),
    "grain": Group(("grain==0.2.18",)),
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
        "accelerate-stateful",
        "accelerate use_stateful_dataloader",
        "torch",
        "accelerate_stateful",
        ("accelerate", "torchdata"),
        f"{_HUB}/accelerate/usage_guides/checkpoint",
    ),
    Peer(
        "datasets",
        "HuggingFace datasets, map-style",
        "torch",
        "datasets_map",
        ("datasets", "torch"),
        f"{_HUB}/datasets/use_with_pytorch",
        # It reads the 30,000 samples of the largest case row by row.
        patience=120.0,
    ),
    Peer(
        "datasets-streaming",
        "HuggingFace datasets, streaming",
        "torch",
        "datasets_streaming",
        ("datasets", "torchdata"),
        f"{_HUB}/datasets/stream",
        patience=60.0,
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
    Peer(
        "litdata",
        "litdata StreamingDataset",
        "torch",
        "litdata_streaming",
        ("litdata",),
        "https://github.com/Lightning-AI/litData",
    ),
    Peer(
        "spdl",
        "spdl pipeline",
        "torch",
        "spdl_pipeline",
        ("spdl",),
        "https://facebookresearch.github.io/spdl/main",
        # A pipeline takes a tenth of a second to start, and the largest experiments read 200 epochs at a time.
        patience=40.0,
    ),
    Peer(
        "torch-weighted",
        "torch WeightedRandomSampler",
        "torch",
        "torch_weighted",
        ("torch",),
        f"{_DOCS}/docs/stable/data.html#torch.utils.data.WeightedRandomSampler",
    ),
    Peer(
        "accelerate-split",
        "accelerate split_batches",
        "torch",
        "accelerate_split",
        ("accelerate",),
        f"{_HUB}/accelerate/package_reference/torch_wrappers",
    ),
    Peer(
        "accelerate-uneven",
        "accelerate even_batches=False",
        "torch",
        "accelerate_uneven",
        ("accelerate",),
        f"{_HUB}/accelerate/concept_guides/join",
    ),
    Peer(
        "transformers",
        "transformers length-grouped sampler",
        "torch",
        "transformers_grouped",
        ("transformers", "torch"),
        f"{_HUB}/transformers/main_classes/trainer",
    ),
    Peer(
        "lightning-predict",
        "Lightning UnrepeatedDistributedSampler",
        "torch",
        "lightning_unrepeated",
        ("lightning",),
        "https://lightning.ai/docs/pytorch/stable/common/trainer.html",
    ),
    Peer(
        "datasets-buffered",
        "HuggingFace datasets, shuffled stream",
        "torch",
        "datasets_buffered",
        ("datasets", "torch"),
        f"{_HUB}/datasets/stream",
        patience=60.0,
    ),
    Peer(
        "datasets-interleaved",
        "HuggingFace interleave_datasets",
        "torch",
        "datasets_interleaved",
        ("datasets", "torch"),
        f"{_HUB}/datasets/process",
        patience=120.0,
    ),
    Peer(
        "webdataset-buffered",
        "webdataset detshuffle, workers",
        "torch",
        "webdataset_buffered",
        ("webdataset", "torch"),
        "https://webdataset.github.io/webdataset/",
    ),
    Peer(
        "nodes-weighted",
        "torchdata.nodes MultiNodeWeightedSampler",
        "torch",
        "nodes_weighted",
        ("torchdata",),
        f"{_DOCS}/data/0.11/torchdata.nodes.html",
    ),
    Peer(
        "pyg",
        "PyTorch Geometric DynamicBatchSampler",
        "torch",
        "pyg_dynamic",
        ("torch-geometric", "torch"),
        "https://pytorch-geometric.readthedocs.io/en/latest/modules/loader.html",
    ),
    Peer(
        "grain",
        "grain DataLoader",
        "grain",
        "grain_dataloader",
        ("grain",),
        "https://google-grain.readthedocs.io/en/latest/grain.html",
        patience=120.0,
    ),
    Peer(
        "grain-dataset",
        "grain MapDataset",
        "grain",
        "grain_dataset",
        ("grain",),
        "https://google-grain.readthedocs.io/en/latest/grain.dataset.html",
        patience=120.0,
    ),
    Peer(
        "dataloader2",
        "torchdata DataLoader2",
        "dl2",
        "dataloader2",
        ("torchdata",),
        f"{_DOCS}/data/0.9/dataloader2.html",
    ),
)

# Loaders that were looked at and are not judged, each with the reason.
NOT_JUDGED: dict[str, str] = {
    "MosaicML streaming": "its ranks share one folder and one block of shared memory, which live as long as their "
    "processes; the suite gives each rank a folder of its own, and reads many loaders in one process",
    "ray.data": "its ranks are fed by one cluster, which takes seconds to start and must be shared by them; the suite "
    "has no process that is common to all ranks",
    "datatrove": "its readers deal out whole files and know no batches and no epochs: the adapter would be the loader",
    "DeepSpeed": "its own sampler always shuffles and takes no seed, and no release tells it the epoch, so that "
    "neither an order nor another epoch can be asked for; with a sampler that is handed over it is torch's loader, "
    "which is judged",
}
