"""What poprun's command line means, and what is refused before anything is started."""

import socket

import pytest

from reference.launch.flags import Launch, Refused, parse
from reference.loaderspec import launch, settings, whoami


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("echo hello", Launch(("echo", "hello"), 1, 1)),
        ("--num-replicas 8 --num-instances=4 x --num-replicas 1", Launch(("x", "--num-replicas", "1"), 8, 4)),
        ("--num-instances 2 x", Launch(("x",), 2, 2)),
        ("--num-replicas 2 --ipus-per-replica 4 -vv --vv x", Launch(("x",), 2, 1, 4)),
        ("--num-instances 2 --only-output-from-instance 1 x", Launch(("x",), 2, 2, only_output_from=1)),
        ("--numa-aware 1 --map-by=p x", Launch(("x",), 1, 1, without_effect=("--numa-aware", "--map-by"))),
        ("--never-heard-of=1 x", Launch(("x",), 1, 1, without_effect=("--never-heard-of",))),
        ("-- --odd-program -v", Launch(("--odd-program", "-v"), 1, 1)),
        (f"--host localhost,{socket.gethostname()} x", Launch(("x",), 1, 1)),
    ],
)
def test_a_command_line_is_read(words: str, expected: Launch) -> None:
    """Options end where the program begins; what follows is the program's."""
    assert expected == parse(words.split())


def test_variables_for_mpirun_are_set() -> None:
    """Those with a value; the others are there anyway."""
    assert {"A": "1", "B": "x y"} == parse(["--mpi-local-args=-x A=1 -x PATH -x 'B=x y' --tag", "x"]).variables


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("", "There is no program to start"),
        ("--num-instances 2", "There is no program to start"),
        ("--num-replicas 3 --num-instances 2 x", "3 replicas can't be shared out to 2 instances"),
        ("--num-replicas 1 --num-instances 2 x", "1 replicas can't be shared out to 2 instances"),
        ("--num-replicas 0 x", "0 replicas can't be shared out to 1 instances"),
        ("--num-instances -2 x", "can't be shared out to -2 instances"),
        ("--num-replicas two x", "--num-replicas is 'two', but must be a whole number"),
        ("--num-replicas", "--num-replicas has no value"),
        ("--never-heard-of 1 x", "--never-heard-of is no option that is known here"),
        ("-n 2 x", "-n is no option that is known here"),
        ("--num-instances 2 --only-output-from-instance 2 x", "give at most 1"),
        ("--host elsewhere,localhost x", "--host names elsewhere, .* torchrun"),
    ],
)
def test_what_cannot_be_is_refused(words: str, sentence: str) -> None:
    """With a sentence, which names the numbers (LAUNCH-3)."""
    with pytest.raises(Refused, match=sentence):
        parse(words.split())


def test_the_suite_starts_what_it_means() -> None:
    """The words of its command line are read as the numbers they were made of."""
    assert Launch(("x", "--y"), replicas=6, instances=3) == parse(launch(["x", "--y"], replicas=6, instances=3)[3:])


def test_the_suite_learns_who_an_instance_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """All numbers follow from three variables."""
    environment = {"OMPI_COMM_WORLD_SIZE": "3", "OMPI_COMM_WORLD_RANK": "2", "POPDIST_NUM_TOTAL_REPLICAS": "6"}
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert dict(instance=2, instances=3, replicas=6, local_replicas=2, first_replica=4) == whoami()


@pytest.mark.parametrize("name", settings())
def test_no_setting_of_the_launcher_can_be_set(name: str) -> None:
    """The error names it (LAUNCH-9)."""
    with pytest.raises(RuntimeError, match=name):
        settings()[name]()
