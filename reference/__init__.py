"""The smallest readable loader and device that satisfy every clause of `specs/`, in the shape of PopTorch, on a CPU.

`import reference as poptorch` serves a script written for PopTorch as far as options, the DataLoader, the
AsynchronousDataAccessor and the models go. Where to look: how many (`arithmetic`), which (`partition`), in which order
(`shuffle`), step by step (`sampler`, `dataloader`), by which worker (`splitting`, `worker`), how a step is made and
what an error makes of it (`collate`, `faults`, `passes`, `processes`), how steps are loaded ahead (`ring`; then
`consumer` on one side, `producing`, `supply` and `layout` on the other; `accessor`, `asynchronous`), how a step runs on
the emulated device (`micro_batches`, `executor`, `outputs`; `instances` between ranks; `device`, `optim`), and how it
is asked for (`options`).
"""

from . import optim
from .accessor import AsynchronousDataAccessor
from .ahead.layout import ICustomArgParser, registerCustomArgParser
from .dataloader import DataLoader
from .device.hardware import (
    BeginBlock,
    Block,
    BlockFunction,
    ipu_print_tensor,
    ipuHardwareIsAvailable,
    nop,
    recomputationCheckpoint,
    set_available_memory,
    set_overlap_for_input,
    set_overlap_for_output,
    setLogLevel,
)
from .device.losses import identity_loss
from .device.models import PoplarExecutor, inferenceModel, trainingModel
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
from .options.execution import (
    ParallelPhasedExecution,
    Phase,
    PipelinedExecution,
    SerialPhasedExecution,
    ShardedExecution,
    Stage,
    TensorLocationSettings,
)
from .options.options import Options
from .options.source import ConfigFileError
from .rules.arithmetic import Plan, Share, make_plan
from .rules.splitting import split, split_worker_init_fn

__all__ = [
    "AsynchronousDataAccessor",
    "AutoStage",
    "BeginBlock",
    "Block",
    "BlockFunction",
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
    "PoplarExecutor",
    "ReductionType",
    "SerialPhasedExecution",
    "ShardedExecution",
    "Share",
    "SharingStrategy",
    "Stage",
    "SyncPattern",
    "TensorLocationSettings",
    "VariableRetrievalMode",
    "identity_loss",
    "inferenceModel",
    "ipuHardwareIsAvailable",
    "ipu_print_tensor",
    "make_plan",
    "nop",
    "optim",
    "recomputationCheckpoint",
    "registerCustomArgParser",
    "setLogLevel",
    "set_available_memory",
    "set_overlap_for_input",
    "set_overlap_for_output",
    "split",
    "split_worker_init_fn",
    "trainingModel",
]
