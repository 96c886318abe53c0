"""The names that scripts ask for, and where each is. `import reference` leads here when it is first asked for one."""

from . import optim, options
from .accessor import AsynchronousDataAccessor
from .ahead.layout import ICustomArgParser, registerCustomArgParser
from .dataloader import DataLoader
from .device.errors import Error, RecoverableError, UnrecoverableError
from .device.hardware import (
    BeginBlock,
    Block,
    BlockFunction,
    ipu_print_tensor,
    ipuHardwareIsAvailable,
    isRunningOnIpu,
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
    ShuffleMethod,
    SyncPattern,
    VariableRetrievalMode,
)
from .options.execution import (
    Attribute,
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
from .rules.orders import epoch_order
from .rules.splitting import split, split_worker_init_fn

__all__ = [
    "AsynchronousDataAccessor",
    "Attribute",
    "AutoStage",
    "BeginBlock",
    "Block",
    "BlockFunction",
    "CommGroupType",
    "ConfigFileError",
    "ConnectionType",
    "DataLoader",
    "DataLoaderMode",
    "Error",
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
    "RecoverableError",
    "ReductionType",
    "SerialPhasedExecution",
    "ShardedExecution",
    "Share",
    "SharingStrategy",
    "ShuffleMethod",
    "Stage",
    "SyncPattern",
    "TensorLocationSettings",
    "UnrecoverableError",
    "VariableRetrievalMode",
    "epoch_order",
    "identity_loss",
    "inferenceModel",
    "ipuHardwareIsAvailable",
    "ipu_print_tensor",
    "isRunningOnIpu",
    "make_plan",
    "nop",
    "optim",
    "options",
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
