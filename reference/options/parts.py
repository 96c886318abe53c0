"""Decides what the groups of `Options` hold that mean something here: training and distribution.

`PopartOptions` is the third that needs code: unlike other hardware settings, its names are free.
"""

from typing import Self

from ..enums import ReductionType
from ..launch.launched import from_environment, instance_from_environment
from ..rules.checks import check_integer, check_rank, check_type
from .group import Group
from .hardware import HARDWARE_SETTERS


class TrainingOptions(Group):
    """`Options.Training`: how gradients become one weight update."""

    def __init__(self) -> None:
        super().__init__(
            "Options.Training",
            HARDWARE_SETTERS["Training"],
            gradient_accumulation=1,
            accumulation_and_replication_reduction_type=ReductionType.Mean,
        )

    def gradientAccumulation(self, gradient_accumulation: int) -> Self:
        """Set how many micro-batches a replica works through before one weight update."""
        number = check_integer("Training.gradientAccumulation", gradient_accumulation)
        return self.set(gradient_accumulation=number)

    def accumulationAndReplicationReductionType(self, reduction_type: ReductionType) -> Self:
        """Set whether gradients are averaged (ReductionType.Mean) or added (ReductionType.Sum)."""
        name = "Training.accumulationAndReplicationReductionType"
        check_type(name, reduction_type, ReductionType)
        if reduction_type is ReductionType.NoReduction:
            raise ValueError(f"{name} is NoReduction, but gradients must be reduced: give Mean or Sum.")
        return self.set(accumulation_and_replication_reduction_type=reduction_type)


class DistributedOptions(Group):
    """`Options.Distributed`: which process of how many this is."""

    def __init__(self) -> None:
        super().__init__(
            "Options.Distributed",
            HARDWARE_SETTERS["Distributed"],
            num_distributed_processes=1,
            distributed_process_id=0,
        )
        rank, world_size = instance_from_environment()
        super().set(num_distributed_processes=world_size, distributed_process_id=rank)

    def configureProcessId(self, process_id: int, num_processes: int) -> Self:
        """Set rank and world size; raises unless 0 <= process_id < num_processes."""
        # BATCH-4: 0 <= rank < world size.
        rank, world_size = check_rank(process_id, num_processes)
        return self.set(num_distributed_processes=world_size, distributed_process_id=rank)

    def setEnvVarNames(self, var_num_processes: str, var_process_id: str) -> Self:
        """Read world size and rank from two environment variables; what is not set counts as 1 and 0."""
        world_size = from_environment(var_num_processes, 1)
        return self.configureProcessId(from_environment(var_process_id, 0), world_size)

    def disable(self) -> Self:
        """Be the only process, whatever the environment says."""
        return self.configureProcessId(0, 1)

    @property
    def processId(self) -> int:
        """The rank of this process, from 0."""
        return int(self.distributed_process_id)

    @property
    def numProcesses(self) -> int:
        """The world size."""
        return int(self.num_distributed_processes)


class PopartOptions(Group):
    """`Options._Popart`: settings of the hardware's compiler by their names, without effect."""

    def __init__(self) -> None:
        super().__init__("Options._Popart", HARDWARE_SETTERS["_Popart"])

    def set(self, key: str, value: object) -> Self:  # type: ignore[override]
        """Record a setting."""
        self._check_not_frozen("set")
        check_type("_Popart.set, argument key,", key, str)
        self._recorded[key] = value
        return self
