"""webdataset, several samples a shard, with workers: `detshuffle` of shards and, through a small buffer, of samples.

Source of the claims: https://webdataset.github.io/webdataset/ and https://github.com/webdataset/webdataset
("split_by_node", "split_by_worker", `detshuffle`: "a reproducible shuffling mechanism based on a seed and epoch", which
counts epochs by itself; WebLoader is torch's DataLoader).

Shards hold two samples; whole shards go to ranks, and those of a rank to its workers, so that ranks may differ by more
than a sample: "once".

Not claimed: `length`; `layout`; `workers` of map-style datasets (they share the shards, and each makes its own
batches).
"""

from typing import Any

from conformance.peers.webdataset_shards import from_shards

claims: dict[str, Any] = dict(
    datasets=("map", "iterable"),
    when_keeping="once",
    shuffle="buffered",
    stream_shuffle="buffered",
    iterable_workers="split",
    hooks=("persistent_workers",),
    epochs="automatic",
    smallest=1,
)


def load(request: Any) -> Any:
    """One rank's loader."""
    persists = request.persistent_workers and request.num_workers > 0
    return from_shards(request, 2, buffered=True, persistent_workers=persists)
