"""Decides what a loader was asked for, and which order and batches torch's DataLoader is given for it.

Four kinds of request, told apart once in `torch_arguments`:

    a map-style dataset          epochs of ours: sharded over ranks, shuffled as a function of (seed, epoch)
    with `sampler=`              the user's order, cut into steps by torch
    with `batch_sampler=`        the user's batches, each one micro-batch, several of which make a step (`join.py`)
    an iterable-style dataset    the dataset's own order, cut into steps by torch

The last three decide themselves which samples a process gets, so they refuse automatic partitioning.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from torch.utils.data import IterableDataset

from ..enums import CommGroupType
from ..options.options import Options
from ..rules.arithmetic import combine, last_step_size
from ..rules.checks import check_flag, check_integer, check_rank, check_type, show
from ..rules.sampler import CombinedBatchSampler, EpochSampler, SingleSampler
from ..rules.splitting import Split, share_steps


@dataclass(frozen=True, slots=True)
class LoaderRequest:
    """What was asked of a loader, checked."""

    options: Options
    dataset: Any
    batch_size: int | None
    shuffle: bool | None
    workers: int
    drop_last: bool
    ranks: int
    """The shards into which the loader cuts each epoch; 1 without automatic partitioning."""
    rank: int
    batches_per_step: int
    """Micro-batches in one step: gradient accumulation x replicas x device iterations."""
    batch_sampler: Iterable[list[int]] | None
    torch_options: dict[str, Any]
    """What goes to torch's DataLoader as it is."""

    @property
    def combined_batch(self) -> int | None:
        """N, or None when the size of a batch is not ours to say."""
        if self.batch_size is None or self.batch_sampler is not None:
            return None
        return self.batch_size * self.batches_per_step

    @property
    def is_unbatched(self) -> bool:
        """Whether a step is one sample as it is."""
        return self.batch_size is None and self.batch_sampler is None


def make_request(
    options: Options,
    dataset: Any,
    batch_size: int | None,
    shuffle: bool | None,
    num_workers: int,
    drop_last: bool,
    partition: bool,
    batch_sampler: Iterable[list[int]] | None,
    torch_options: dict[str, Any],
) -> LoaderRequest:
    """Check what was asked. Raises TypeError or ValueError before any sample is read (BATCH-4, BATCH-5)."""
    check_type("options", options, Options)
    check_type("shuffle", shuffle, (bool, type(None)))
    # Without automatic partitioning each process loads everything, and the user shares it out.
    is_shared_out = check_flag("auto_distributed_partitioning", partition)
    distributed = options.Distributed
    # BATCH-4: each can be set alone, so only here is it known whether they go together.
    rank, ranks = check_rank(distributed.processId, distributed.numProcesses)
    return LoaderRequest(
        options=options,
        dataset=dataset,
        batch_size=None if batch_size is None else check_integer("batch_size", batch_size),
        shuffle=shuffle,
        workers=check_integer("num_workers", num_workers, least=0),
        drop_last=check_flag("drop_last", drop_last),
        ranks=ranks if is_shared_out else 1,
        rank=rank if is_shared_out else 0,
        # COUNT-3: device options only enlarge the step; steps are still counted by one floor.
        batches_per_step=combine(
            1, options.Training.gradient_accumulation, distinct_inputs(options), options.device_iterations
        ),
        batch_sampler=batch_sampler,
        torch_options=torch_options,
    )


def distinct_inputs(options: Options) -> int:
    """Return how many replicas get an input of their own; those of one input group share one."""
    replicas = int(options.replication_factor)
    group = replicas if options.input_group_type is CommGroupType.All else int(options.input_group_size)
    if replicas % group:
        raise ValueError(
            f"inputReplicaGrouping has groups of {show(group)}, which do not divide {show(replicas)} "
            f"replicas evenly: give a divisor of the replication factor."
        )
    return replicas // group


def torch_arguments(request: LoaderRequest, seed: int) -> tuple[dict[str, Any], EpochSampler | None]:
    """Return the arguments that tell torch what to load, and our epochs if they are what it loads."""
    if request.batch_sampler is not None:
        return _user_batches(request, request.batch_sampler), None
    if isinstance(request.dataset, IterableDataset):
        return _user_order(request, "An iterable-style dataset"), None
    if request.torch_options.get("sampler") is not None:
        return _user_order(request, "A sampler"), None
    steps = _our_epochs(request, seed)
    if request.combined_batch is None:
        return {"batch_size": None, "sampler": SingleSampler(steps)}, steps
    return {"batch_sampler": steps}, steps


def _our_epochs(request: LoaderRequest, seed: int) -> EpochSampler:
    """Return the steps of this rank, epoch by epoch."""
    if request.ranks > 1:
        if request.shuffle and request.options._seed() is None:
            # Raised and not asserted: under `python -O` the ranks would disagree in silence.
            raise AssertionError(
                f"shuffle=True on {request.ranks} processes needs one order for all of them: call "
                f"options.randomSeed(n) with the same n in each before building the loader."
            )
        if request.batch_size is None:
            raise ValueError(
                f"batch_size is None, but {request.ranks} processes share out whole steps: give a batch "
                f"size, or auto_distributed_partitioning=False to share out the samples yourself."
            )
    if not hasattr(request.dataset, "__len__"):
        raise TypeError(
            f"The dataset is {show(request.dataset)}, which has no len(), so it can't be shared out: give it "
            f"__len__, or make it an IterableDataset."
        )
    drop = request.drop_last and request.combined_batch is not None
    size = request.combined_batch or 1
    order_seed = seed if request.shuffle else None
    method = request.options.shuffle_method
    return EpochSampler(len(request.dataset), size, request.ranks, request.rank, drop, order_seed, method)


def _user_order(request: LoaderRequest, what: str) -> dict[str, Any]:
    """Return torch's arguments for an order that is not ours: each epoch is a pass of the user's sampler (WORK-19)."""
    _require_no_partition(request, what)
    size = request.combined_batch
    # torch refuses drop_last where there are no batches; nothing is to be dropped there.
    drop = request.drop_last and size is not None
    return {"batch_size": size, "shuffle": request.shuffle, "drop_last": drop}


def _user_batches(request: LoaderRequest, batches: Iterable[list[int]]) -> dict[str, Any]:
    """Return torch's arguments for a user's batch sampler."""
    _require_no_partition(request, "A batch_sampler")
    if request.batch_size != 1 or request.shuffle or request.torch_options.get("sampler") is not None:
        raise ValueError(
            f"batch_sampler decides batches and order, but batch_size is {show(request.batch_size)} and "
            f"shuffle is {show(request.shuffle)}: leave out batch_size, shuffle and sampler, or leave out "
            f"batch_sampler."
        )
    return {"batch_sampler": CombinedBatchSampler(batches, request.batches_per_step, request.drop_last)}


def _require_no_partition(request: LoaderRequest, what: str) -> None:
    if request.ranks > 1:
        raise ValueError(
            f"{what} decides itself which samples a process gets, but automatic partitioning over "
            f"{request.ranks} processes was asked for: give auto_distributed_partitioning=False and share "
            f"out the data yourself."
        )


def count_own_steps(request: LoaderRequest, count: Callable[[], int]) -> int:
    """Return the steps of an epoch whose order is not ours; `count` is how torch counts them.

    Raises TypeError when they can't be known.
    """
    dataset = request.dataset
    if not isinstance(dataset, IterableDataset) or (request.workers <= 1 and not isinstance(dataset, Split)):
        return count()
    if isinstance(dataset, Split) and dataset.length() is not None:
        size = request.combined_batch
        drop = request.drop_last and size is not None
        return share_steps(dataset.how, dataset.length() or 0, request.workers, size or 1, drop)
    raise TypeError(
        f"The steps of {request.workers} workers over an iterable-style dataset can't be counted, because nobody says "
        f"what each of them reads: use split(dataset) and a dataset with __len__, or don't ask for len(loader)."
    )


def warning(request: LoaderRequest, steps: EpochSampler | None) -> str | None:
    """Return a sentence about what may surprise the user in this request, or None."""
    if steps is not None:
        last = last_step_size(len(steps.shard), steps.combined_batch, len(steps))
        # BATCH-2: only when the rest is kept can the last step be smaller.
        if 0 < last < steps.combined_batch:
            return (
                f"The last step of each epoch holds {last} samples instead of {show(steps.combined_batch)}, "
                f"because drop_last is False: expect the smaller step, or use drop_last=True."
            )
    # WORK-4: what torch does with a dataset that does not split itself; to deliver it once is the user's to ask.
    # A dataset that splits itself can't be told from one that does not, unless it was split by ours.
    may_repeat = isinstance(request.dataset, IterableDataset) and not isinstance(request.dataset, Split)
    if may_repeat and request.workers > 1 and request.torch_options.get("worker_init_fn") is None:
        return (
            f"Each of the {request.workers} workers iterates the whole dataset, so every element comes "
            f"{request.workers} times unless its __iter__ splits it by get_worker_info(): wrap the dataset in "
            f"split(dataset), split it there or in worker_init_fn, or use one worker."
        )
    return None
