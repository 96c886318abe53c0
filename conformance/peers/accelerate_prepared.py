"""accelerate: a torch DataLoader that `prepare_data_loader` has made one of several ranks' loaders.

Source of the claims: https://huggingface.co/docs/accelerate/package_reference/torch_wrappers (prepare_data_loader:
`even_batches`: "samples at the start of the dataset will be duplicated so the batch can be divided equally among all
workers"; `drop_last` stops "at the first batch that would be too small / not present on all processes";
`use_seedable_sampler`, `data_seed`; DataLoaderShard.set_epoch).

Not claimed: `layout` (whole batches go to the ranks in turn); iterable datasets (their workers are torch's); `hooks`.
"""

from typing import Any

from accelerate import PartialState
from accelerate.data_loader import prepare_data_loader
from torch.utils.data import DataLoader

from conformance.peers import torch_map

claims: dict[str, Any] = dict(
    when_dropping="drop",
    when_keeping="pad",
    shuffle="global",
    workers=True,
    epochs="set_epoch",
    length=True,
)
# The loader below is torch's, with what that does otherwise than the specs say; persistent workers are not asked for.
known_failures = {name: known for name, known in torch_map.known_failures.items() if name != "WORK-13"}


def load(request: Any) -> Any:
    """One rank's loader, made from the one that a script has for a single process."""
    return prepared(request, request.batch_size)


def prepared(request: Any, batch_size: int, **options: Any) -> Any:
    """The same with other options, from a loader of such batches."""
    PartialState(cpu=True)
    whole: DataLoader[Any] = DataLoader(
        request.dataset,
        batch_size=batch_size,
        # RandomSampler, which this means, takes no empty dataset, and says so.
        shuffle=request.shuffle and len(request.dataset) > 0,
        drop_last=request.drop_last,
        num_workers=request.num_workers,
    )
    return prepare_data_loader(
        whole,
        num_processes=request.world_size,
        process_index=request.rank,
        use_seedable_sampler=True,
        data_seed=request.seed,
        **options,
    )
