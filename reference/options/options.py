"""Decides what an `Options` object holds and how it is set: one process's share of a job, and what a step is.

    options = Options()
    options.deviceIterations(4).replicationFactor(2)
    options.Training.gradientAccumulation(8)

Values come from three places. The launcher's variables give rank and world size (`launch/launched.py` says which); the
JSON object in the environment variable POPTORCH_DEFAULT_OPTIONS overrides them and the
defaults; a setter that the script calls overrides both.

Frozen after first use. A DataLoader or a model that is built with options freezes them, because a later
change would silently not reach it: every setter then raises AttributeError. One setter stays open:
**enableSyntheticData**. It changes nothing about what a loader delivers, and tutorials switch it on after a
loader was built, for the model that they build next. That model sees it; one built before does not.
"""

import copy
import os
from pathlib import Path
from typing import Self

import torch

from ..enums import CommGroupType, OutputMode, ShuffleMethod
from ..rules.checks import check_flag, check_integer, check_type
from ..rules.shuffle import check_seed
from .group import Group
from .hardware import HARDWARE_SETTERS
from .parts import DistributedOptions, PopartOptions, TrainingOptions
from .source import DEFAULT_OPTIONS_VARIABLE, apply_file, apply_json


class Options(Group):
    """All options of one process; see the module docstring."""

    _distributed_kind = DistributedOptions

    def __init__(self) -> None:
        super().__init__(
            "Options",
            HARDWARE_SETTERS[""],
            replication_factor=1,
            device_iterations=1,
            output_mode=OutputMode.Default,
            output_return_period=1,
            input_group_size=1,
            input_group_type=CommGroupType.NoGrouping,
            synthetic_data=False,
            shuffle_method=ShuffleMethod.Sort,
        )
        self._training = TrainingOptions()
        self._distributed = self._distributed_kind()
        self._popart = PopartOptions()
        self._hardware_groups = {
            name: Group(f"Options.{name}", HARDWARE_SETTERS[name]) for name in ("Jit", "Precision", "TensorLocations")
        }
        if DEFAULT_OPTIONS_VARIABLE in os.environ:
            apply_json(self, os.environ[DEFAULT_OPTIONS_VARIABLE])

    @property
    def Training(self) -> TrainingOptions:
        """How gradients become one weight update."""
        return self._training

    @property
    def Distributed(self) -> DistributedOptions:
        """Which process of how many this is."""
        return self._distributed

    @property
    def Jit(self) -> Group:
        """How models are traced. No effect here."""
        return self._hardware_groups["Jit"]

    @property
    def Precision(self) -> Group:
        """Number formats on the hardware. No effect here."""
        return self._hardware_groups["Precision"]

    @property
    def TensorLocations(self) -> Group:
        """Memory of the hardware. No effect here."""
        return self._hardware_groups["TensorLocations"]

    @property
    def _Popart(self) -> PopartOptions:
        """Settings of the hardware's compiler. No effect here."""
        return self._popart

    def deviceIterations(self, device_iterations: int) -> Self:
        """Set how many weight updates (in inference: runs) one step of the loader feeds."""
        return self.set(device_iterations=check_integer("deviceIterations", device_iterations))

    def replicationFactor(self, replication_factor: int) -> Self:
        """Set how many replicas of the model this process drives."""
        return self.set(replication_factor=check_integer("replicationFactor", replication_factor))

    def randomSeed(self, random_seed: int) -> Self:
        """Set the seed of shuffles and of the device, and seed torch's global generator with it.

        This is the one place that touches that generator, at the user's own word; loaders leave it alone.
        """
        seed = check_seed(random_seed)
        self._add("random_seed", seed)
        torch.manual_seed(seed)
        return self

    def _checked(self, name: str, value: object) -> object:
        return check_seed(value) if name == "random_seed" else super()._checked(name, value)

    def _seed(self) -> int | None:
        """Return the random seed, or None before randomSeed was called."""
        seed = self._values.get("random_seed")
        return seed if isinstance(seed, int) else None

    def shuffleMethod(self, shuffle_method: ShuffleMethod) -> Self:
        """Set how a shuffled epoch's order is made; ShuffleMethod.Feistel needs no list of the samples."""
        check_type("shuffleMethod", shuffle_method, ShuffleMethod)
        return self.set(shuffle_method=shuffle_method)

    def outputMode(self, output_mode: OutputMode, output_return_period: int | None = None) -> Self:
        """Set which results a call of the model returns; EveryN needs a period."""
        check_type("outputMode", output_mode, OutputMode)
        if output_mode is OutputMode.EveryN and output_return_period is None:
            raise ValueError("outputMode is EveryN without a period: give outputMode(OutputMode.EveryN, 2).")
        period = 1
        if output_return_period is not None:
            period = check_integer("output_return_period", output_return_period)
        return self.set(output_mode=output_mode, output_return_period=period)

    def defaultOutputMode(self) -> bool:
        """Return whether outputMode is still OutputMode.Default."""
        return self._values["output_mode"] is OutputMode.Default

    def inputReplicaGrouping(self, input_group_size: int, input_group_type: CommGroupType) -> Self:
        """Set how many replicas share each input: a step then feeds replication_factor / size replicas."""
        check_type("inputReplicaGrouping, argument input_group_type,", input_group_type, CommGroupType)
        size = check_integer("inputReplicaGrouping, argument input_group_size,", input_group_size)
        return self.set(input_group_size=size, input_group_type=input_group_type)

    def enableSyntheticData(self, enabled: bool) -> Self:
        """Set whether the device makes its own inputs. Allowed when frozen; see the module docstring."""
        self._values["synthetic_data"] = check_flag("enableSyntheticData", enabled)
        return self

    def loadFromFile(self, filepath: str | Path) -> Self:
        """Call the setters that a config file names; `source.py` says how it is written."""
        self._check_not_frozen("loadFromFile")
        apply_file(self, filepath)
        return self

    def from_json(self, string: str) -> Self:
        """Call the setters that a JSON object names, dots for groups, each with its argument or list of arguments."""
        self._check_not_frozen("from_json")
        apply_json(self, string, "from_json, argument string,")
        return self

    def clone(self) -> Self:
        """Return a deep copy that is not frozen."""
        return copy.deepcopy(self)

    def toDict(self) -> dict[str, object]:
        """Return the values of all groups by name, enum members as numbers, with what was recorded."""
        merged: dict[str, object] = {}
        for group in self._groups():
            merged |= group._to_dict()
        return merged

    def _freeze(self) -> None:
        """Refuse changes from now on; loaders and models call this when they are built."""
        for group in self._groups():
            group._frozen = True

    def _groups(self) -> list[Group]:
        return [self, self._training, self._distributed, self._popart, *self._hardware_groups.values()]

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.toDict().items())
        return f"{type(self).__name__}({values})"
