"""What an instance asks of the adapter: decides how `whoami`, `settings` and `load` are called there."""

from pathlib import Path
from typing import Any

from conformance.contract import Implementation, Request

_BATCH = 3
_GROUP_SECONDS = 60


def asked(name: str, samples: int, meets: Path) -> dict[str, Any]:
    """What this instance is told by the adapter, as plain data; `error` is the first exception."""
    from conformance.processes.resolve import resolve

    implementation = resolve(name)
    told: dict[str, Any] = {}
    try:
        told["who"] = dict(implementation.offers["whoami"]())
        if "settings" in implementation.offers:
            told["set"] = _set(implementation)
            told["who-after"] = dict(implementation.offers["whoami"]())
        if "map" in implementation.claims.datasets and samples:
            told["steps"] = _loaded(implementation, told["who"], samples, meets)
    except Exception as error:
        told["error"] = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return told


def _set(implementation: Implementation) -> dict[str, str]:
    """What came of each attempt to set something: "" if nothing was raised, else the message."""
    found = {}
    for name, attempt in implementation.offers["settings"]().items():
        try:
            attempt()
            found[name] = ""
        except Exception as error:
            found[name] = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return found


def _loaded(implementation: Implementation, who: dict[str, int], samples: int, meets: Path) -> list[list[int]]:
    """The samples of each step of one epoch, for the rank that this instance says it is."""
    from conformance.loader import datasets

    rank, world_size = who["instance"], who["instances"]
    if implementation.claims.ranks == "process_group":
        _join(meets, rank, world_size)
    replicas = who["local_replicas"] if implementation.claims.device_options else 1
    folder = meets.with_name(f"files-{rank}")
    folder.mkdir()
    request = Request(
        dataset=datasets.MapDataset(samples),
        batch_size=_BATCH,
        shuffle=False,
        seed=0,
        drop_last=True,
        num_workers=0,
        rank=rank,
        world_size=world_size,
        replication_factor=replicas,
        device_iterations=1,
        gradient_accumulation=1,
        asynchronous=False,
        workdir=str(folder),
    )
    decode = implementation.decode or datasets.decode
    return [[int(value) - datasets.FIRST_SAMPLE for value in decode(batch)] for batch in implementation.load(request)]


def _join(meets: Path, rank: int, world_size: int) -> None:
    from datetime import timedelta

    import torch.distributed as distributed

    distributed.init_process_group(
        "gloo",
        init_method=f"file://{meets}",
        rank=rank,
        world_size=world_size,
        timeout=timedelta(seconds=_GROUP_SECONDS),
    )
