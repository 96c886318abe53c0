"""The adapter by which the conformance suite judges this package: decides what is promised, and how it is asked.

It needs nothing of the suite: `load` takes any object with the attributes that it reads.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils.data import ConcatDataset, IterableDataset, Subset

from . import training
from .dataloader import DataLoader
from .dataloader2 import DataLoader2
from .device.models import PoplarExecutor, inferenceModel, trainingModel
from .enums import DataLoaderMode, OutputMode, ReductionType, SharingStrategy, ShuffleMethod
from .launch.launched import job_from_environment
from .options.options import Options
from .popdist.poptorch import Options as LaunchedOptions
from .reading_service import DistributedReadingService, MultiProcessingReadingService, SequentialReadingService
from .rules.choosing import BoundedBatches, ChosenBatches, GroupedBatches, ReachingBatches
from .rules.mixing import MixedBatches
from .rules.splitting import splitter
from .rules.streams import EpochSplit, shuffled

# What a request may ask for beyond the loader's own arguments, and of a loader that reads ahead.
HOOKS = ("collate_fn", "worker_init_fn", "timeout", "persistent_workers", "sampler", "batch_sampler", "generator")
TELLS = ("set_epoch",)
AHEAD = ("buffer_size", "early_preload", "load_indefinitely", "rebatched")

claims: dict[str, Any] = dict(
    datasets=("map", "iterable"),
    when_dropping="drop",
    when_keeping="uneven",
    layout="contiguous",
    shuffle="global",
    workers=True,
    iterable_workers="split",
    epochs="automatic",
    length=True,
    resume=True,
    end_of_epoch="next",
    device_options=True,
    asynchronous=True,
    # A slot of the ring is filled again once the next step is asked for (ASYNC-2).
    aliases="asynchronous",
    hooks=HOOKS + TELLS + AHEAD,
    device=("training", "inference", "outputs", "synthetic", "ranks"),
    launcher="settings",
    pipelines=("workers", "ranks", "dispatch", "initialiser", "pause", "services"),
    batches=("grouped", "budget", "at_least"),
    oversized="refuse",
    stream_shuffle="buffered",
    subsets=True,
    mixtures=("first_exhausted", "all_exhausted"),
    loop="step",
    checkpoints=True,
)

_MODES = {
    "default": OutputMode.Default,
    "all": OutputMode.All,
    "final": OutputMode.Final,
    "every_n": OutputMode.EveryN,
    "sum": OutputMode.Sum,
}


def load(request: Any) -> DataLoader:
    """Return one rank's loader for the request."""
    if getattr(request, "sources", ()):
        return _of_batches(request, ConcatDataset(request.sources), _mixed(request))
    if getattr(request, "batches", ""):
        return _of_batches(request, request.dataset, _batches(request))
    return loader(request, ShuffleMethod.Sort)


def loader(request: Any, method: ShuffleMethod) -> DataLoader:
    """Return one rank's loader for the request, which shuffles by the method."""
    is_stream = isinstance(request.dataset, IterableDataset)
    asked = {name: getattr(request, name, None) for name in HOOKS}
    # torch's rule: a sampler is the order, and a batch sampler the batches, so that nothing else may say what they are.
    is_ordered = asked["sampler"] is not None or asked["batch_sampler"] is not None
    dataset = _shared_out(request) if is_stream else _chosen(request)
    return DataLoader(
        _options(request).shuffleMethod(method),
        dataset,
        batch_size=1 if asked["batch_sampler"] is not None else request.batch_size,
        # A stream has no order that could be changed.
        shuffle=None if is_stream or is_ordered else request.shuffle,
        drop_last=request.drop_last,
        num_workers=request.num_workers,
        auto_distributed_partitioning=not is_stream and not is_ordered,
        # torch refuses persistent workers where there are none.
        persistent_workers=bool(asked.pop("persistent_workers")) and request.num_workers > 0,
        **{name: value for name, value in asked.items() if value is not None},
        **_ahead(request),
    )


def _chosen(request: Any) -> Any:
    """Return the dataset, or the part of it that is asked for."""
    indices = getattr(request, "indices", None)
    if indices is None:
        return request.dataset
    # SUBSET-1, SUBSET-2, SUBSET-3, SUBSET-6: to the loader it is a dataset of so many samples, in this order.
    # SUBSET-4, SUBSET-5: the list is a copy, and nothing is kept with the dataset, so that others may have both.
    return Subset(request.dataset, list(indices))


def _shared_out(request: Any) -> EpochSplit:
    """Return one rank's share of a stream, which hears of epochs."""
    if request.shuffle:
        return shuffled(request.dataset, request.seed, request.rank, request.world_size)
    return EpochSplit(request.dataset, splitter(request.rank, request.world_size))


def _of_batches(request: Any, dataset: Any, batches: ChosenBatches) -> DataLoader:
    """Return a loader of steps whose members are chosen by the batches."""
    return DataLoader(
        _options(request),
        dataset,
        batch_sampler=batches,
        num_workers=request.num_workers,
        auto_distributed_partitioning=False,
        persistent_workers=request.persistent_workers and request.num_workers > 0,
    )


def _batches(request: Any) -> ChosenBatches:
    """Return the steps of one rank that the request asks for: of one group each, or of a bounded size (chapter 11)."""
    seed = request.seed if request.shuffle else None
    shares = (request.world_size, request.rank, request.drop_last, seed)
    if request.batches == "grouped":
        return GroupedBatches(request.groups, request.batch_size, *shares)
    kind = BoundedBatches if request.batches == "budget" else ReachingBatches
    return kind(request.sizes, request.budget, *shares)


def _mixed(request: Any) -> MixedBatches:
    """Return the steps of one rank of a mixture."""
    sizes = [len(source) for source in request.sources]
    shares = (request.world_size, request.rank, request.drop_last)
    return MixedBatches(
        sizes, request.weights, request.stop, request.batch_size, *shares, seed=request.seed, shuffle=request.shuffle
    )


def model(request: Any) -> PoplarExecutor:
    """Return one rank's model for the request: a function of the tensors of one step."""
    options = _factored(request)
    reduction = ReductionType.Sum if request.reduction == "sum" else ReductionType.Mean
    options.Training.accumulationAndReplicationReductionType(reduction)
    options.outputMode(_MODES[request.output_mode], request.output_period)
    options.enableSyntheticData(request.synthetic)
    if request.optimizer is None:
        return inferenceModel(request.module, options)
    return trainingModel(request.module, options, request.optimizer)


def pipeline(request: Any) -> DataLoader2:
    """Return one rank's loader of a pipeline."""
    workers = _workers(request)
    if request.world_size == 1:
        return DataLoader2(request.datapipe, reading_service=workers)
    services = SequentialReadingService(DistributedReadingService(), workers)
    return DataLoader2(request.datapipe, reading_service=services)


def wrong_order(request: Any) -> DataLoader2:
    """Return, if it can be had, a loader whose workers are started before they know their rank (PIPE-20)."""
    services = SequentialReadingService(_workers(request), DistributedReadingService())
    return DataLoader2(request.datapipe, reading_service=services)


def train(request: Any) -> Any:
    """Train as the request asks; return what resumes it."""
    names = ("loader", "module", "optimizer", "loss", "accumulation", "epochs", "validation", "stop_after", "state")
    return training.train(**{name: getattr(request, name) for name in names})


def _workers(request: Any) -> MultiProcessingReadingService:
    """Workers that call the request's initialiser."""

    def init(datapipe: Any, info: Any) -> Any:
        request.worker_init_fn(info.worker_id)
        return datapipe

    return MultiProcessingReadingService(request.num_workers, worker_init_fn=init if request.worker_init_fn else None)


def _ahead(request: Any) -> dict[str, Any]:
    """How the loader reads ahead, if it is to."""
    if not getattr(request, "asynchronous", False):
        return {}
    rebatched = getattr(request, "rebatched", False)
    options = {
        "buffer_size": getattr(request, "buffer_size", 0) or 3,
        "early_preload": getattr(request, "early_preload", False),
        "load_indefinitely": getattr(request, "load_indefinitely", True),
        # The dataset may exist in this process only.
        "sharing_strategy": SharingStrategy.Fork,
    }
    return {"mode": DataLoaderMode.AsyncRebatched if rebatched else DataLoaderMode.Async, "async_options": options}


def _factored(request: Any) -> Options:
    """The options that loader and model must share: what a step is, and whose."""
    options = Options()
    options.deviceIterations(request.device_iterations)
    options.replicationFactor(request.replication_factor)
    options.Training.gradientAccumulation(request.gradient_accumulation)
    options.Distributed.configureProcessId(request.rank, request.world_size)
    return options


def _options(request: Any) -> Options:
    options = _factored(request)
    # `randomSeed` is documented to seed torch as well: that is this call's doing, and not the loader's (ORDER-10).
    # WORK-20: without a seed of its own the loader draws one from the generator that it is given.
    if getattr(request, "generator", None) is None:
        with _undisturbed():
            options.randomSeed(request.seed)
    return options


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Put torch's global generator back as it was."""
    state = torch.get_rng_state()
    try:
        yield
    finally:
        torch.set_rng_state(state)


# --- the launcher: chapter 7 ----------------------------------------------------------------------------------------


def launch(program: Sequence[str], replicas: int, instances: int) -> list[str]:
    """Return the command line that starts a program; nothing is started here."""
    asked = ["--num-replicas", str(replicas), "--num-instances", str(instances)]
    return [sys.executable, "-m", "reference.poprun", *asked, *program]


def whoami() -> dict[str, int]:
    """Return what this instance knows of itself and of its job; a loader takes its rank from it (LAUNCH-4)."""
    job = job_from_environment()
    return dict(
        instance=job.instance,
        instances=job.instances,
        replicas=job.replicas,
        local_replicas=job.local_replicas,
        first_replica=job.first_replica,
    )


def tag(instance: int, stream: str) -> str:
    """Return what stands before each line of an instance's stdout or stderr."""
    return f"[1,{instance}]<{stream}>:"


def settings() -> dict[str, Callable[[], object]]:
    """Return what a script might try to set; each call is an error that names it (LAUNCH-9)."""
    return {
        "replicationFactor": lambda: LaunchedOptions().replicationFactor(2),
        "useIpuId": lambda: LaunchedOptions().useIpuId(0),
        "configureProcessId": lambda: LaunchedOptions().Distributed.configureProcessId(0, 1),
        "setEnvVarNames": lambda: LaunchedOptions().Distributed.setEnvVarNames("SIZE", "RANK"),
        "disable": lambda: LaunchedOptions().Distributed.disable(),
    }
