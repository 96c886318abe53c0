"""The smallest readable loader and device that satisfy every clause of `specs/`, in the shape of PopTorch, on a CPU.

`import reference as poptorch` serves a script written for PopTorch as far as options, the DataLoader, the
AsynchronousDataAccessor and the models go. The files beside this one are the names that scripts ask for; how each works
stands in the folders:

- `rules/`: how many (`arithmetic`), which (`partition`), in which order (`orders`, by `shuffle` or `feistel`), step by
  step (`sampler`), by which worker (`splitting`); pure functions, each line below the clause that it obeys
- `options/`: what is asked for, and where the values come from
- `loading/`: how a step is made (`collate`, `join`, `worker`), what an error makes of it (`faults`), and how an epoch
  ends (`passes`, `processes`) or is resumed (`restarts`)
- `ahead/`: the ring of shared memory, and the processes that fill it
- `device/`: a step on the emulated device; `launch/`: one program as several instances; `pipelines/`: graphs of pipes;
  `datapipes/`: the pipes that torch has no more

To follow one step from the loop to shared memory, read in this order:

1. `dataloader.py`, `DataLoader.__iter__` and `_begun`: which epoch, and whether it is loaded ahead
2. `loading/request.py`, `make_request`: what the options mean for this rank; `rules/sampler.py`: its steps as indices
3. without reading ahead: `loading/passes.py`, `Pass.__next__`, then `loading/processes.py` and `loading/collate.py`
4. ahead: `ahead/asynchronous.py`, `consumer_of`: who fills the ring; `ahead/ring.py`: its table of moves, on paper
5. `ahead/consumer.py`, `Pass.__next__`: take the oldest slot, give back the one before; `ahead/supply.py` and
   `ahead/producing.py`: the other side, a process that makes items of indices
6. `ahead/layout.py` and `ahead/gather.py`: where an item's tensors lie in a slot; `ahead/shared_memory.py`: the slots
"""

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
