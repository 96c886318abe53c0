"""Decides how the conformance suite starts this package's launcher, and how it asks an instance who it is.

These are the functions of chapter 7's contract; an adapter that claims `launcher` has them beside `load`.
"""

import sys
from collections.abc import Callable, Sequence

from ..popdist.poptorch import Options
from .launched import job_from_environment


def launch(program: Sequence[str], replicas: int, instances: int) -> list[str]:
    """Return the command line that starts a program; nothing is started here."""
    asked = ["--num-replicas", str(replicas), "--num-instances", str(instances)]
    return [sys.executable, "-m", "reference.poprun", *asked, *program]


def whoami() -> dict[str, int]:
    """Return what this instance knows of itself and of its job; a loader takes its rank from it (LAUNCH-4)."""
    job = job_from_environment()
    return dict(
        instance=job.instance,
        instances=job.instances,
        replicas=job.replicas,
        local_replicas=job.local_replicas,
        first_replica=job.first_replica,
    )


def tag(instance: int, stream: str) -> str:
    """Return what stands before each line of an instance's stdout or stderr."""
    return f"[1,{instance}]<{stream}>:"


def settings() -> dict[str, Callable[[], object]]:
    """Return what a script might try to set; each call is an error that names it (LAUNCH-9)."""
    return {
        "replicationFactor": lambda: Options().replicationFactor(2),
        "useIpuId": lambda: Options().useIpuId(0),
        "configureProcessId": lambda: Options().Distributed.configureProcessId(0, 1),
        "setEnvVarNames": lambda: Options().Distributed.setEnvVarNames("SIZE", "RANK"),
        "disable": lambda: Options().Distributed.disable(),
    }
