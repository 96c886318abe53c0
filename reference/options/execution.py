"""Decides how the objects that hardware setters take are written down: as their arguments, without effect.

Execution strategies, their stages and phases, and tensor locations. They exist so that scripts for the device
build them and pass them on; the emulated device has no stages and one kind of memory.
"""

from typing import Self, TypeVar

from ..enums import AutoStage
from ..rules.checks import check_flag, check_integer, show


class Recorded:
    """An object that remembers what it was made with and what was called on it."""

    def __init__(self, *args: object) -> None:
        self._arguments = args
        self._calls: dict[str, object] = {}

    def _record(self, name: str, value: object) -> Self:
        self._calls[name] = value
        return self

    def toDict(self) -> dict[str, object]:
        """Return the class, the arguments and the calls as plain data."""
        return {"type": type(self).__name__, "arguments": _written(self._arguments), **self._calls}


def _written(value: object) -> object:
    if isinstance(value, list | tuple):
        return [_written(item) for item in value]
    return value.toDict() if isinstance(value, Recorded) else value


class TensorLocationSettings(Recorded):
    """Where a kind of tensor is stored."""

    def minElementsForOffChip(self, min_elements: int) -> Self:
        """Record from how many elements on a tensor leaves the chip."""
        return self._record("minElementsForOffChip", check_integer("min_elements", min_elements, least=0))

    def minElementsForReplicatedTensorSharding(self, min_elements: int) -> Self:
        """Record from how many elements on a tensor is sharded over the replicas."""
        number = check_integer("min_elements", min_elements, least=0)
        return self._record("minElementsForReplicatedTensorSharding", number)

    def useOnChipStorage(self, use: bool | None = True) -> Self:
        """Record whether tensors stay on the chip; None takes the record back."""
        if use is None:
            self._calls.pop("useOnChipStorage", None)
            return self
        return self._record("useOnChipStorage", check_flag("use", use))

    def useReplicatedTensorSharding(self, use: bool = True) -> Self:
        """Record whether tensors are sharded over the replicas."""
        return self._record("useReplicatedTensorSharding", check_flag("use", use))

    def useIOTilesToLoad(self, use: bool = True) -> Self:
        """Record whether tensors are loaded through tiles of their own."""
        return self._record("useIOTilesToLoad", check_flag("use", use))

    def useIOTilesToStore(self, use: bool = True) -> Self:
        """Record whether tensors are stored through tiles of their own."""
        return self._record("useIOTilesToStore", check_flag("use", use))


class Stage(Recorded):
    """Blocks that run on one chip."""

    @property
    def blocks(self) -> tuple[object, ...]:
        """The names of the blocks."""
        return self._arguments

    def ipu(self, ipu: int) -> Self:
        """Record the chip of the stage."""
        return self._record("ipu", check_integer("ipu", ipu, least=0))


class Phase(Recorded):
    """Stages that run at the same time; names of blocks make one stage."""

    def __init__(self, *given: object) -> None:
        stages = [each for each in given if isinstance(each, Stage)]
        self.stages = stages if len(stages) == len(given) else [Stage(*given)]
        super().__init__(*self.stages)

    def stage(self, idx: int) -> Stage:
        """Return one of its stages, counted from 0."""
        return self.stages[check_integer("idx", idx, least=0, most=len(self.stages) - 1)]

    def ipus(self, *ipus: int) -> Self:
        """Record one chip for each stage."""
        return self._record("ipus", [check_integer("ipu", ipu, least=0) for ipu in ipus])


_Kind = TypeVar("_Kind", Stage, Phase)


def _made(kind: type[_Kind], given: object) -> _Kind:
    """Return a stage or a phase; of names of blocks, or a list of them, it is made."""
    if isinstance(given, kind):
        return given
    return kind(*given) if isinstance(given, list | tuple) else kind(given)


class ExecutionStrategy(Recorded):
    """How a model is spread over chips."""

    _stages: list[Stage]

    def stage(self, block_id: str) -> Stage:
        """Return the stage of a block. Raises ValueError if none of those that were given has it."""
        for stage in self._stages:
            if block_id in stage.blocks:
                return stage
        known = [block for stage in self._stages for block in stage.blocks]
        raise ValueError(f"{show(block_id)} is no block of this {type(self).__name__}: use one of {show(known)}.")


class StagedExecution(ExecutionStrategy):
    """What a pipeline and shards share: their stages, or how the device finds them."""

    def __init__(self, *given: object) -> None:
        self._stages = [_made(Stage, each) for each in given if not isinstance(each, AutoStage)]
        super().__init__(*(self._stages or given))


class PipelinedExecution(StagedExecution):
    """Stages work on successive micro-batches at the same time."""


class ShardedExecution(StagedExecution):
    """Stages work one after the other."""


class PhasedExecution(ExecutionStrategy):
    """Phases work one after the other; what the two concrete strategies share."""

    def __init__(self, *phases: object) -> None:
        self._phases = [_made(Phase, each) for each in phases]
        self._stages = [stage for phase in self._phases for stage in phase.stages]
        super().__init__(*self._phases)

    def phase(self, phase: int) -> Phase:
        """Return one of the phases, counted from 0."""
        return self._phases[check_integer("phase", phase, least=0, most=len(self._phases) - 1)]

    def useSeparateBackwardPhase(self, use: bool = True) -> Self:
        """Record whether the backward pass has phases of its own."""
        return self._record("useSeparateBackwardPhase", check_flag("use", use))


class ParallelPhasedExecution(PhasedExecution):
    """Phases alternate between two groups of chips."""

    def sendTensorsOffChipAfterFwd(self, off_chip: bool = True) -> Self:
        """Record whether tensors leave the chip after the forward pass."""
        return self._record("sendTensorsOffChipAfterFwd", check_flag("off_chip", off_chip))


class SerialPhasedExecution(PhasedExecution):
    """Phases share one group of chips."""

    def setTensorsLiveness(self, liveness: object) -> Self:
        """Record how long tensors stay on the chip."""
        return self._record("setTensorsLiveness", liveness)


class Attribute:
    """Attributes of the operations inside, as a context: `with poptorch.Attribute(serialize={...}): ...`."""

    def __init__(self, **attributes: object) -> None:
        """Accept attributes by name."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None
