"""Decides which options a script may not set under PopDist, because its launcher has: replicas, and who it is.

    options = popdist.poptorch.Options()
    options.replication_factor                 # as many as the launcher gives to each instance
    options.replicationFactor(2)               # RuntimeError

The same holds for a config file, for the default options in the environment, and for `set`.
"""

from typing import NoReturn, Self

from ..launch.launched import job_from_environment
from ..options.options import Options as _PlainOptions
from ..options.parts import DistributedOptions
from ..rules.checks import check_integer


def _refuse(name: str) -> NoReturn:
    # LAUNCH-9
    error = RuntimeError(f"Cannot call {name} with popdist.poptorch.Options")
    # The message is PopDist's own, which scripts and tests compare; what to do instead stands below it.
    error.add_note(
        "Replicas and instances are the launcher's: start the program with poprun --num-replicas R --num-instances I, "
        "or use poptorch.Options."
    )
    raise error


class _Distributed(DistributedOptions):
    """`Options.Distributed`, which only the launcher sets."""

    # With any arguments: what is wrong is the call, and not how it is written.

    def configureProcessId(self, *_: object, **__: object) -> Self:
        """Refuse."""
        _refuse("Distributed.configureProcessId")

    def setEnvVarNames(self, *_: object, **__: object) -> Self:
        """Refuse."""
        _refuse("Distributed.setEnvVarNames")

    def disable(self, *_: object, **__: object) -> Self:
        """Refuse."""
        _refuse("Distributed.disable")

    def set(self, **values: object) -> Self:
        """Refuse what the launcher has set."""
        for name in {"num_distributed_processes", "distributed_process_id"} & set(values):
            _refuse(f"Distributed.set({name})")
        return super().set(**values)


class Options(_PlainOptions):
    """The options of one instance, with as many replicas as its launcher gives to each; see the module docstring."""

    _distributed_kind = _Distributed

    def __init__(self, ipus_per_replica: int = 1) -> None:
        """Read the launcher's variables. `ipus_per_replica` concerns only hardware."""
        super().__init__()
        self._recorded["ipus_per_replica"] = check_integer("ipus_per_replica", ipus_per_replica)
        super().set(replication_factor=job_from_environment().local_replicas)

    def replicationFactor(self, *_: object, **__: object) -> Self:
        """Refuse."""
        _refuse("replicationFactor")

    def useIpuId(self, *_: object, **__: object) -> Self:
        """Refuse."""
        _refuse("useIpuId")

    def set(self, **values: object) -> Self:
        """Set values by name, except the one that the launcher has set."""
        if "replication_factor" in values:
            _refuse("set(replication_factor)")
        return super().set(**values)
