"""PopDist tells a script what the launcher has said, and lets it set none of that."""

from pathlib import Path

import pytest

from reference import Options, popdist
from reference.launch.flags import Launch
from reference.launch.launched import Job, instance_from_environment, job_from_environment
from reference.launch.launching import variables


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be instance 2 of 4, with 8 replicas."""
    for name, value in variables(Launch(("x",), replicas=8, instances=4, ipus_per_replica=2), 2).items():
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("launched")
def test_an_instance_knows_its_place() -> None:
    """Instance 2 of 4 drives replicas 4 and 5 of 8 (LAUNCH-2)."""
    assert popdist.isPopdistEnvSet()
    assert (2, 4) == (popdist.getInstanceIndex(), popdist.getNumInstances())
    assert (8, 2, 4) == (popdist.getNumTotalReplicas(), popdist.getNumLocalReplicas(), popdist.getReplicaIndexOffset())
    assert (2, 0) == (popdist.getNumIpusPerReplica(), popdist.getDeviceId())


@pytest.mark.parametrize("instances", [1, 2, 3, 4])
@pytest.mark.parametrize("local", [1, 2, 3])
def test_each_replica_has_one_instance(instances: int, local: int) -> None:
    """The instances' replicas are all that there are, each once and in order (LAUNCH-2)."""
    jobs = [Job(index, instances, instances * local) for index in range(instances)]
    driven = [job.first_replica + at for job in jobs for at in range(job.local_replicas)]
    assert list(range(instances * local)) == driven


def test_without_a_launcher_there_is_one_of_everything() -> None:
    """A script for poprun runs alone as well."""
    assert not popdist.isPopdistEnvSet()
    assert Job(0, 1, 1) == job_from_environment()
    assert 1 == popdist.poptorch.Options().replication_factor
    popdist.init()
    popdist.synchronize()


@pytest.mark.usefixtures("launched")
def test_the_options_are_those_of_the_launcher() -> None:
    """Replicas, rank and world size are set, all else may be."""
    options = popdist.poptorch.Options(ipus_per_replica=2).deviceIterations(3)
    assert (2, 3) == (options.replication_factor, options.device_iterations)
    assert (2, 4) == (options.Distributed.processId, options.Distributed.numProcesses)
    assert 2 == options.clone().replication_factor


BLOCKED = {
    "replicationFactor": lambda options: options.replicationFactor(2),
    "useIpuId": lambda options: options.useIpuId(0),
    "set(replication_factor)": lambda options: options.set(replication_factor=2),
    "Distributed.disable": lambda options: options.Distributed.disable(),
    "Distributed.setEnvVarNames": lambda options: options.Distributed.setEnvVarNames("SIZE", "RANK"),
    "Distributed.configureProcessId": lambda options: options.Distributed.configureProcessId(0, 1),
    "Distributed.set(distributed_process_id)": lambda options: options.Distributed.set(distributed_process_id=0),
}


@pytest.mark.parametrize("name", BLOCKED)
def test_what_the_launcher_has_set_stays(name: str) -> None:
    """The error has PopDist's words (LAUNCH-9)."""
    with pytest.raises(RuntimeError) as caught:
        BLOCKED[name](popdist.poptorch.Options())
    assert f"Cannot call {name} with popdist.poptorch.Options" == str(caught.value)


@pytest.mark.parametrize("arguments", [(), (1,), (0, 1, 2)])
def test_a_call_that_is_refused_may_be_written_anyhow(arguments: tuple[int, ...]) -> None:
    """It is the call that is wrong, and not its arguments (LAUNCH-9)."""
    options = popdist.poptorch.Options()
    for target, name in (
        (options.Distributed, "configureProcessId"),
        (options.Distributed, "setEnvVarNames"),
        (options.Distributed, "disable"),
        (options, "replicationFactor"),
        (options, "useIpuId"),
    ):
        with pytest.raises(RuntimeError, match=rf"^Cannot call .*{name} with popdist\.poptorch\.Options"):
            getattr(target, name)(*arguments)


def test_neither_may_it_be_assigned() -> None:
    """A value is as good as its setter."""
    with pytest.raises(RuntimeError, match=r"replication_factor"):
        popdist.poptorch.Options().replication_factor = 2
    with pytest.raises(RuntimeError, match=r"distributed_process_id"):
        popdist.poptorch.Options().Distributed.distributed_process_id = 2


def test_neither_may_a_file_set_it(tmp_path: Path) -> None:
    """A config file calls the same setters."""
    (tmp_path / "options").write_text("replicationFactor(2)\n", encoding="utf-8")
    with pytest.raises(RuntimeError, match=r"^Cannot call replicationFactor with"):
        popdist.poptorch.Options().loadFromFile(tmp_path / "options")


@pytest.mark.parametrize("setting", ["replicationFactor", "Distributed.disable"])
def test_nor_the_default_options(monkeypatch: pytest.MonkeyPatch, setting: str) -> None:
    """Those in the environment are the user's, not the launcher's."""
    monkeypatch.setenv("POPTORCH_DEFAULT_OPTIONS", f'{{"{setting}": [{2 if "rep" in setting else ""}]}}')
    with pytest.raises(RuntimeError, match=rf"^Cannot call {setting} with"):
        popdist.poptorch.Options()


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, (0, 1)),
        ({"WORLD_SIZE": "3", "RANK": "2"}, (2, 3)),
        ({"OMPI_COMM_WORLD_SIZE": "3", "OMPI_COMM_WORLD_RANK": "2"}, (2, 3)),
        ({"OMPI_COMM_WORLD_SIZE": "3", "OMPI_COMM_WORLD_RANK": "2", "WORLD_SIZE": "3", "RANK": "2"}, (2, 3)),
        ({"OMPI_COMM_WORLD_SIZE": "3"}, (0, 3)),
        ({"RANK": "2"}, (0, 1)),
        ({"WORLD_SIZE": "3"}, (0, 1)),
    ],
)
def test_a_launcher_says_who_this_is(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], expected: tuple[int, int]
) -> None:
    """mpirun by OMPI's pair, torchrun by its own; half of torchrun's pair says nothing (LAUNCH-1)."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert expected == instance_from_environment()
    distributed = Options().Distributed
    assert expected == (distributed.processId, distributed.numProcesses)


def test_launchers_that_disagree_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever was believed, the shards could be the wrong ones."""
    environment = {"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "1", "WORLD_SIZE": "8", "RANK": "1"}
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match=r"instance 1 of 2 .* and also 1 of 8 .* unset the pair"):
        Options()


def test_replicas_that_do_not_divide_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if a launcher says so (LAUNCH-3)."""
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    monkeypatch.setenv("POPDIST_NUM_TOTAL_REPLICAS", "3")
    with pytest.raises(ValueError, match="3 replicas can't be shared out to 2 instances"):
        popdist.init()
