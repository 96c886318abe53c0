"""Decides the names and values of the choices that options take.

The values are those of PopTorch, so that stored numbers keep their meaning.
"""

from enum import Enum, IntEnum


class DataLoaderMode(IntEnum):
    """When steps are loaded: as they are asked for, or ahead, in other processes (rebatched: in other sizes)."""

    Sync = 0
    Async = 1
    AsyncRebatched = 2


class SharingStrategy(IntEnum):
    """How an asynchronous loader hands the dataset to its process."""

    SharedMemory = 0
    FileSystem = 1
    Fork = 2
    ForkServer = 3


class OutputMode(IntEnum):
    """Which results a call of the model returns; Default is All in inference and Final in training."""

    Final = 0
    EveryN = 1
    All = 2
    Sum = 3
    Default = 4


class ShuffleMethod(IntEnum):
    """How the order of a shuffled epoch is made: as a list, or without one (`rules/orders.py`). Not PopTorch's."""

    Sort = 0
    Feistel = 1


class ReductionType(IntEnum):
    """How gradients of micro-batches and replicas become one."""

    Sum = 0
    Mean = 1
    NoReduction = 2


class MeanReductionStrategy(IntEnum):
    """When a mean of gradients is divided: while it is summed, or afterwards. No effect here: it is the same mean."""

    Running = 0
    Post = 1
    PostAndLoss = 2


class CommGroupType(IntEnum):
    """Which replicas form a group that shares its input."""

    All = 0
    Consecutive = 1
    Orthogonal = 2
    NoGrouping = 3


class ConnectionType(IntEnum):
    """When to attach to the hardware. No effect here."""

    Always = 0
    OnDemand = 1
    Never = 2


class SyncPattern(IntEnum):
    """How chips wait for one another. No effect here."""

    Full = 0
    SinglePipeline = 1
    ReplicaAndLadder = 2


class HalfFloatCastingBehavior(IntEnum):
    """What becomes of float16 and float32 that meet. No effect here."""

    FloatDowncastToHalf = 0
    HalfUpcastToFloat = 1
    Default = 2


class OverlapMode(Enum):
    """Whether copies of tensors overlap the computation. No effect here."""

    NoOverlap = "no_overlap"
    OverlapAccumulationLoop = "overlap_accumulation_loop"
    OverlapDeviceIterationLoop = "overlap_device_iteration_loop"


class Liveness(IntEnum):
    """How long tensors stay on the chip under phased execution. No effect here."""

    AlwaysLive = 0
    OffChipAfterFwd = 1
    OffChipAfterFwdNoOverlap = 2
    OffChipAfterEachPhase = 3


class AutoStage(IntEnum):
    """How blocks become pipeline stages. No effect here."""

    SameAsIpu = 0
    AutoIncrement = 1


class VariableRetrievalMode(IntEnum):
    """Which replicas hand a tensor back. No effect here."""

    OnePerGroup = 0
    AllReplicas = 2
