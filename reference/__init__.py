"""The smallest readable loader that satisfies every clause of `specs/`, in the shape of PopTorch, on a CPU.

`import reference as poptorch` serves a script written for PopTorch as far as options, the DataLoader and the
AsynchronousDataAccessor go. Where to look: how many (`arithmetic`), which (`partition`), in which order (`shuffle`),
step by step (`sampler`, `dataloader`), by which worker (`splitting`, `worker`), how a step is made and what an error
makes of it (`collate`, `faults`, `passes`, `processes`), how steps are loaded ahead (`ring`; then `consumer` on one
side, `producing`, `supply` and `layout` on the other; `accessor`, `asynchronous`), and how it is asked for (`options`).
"""

from .accessor import AsynchronousDataAccessor
from .arithmetic import Plan, Share, make_plan
from .dataloader import DataLoader
from .enums import (
    AutoStage,
    CommGroupType,
    ConnectionType,
    DataLoaderMode,
    HalfFloatCastingBehavior,
    Liveness,
    MeanReductionStrategy,
    OutputMode,
    OverlapMode,
    ReductionType,
    SharingStrategy,
    SyncPattern,
    VariableRetrievalMode,
)
from .execution import (
    ParallelPhasedExecution,
    Phase,
    PipelinedExecution,
    SerialPhasedExecution,
    ShardedExecution,
    Stage,
    TensorLocationSettings,
)
from .layout import ICustomArgParser, registerCustomArgParser
from .options import Options
from .options_source import ConfigFileError
from .splitting import split, split_worker_init_fn

__all__ = [
    "AsynchronousDataAccessor",
    "AutoStage",
    "CommGroupType",
    "ConfigFileError",
    "ConnectionType",
    "DataLoader",
    "DataLoaderMode",
    "HalfFloatCastingBehavior",
    "ICustomArgParser",
    "Liveness",
    "MeanReductionStrategy",
    "Options",
    "OutputMode",
    "OverlapMode",
    "ParallelPhasedExecution",
    "Phase",
    "PipelinedExecution",
    "Plan",
    "ReductionType",
    "SerialPhasedExecution",
    "ShardedExecution",
    "Share",
    "SharingStrategy",
    "Stage",
    "SyncPattern",
    "TensorLocationSettings",
    "VariableRetrievalMode",
    "make_plan",
    "registerCustomArgParser",
    "split",
    "split_worker_init_fn",
]
