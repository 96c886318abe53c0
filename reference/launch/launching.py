"""Decides how the instances of a job are started, watched and ended: by torch's elastic launcher, with three additions.

It starts each instance in a process group of its own, tells it its number, ends the others when one fails, and passes
signals on. Added here are PopDist's and OMPI's variables for each instance, tagged output (`tagging.py`), and the end
of whatever an instance leaves behind (`descendants.py`).
"""

import logging
import os
import signal
import uuid
from dataclasses import dataclass

from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs, LogsDest, SignalException
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
from torch.distributed.launcher.api import LaunchConfig, elastic_launch

from .descendants import adopt_orphans, end_descendants
from .flags import Launch
from .launched import IPUS_PER_REPLICA, OMPI_PAIR, TOTAL_REPLICAS, Job
from .shims import with_shims
from .tagging import TaggedOutput

# How long instances may take to end when they are told to, in seconds; then they are killed.
_PATIENCE = 10
# As a shell has it.
_CANT_START = 126
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)


@dataclass(frozen=True)
class Outcome:
    """How a job ended: its exit code, and a sentence if it failed."""

    exit_code: int
    sentence: str | None = None


class _Instances(DefaultLogsSpecs):
    """Where the elastic launcher asks, for each instance, what its streams are: we also set its variables there."""

    def __init__(self, launch: Launch, output: TaggedOutput) -> None:
        super().__init__(log_dir=os.devnull)
        self._launch = launch
        self._output = output

    def reify(self, envs: dict[int, dict[str, str]]) -> LogsDest:
        """Return the pipes of the instances on this machine."""
        destinations = super().reify(envs)
        for local, environment in envs.items():
            index = int(environment["RANK"])
            environment.update(variables(self._launch, index))
            destinations.stdouts[local] = self._output.path(index, "stdout")
            destinations.stderrs[local] = self._output.path(index, "stderr")
        return destinations


def variables(launch: Launch, index: int) -> dict[str, str]:
    """Return what instance `index` finds in its environment, beside what torch's launcher sets."""
    # LAUNCH-1, LAUNCH-2
    job = Job(index, launch.instances, launch.replicas, launch.ipus_per_replica)
    numbers = {
        TOTAL_REPLICAS: job.replicas,
        IPUS_PER_REPLICA: job.ipus_per_replica,
        "POPDIST_NUM_LOCAL_REPLICAS": job.local_replicas,
        "POPDIST_REPLICA_INDEX_OFFSET": job.first_replica,
        "POPDIST_LOCAL_INSTANCE_INDEX": job.instance,
        "POPDIST_UNIFORM_REPLICAS_PER_INSTANCE": 1,
        OMPI_PAIR[0]: job.instances,
        OMPI_PAIR[1]: job.instance,
        "OMPI_COMM_WORLD_LOCAL_SIZE": job.instances,
        "OMPI_COMM_WORLD_LOCAL_RANK": job.instance,
    }
    return {**launch.variables, **{name: str(number) for name, number in numbers.items()}}


def run(launch: Launch) -> Outcome:
    """Start the instances, and return when they, and all that they started, have ended."""
    _prepare_environment(launch)
    # What it would say of each end is said here, in one sentence.
    logging.disable(logging.CRITICAL)
    adopt_orphans()
    shown = range(launch.instances) if launch.only_output_from is None else [launch.only_output_from]
    output = TaggedOutput(list(shown))
    stopped = False
    try:
        # A dollar sign is doubled, because the elastic launcher takes one for its own variable.
        arguments = [word.replace("$", "$$") for word in launch.program[1:]]
        elastic_launch(_config(launch, output), launch.program[0])(*arguments)
        return Outcome(0)
    except ChildFailedError as error:
        return _failure(error, launch.instances)
    except OSError as error:
        return Outcome(_CANT_START, f"{launch.program[0]} can't be started ({error}): try it without poprun.")
    except (SignalException, KeyboardInterrupt) as error:
        stopped = True
        return _stopped(error)
    finally:
        _turn_deaf()
        end_descendants()
        output.close(_PATIENCE if stopped else None)


def _turn_deaf() -> None:
    """Let no signal interrupt what follows, which is quick."""
    # LAUNCH-7: one that comes right now has nothing more to say than those before.
    try:
        for each in _SIGNALS:
            signal.signal(each, signal.SIG_IGN)
    except SignalException:
        _turn_deaf()


def _config(launch: Launch, output: TaggedOutput) -> LaunchConfig:
    return LaunchConfig(
        min_nodes=1,
        max_nodes=1,
        nproc_per_node=launch.instances,
        run_id=uuid.uuid4().hex,
        rdzv_backend="c10d",
        # A free port, on this machine, whatever its name resolves to.
        rdzv_endpoint="localhost:0",
        local_addr="127.0.0.1",
        max_restarts=0,
        logs_specs=_Instances(launch, output),
    )


def _prepare_environment(launch: Launch) -> None:
    """Set what all instances inherit."""
    os.environ["PYTHONPATH"] = with_shims(os.environ.get("PYTHONPATH"))
    # Into a pipe python would write its lines late, and those of a program that is ended never.
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    os.environ.setdefault("TORCH_ELASTIC_SHUTDOWN_TIMEOUT", str(_PATIENCE))
    if launch.instances > 1:
        # Else each would use all cores.
        os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // launch.instances)))


def _failure(error: ChildFailedError, instances: int) -> Outcome:
    # LAUNCH-5: the first one; those that were ended because of it don't count.
    index, failure = error.get_first_failure()
    if failure.exitcode >= 0:
        code, how = failure.exitcode, f"failed with exit code {failure.exitcode}"
    else:
        # As a shell has it.
        code, how = 128 - failure.exitcode, f"was ended by {failure.signal_name()}"
    others = ", so the others were ended" if instances > 1 else ""
    return Outcome(code, f"Instance {index} of {instances} {how}{others}: what it said last stands above.")


def _stopped(error: BaseException) -> Outcome:
    # LAUNCH-7
    number = getattr(error, "sigval", signal.SIGINT)
    name = signal.Signals(number).name
    return Outcome(128 + int(number), f"{name} has come, so all instances were ended: start the job again to go on.")
