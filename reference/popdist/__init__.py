"""What a script that asks PopDist is told about its job: the numbers of `launch/launched.py`, under PopDist's names.

Without poprun a script is told what holds then: under mpirun or torchrun one replica in each instance, else one replica
in one instance. `isPopdistEnvSet()` tells the difference.
"""

import os

import torch.distributed as distributed

from ..device.instances import join
from ..launch.launched import TOTAL_REPLICAS, job_from_environment
from ..rules.checks import check_integer
from . import poptorch

__all__ = [
    "getDeviceId",
    "getInstanceIndex",
    "getNumInstances",
    "getNumIpusPerReplica",
    "getNumLocalReplicas",
    "getNumTotalReplicas",
    "getReplicaIndexOffset",
    "init",
    "isPopdistEnvSet",
    "poptorch",
    "synchronize",
]


def init() -> None:
    """Refuse an environment that makes no sense. Instances meet when they first have something to say."""
    job_from_environment()


def isPopdistEnvSet() -> bool:
    """Whether poprun has started this process."""
    return TOTAL_REPLICAS in os.environ


def getNumTotalReplicas() -> int:
    """Return the replicas of all instances together."""
    return job_from_environment().replicas


def getNumLocalReplicas() -> int:
    """Return the replicas that this instance drives."""
    return job_from_environment().local_replicas


def getNumInstances() -> int:
    """Return the number of instances."""
    return job_from_environment().instances


def getInstanceIndex() -> int:
    """Return which instance this is, from 0."""
    return job_from_environment().instance


def getReplicaIndexOffset() -> int:
    """Return the id, among all replicas, of the first one that this instance drives."""
    return job_from_environment().first_replica


def getNumIpusPerReplica() -> int:
    """Return poprun's --ipus-per-replica. It has no effect here."""
    return job_from_environment().ipus_per_replica


def getDeviceId(ipus_per_replica: int = 1) -> int:
    """Return 0: each instance has one emulated device, of its own."""
    check_integer("ipus_per_replica", ipus_per_replica)
    return 0


def synchronize() -> None:
    """Wait until all instances have come here. Raises RuntimeError if there is no way to meet."""
    if job_from_environment().instances > 1:
        join(poptorch.Options())
        distributed.barrier()
