"""litdata's StreamingDataset and StreamingDataLoader over chunks that its own writer has written.

Source of the claims: https://github.com/Lightning-AI/litData (README: "Shuffle", "drop_last: drops the last items to
ensure that all processes/workers return the same amount of data"; shuffled again in each epoch, which the loader counts
by itself; `len(loader)`; "Pause & resume data streaming": `state_dict` and `load_state_dict` of the loader).

The chunks hold the numbers of two samples each, and `transform` gives the sample. `smallest` is 1: a dataset of no
items can't be written. Not claimed: `layout` (chunks are dealt out to ranks and workers); a policy without drop_last
(several ranks are meant to use it, and it warns of what may come without); `workers` (each makes batches of its own
chunks).
"""

import os
from pathlib import Path
from typing import Any

from litdata import StreamingDataLoader, StreamingDataset
from litdata.streaming.cache import Cache

claims: dict[str, Any] = dict(
    when_dropping="drop",
    shuffle="buffered",
    epochs="automatic",
    length=True,
    resume=True,
    end_of_epoch="next",
    smallest=1,
)


def load(request: Any) -> Any:
    """One rank's loader."""
    # They are asked for when something is made; a rank that writes alone must not wait for others.
    os.environ.update(LITDATA_DISABLE_VERSION_CHECK="1", NNODES="1", WORLD_SIZE="1", GLOBAL_RANK="0")
    chunks = _written(Path(request.workdir, "chunks"), len(request.dataset))
    os.environ.update(WORLD_SIZE=str(request.world_size), GLOBAL_RANK=str(request.rank))
    numbers = StreamingDataset(
        chunks,
        shuffle=request.shuffle,
        drop_last=request.drop_last,
        seed=request.seed,
        transform=lambda number, *_, **__: request.dataset[number],
    )
    return StreamingDataLoader(
        numbers,
        batch_size=request.batch_size,
        num_workers=request.num_workers,
        drop_last=request.drop_last,
        collate_fn=list,
    )


def _written(folder: Path, samples: int) -> str:
    if samples < 1:
        raise ValueError("a dataset of 0 items can't be written; write 1 or more")
    if not (folder / "index.json").exists():
        folder.mkdir(exist_ok=True)
        cache = Cache(str(folder), chunk_size=2)
        for number in range(samples):
            cache[number] = number
        cache.done()
        cache.merge()
    return str(folder)
