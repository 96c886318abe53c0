"""Decides which setters concern only the hardware: accepted and recorded, without any effect here.

A script written for the device calls them; it must run unchanged. Their arguments are checked as far as a
wrong call is certainly a mistake: their number, their names and the type of each.
"""

import inspect
from dataclasses import dataclass
from types import MappingProxyType

from ..enums import ConnectionType, HalfFloatCastingBehavior, MeanReductionStrategy, OutputMode, SyncPattern
from ..rules.checks import check_type
from .execution import ExecutionStrategy, TensorLocationSettings

ANYTHING = (object,)
REQUIRED = inspect.Parameter.empty


@dataclass(frozen=True, slots=True)
class Setter:
    """The parameters of a setter: name, type (or types), and default or REQUIRED."""

    parameters: tuple[tuple[str, type | tuple[type, ...], object], ...] = ()
    any_number: bool = False
    """Whether it takes any number of strings instead."""
    adds_up: bool = False
    """Whether every call is remembered, and not the last one alone."""

    def bind(self, path: str, args: tuple[object, ...], kwargs: dict[str, object]) -> tuple[object, ...]:
        """Return the value of every parameter; raise TypeError for wrong arguments."""
        if self.any_number:
            for value in args:
                check_type(f"{path}, every argument", value, str)
            return (list(args),)
        try:
            bound = self._signature().bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{path} can't be called like this ({error}): call {path}{self._signature()}.") from None
        bound.apply_defaults()
        for name, kind, default in self.parameters:
            value = bound.arguments[name]
            if not (value is None and default is None):
                check_type(f"{path}, argument {name},", value, kind)
        return tuple(bound.arguments.values())

    def _signature(self) -> inspect.Signature:
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        return inspect.Signature(
            [inspect.Parameter(name, kind, default=default) for name, _, default in self.parameters]
        )


def takes(name: str, kind: type | tuple[type, ...], default: object = REQUIRED) -> Setter:
    """Return a setter of one parameter."""
    return Setter(((name, kind, default),))


FLAG = takes("enabled", bool)

# Group -> setter -> parameters. "" is Options itself.
HARDWARE_SETTERS: MappingProxyType[str, dict[str, Setter]] = MappingProxyType(
    {
        "": {
            "anchorTensor": Setter(
                (
                    ("short_name", str, REQUIRED),
                    ("long_name", str, REQUIRED),
                    ("output_mode", OutputMode, None),
                    ("output_return_period", int, 1),
                ),
                adds_up=True,
            ),
            "appendToLocationExcludes": Setter(any_number=True),
            "autoRoundNumIPUs": takes("auto_round_num_ipus", bool, True),
            "broadcastBuffers": takes("broadcast_buffers", bool, True),
            "connectionType": takes("connection_type", ConnectionType),
            "disableModuleNamescope": Setter(),
            "enableExecutableCaching": takes("path", str, None),
            "enableProfiling": takes("profile_dir", str, None),
            "enableStableNorm": FLAG,
            "logCycleCount": takes("log_cycle_count", bool),
            "logDir": takes("log_dir", str),
            "maxRepeatLogs": takes("max_lines", int, None),
            "modelName": takes("name", str),
            "relaxOptimizerAttributesChecks": takes("relax", bool, True),
            "setAvailableMemoryProportion": takes("available_memory_proportion", dict),
            "setExecutionStrategy": takes("strategy", ExecutionStrategy),
            "showCompilationProgressBar": takes("show", bool, True),
            "sourceLocationExcludes": takes("excludes", list),
            "syncPattern": takes("sync_pattern", SyncPattern),
            "updatableNamedBuffers": takes("buffers", list),
            "useIpuId": takes("ipu_id", int),
            "useIpuModel": takes("use_model", bool),
            "useOfflineIpuTarget": takes("ipu_version", int, 2),
        },
        "Training": {
            "setAutomaticLossScaling": FLAG,
            "setConvolutionDithering": FLAG,
            "setMeanAccumulationAndReplicationReductionStrategy": takes(
                "mean_reduction_strategy", MeanReductionStrategy
            ),
        },
        "Distributed": {
            "setIPUoFConfig": takes("configs", ANYTHING),
        },
        "Jit": {
            "traceModel": takes("trace_model", bool),
        },
        "Precision": {
            "autocastEnabled": FLAG,
            "autocastPolicy": takes("autocast_policy", ANYTHING),
            "enableFloatingPointExceptions": FLAG,
            "enableStochasticRounding": FLAG,
            "halfFloatCasting": takes("half_float_casting", HalfFloatCastingBehavior),
            "runningStatisticsAlwaysFloat": takes("value", bool),
            "runningVarianceAlwaysFloat": takes("value", bool),
            "setPartialsType": takes("dtype", ANYTHING),
        },
        "TensorLocations": {
            "numIOTiles": takes("num_tiles", int),
            "setAccumulatorLocation": takes("location", TensorLocationSettings),
            "setActivationLocation": takes("location", TensorLocationSettings),
            "setOptimizerLocation": takes("location", TensorLocationSettings),
            "setWeightLocation": takes("location", TensorLocationSettings),
        },
        "_Popart": {
            "setEngineOptions": takes("engine_options", dict),
            "setPatterns": Setter((("patterns", dict, REQUIRED), ("level", int, 2))),
        },
    }
)
