"""Decides how a process learns which instance (rank) of how many it is, and which replicas it drives: its environment.

Variables are read in pairs, number and index:

    OMPI_COMM_WORLD_SIZE, OMPI_COMM_WORLD_RANK    mpirun and poprun. What is not set of it counts as 1 and 0.
    WORLD_SIZE, RANK                              torchrun, poprun, and many clusters. Read only if both are set.

**OMPI's pair wins.** It is what PopTorch reads, and its names mean nothing else. But where both pairs are whole and do
not say the same, one launcher was started inside the other, nobody can know which was meant, and a wrong guess trains
on the wrong shards without a word: that is an error. A script that calls `Distributed.configureProcessId`, `disable`
or `setEnvVarNames` overrides all of it.

Without any of them the process is instance 0 of 1.
"""

import os
from dataclasses import dataclass
from math import gcd

from ..rules.checks import check_rank, show

OMPI_PAIR = ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK")
TORCH_PAIR = ("WORLD_SIZE", "RANK")
TOTAL_REPLICAS = "POPDIST_NUM_TOTAL_REPLICAS"
IPUS_PER_REPLICA = "POPDIST_NUM_IPUS_PER_REPLICA"


@dataclass(frozen=True)
class Job:
    """One instance's place in a job of `instances` instances and `replicas` replicas."""

    instance: int
    instances: int
    replicas: int
    ipus_per_replica: int = 1

    @property
    def local_replicas(self) -> int:
        """How many replicas this instance drives."""
        # LAUNCH-2
        return self.replicas // self.instances

    @property
    def first_replica(self) -> int:
        """The id, among all replicas, of the first one that this instance drives."""
        # LAUNCH-2
        return self.instance * self.local_replicas


def instance_from_environment() -> tuple[int, int]:
    """Return (instance, instances). Raises ValueError for variables that contradict one another or make no sense."""
    # LAUNCH-1
    ompi = _pair(*OMPI_PAIR) if any(name in os.environ for name in OMPI_PAIR) else None
    torch = _pair(*TORCH_PAIR) if all(name in os.environ for name in TORCH_PAIR) else None
    if ompi is not None and torch is not None and ompi != torch:
        raise ValueError(
            f"The environment says instance {ompi[0]} of {ompi[1]} ({OMPI_PAIR[1]}, {OMPI_PAIR[0]}) and also "
            f"{torch[0]} of {torch[1]} ({TORCH_PAIR[1]}, {TORCH_PAIR[0]}), but an instance has one place in one job: "
            f"unset the pair that is not meant."
        )
    return ompi or torch or (0, 1)


def job_from_environment() -> Job:
    """Return the place of this process; without poprun each instance drives one replica. Raises ValueError."""
    instance, instances = instance_from_environment()
    replicas = from_environment(TOTAL_REPLICAS, instances)
    check_divides(replicas, instances)
    return Job(instance, instances, replicas, from_environment(IPUS_PER_REPLICA, 1))


def check_divides(replicas: int, instances: int) -> None:
    """Raise ValueError unless each instance can drive the same number of replicas, and one at least."""
    # LAUNCH-3
    if replicas < 1 or instances < 1 or replicas % instances:
        near = gcd(replicas, instances) if replicas > 0 and instances > 0 else 1
        raise ValueError(
            f"{replicas} replicas can't be shared out to {instances} instances, because each must drive as many as the "
            f"others, and one at least: give a multiple of {max(instances, 1)} replicas, or {near} instances."
        )


def _pair(size_variable: str, rank_variable: str) -> tuple[int, int]:
    """Return (rank, world size) as two variables say; what is not set counts as 0 and 1."""
    return check_rank(from_environment(rank_variable, 0), from_environment(size_variable, 1))


def from_environment(variable: str, default: int) -> int:
    """Return the whole number in an environment variable, or the default if it is not set."""
    text = os.environ.get(variable)
    if text is None:
        return default
    try:
        return int(text)
    except ValueError:
        raise ValueError(
            f"The environment variable {variable} is {show(text)}, but must be a whole number: "
            f"correct it, or unset it to run as the only process."
        ) from None
