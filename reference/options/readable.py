"""Decides under which names the values of hardware setters can be read and set: PopTorch's, with its defaults.

    options.log_dir                 # ".", or what logDir was called with
    options.log_dir = "logs"        # the same as options.logDir("logs")

Some exist only once their setter was called; before that, reading them is an AttributeError, as it is there.
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ..enums import ConnectionType, HalfFloatCastingBehavior, MeanReductionStrategy, OutputMode, SyncPattern

MISSING = object()


@dataclass(frozen=True, slots=True)
class Readable:
    """The setter of a value, what holds before it was called, and what is told of its arguments."""

    setter: str
    default: object = MISSING
    told: Callable[[Any], object] | None = None
    """None: the argument itself, which can also be assigned."""


def _anchored(calls: list[tuple[Any, ...]]) -> dict[str, list[object]]:
    """Of each tensor: its long name, whether it follows the outputs, its mode, its period."""
    return {
        short: [long, mode is None, mode, period if mode is OutputMode.EveryN else 1]
        for short, long, mode, period in calls
    }


def _by_number(proportions: dict[str, float]) -> dict[int, float]:
    return {int(name.removeprefix("IPU")): share for name, share in proportions.items()}


# Group -> value -> its setter. "" is Options itself.
READABLE: MappingProxyType[str, dict[str, Readable]] = MappingProxyType(
    {
        "": {
            "anchored_tensors": Readable("anchorTensor", {}, _anchored),
            "auto_round_num_ipus": Readable("autoRoundNumIPUs", False),
            "available_memory_proportion": Readable("setAvailableMemoryProportion", {}, _by_number),
            "broadcast_buffers": Readable("broadcastBuffers", True),
            "connection_type": Readable("connectionType", ConnectionType.Always),
            "ipu_id": Readable("useIpuId"),
            "ipu_version": Readable("useOfflineIpuTarget"),
            "log_dir": Readable("logDir", "."),
            "model_name": Readable("modelName"),
            "sync_pattern": Readable("syncPattern", SyncPattern.Full),
            "use_model": Readable("useIpuModel"),
        },
        "Training": {
            "meanAccumulationAndReplicationReductionStrategy": Readable(
                "setMeanAccumulationAndReplicationReductionStrategy", MeanReductionStrategy.Post
            ),
        },
        "Distributed": {"ipuof_configs": Readable("setIPUoFConfig", {})},
        "Jit": {"trace_model": Readable("traceModel", True)},
        "Precision": {
            "autocast_enabled": Readable("autocastEnabled", True),
            "autocast_policy": Readable("autocastPolicy"),
            "half_float_casting": Readable("halfFloatCasting", HalfFloatCastingBehavior.Default),
            "running_statistics_always_float": Readable("runningStatisticsAlwaysFloat"),
        },
        "TensorLocations": {
            f"location_{kind.lower()}": Readable(f"set{kind}Location", MISSING, lambda location: location.toDict())
            for kind in ("Accumulator", "Activation", "Optimizer", "Weight")
        },
    }
)
