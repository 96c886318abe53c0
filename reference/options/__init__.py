"""What is asked for: `Options` and its parts, and where their values come from. PopTorch has the same names here."""

from .execution import (
    Attribute,
    ParallelPhasedExecution,
    Phase,
    PipelinedExecution,
    SerialPhasedExecution,
    ShardedExecution,
    Stage,
    TensorLocationSettings,
)
from .options import Options
from .source import ConfigFileError

BlockId = str

__all__ = [
    "Attribute",
    "BlockId",
    "ConfigFileError",
    "Options",
    "ParallelPhasedExecution",
    "Phase",
    "PipelinedExecution",
    "SerialPhasedExecution",
    "ShardedExecution",
    "Stage",
    "TensorLocationSettings",
]
