"""Loaders in other languages, in specs/examples/bridge: they run where their tool is, and each twin is caught."""

import shutil
import subprocess
from pathlib import Path

import pytest

import conformance.clauses  # noqa: F401  # so that cases can be read
from conformance.bridge.check import checked
from conformance.processes.sources import source_of
from conformance.trial.known import parse_case
from conformance.trial.session import Options, Session
from reference.rules.shuffle import permutation

HOME = Path(__file__).resolve().parents[2] / "specs" / "examples" / "bridge"
COMMANDS = ["loader.js", "broken.js", "loader.rs", "broken.rs"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where programs are compiled."""
    return tmp_path_factory.mktemp("bridge")


def command(name: str, folder: Path) -> list[str]:
    """The command that runs an example; the test is skipped where its tool is missing."""
    tool = "node" if name.endswith(".js") else "rustc"
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed, which {name} needs")
    if tool == "node":
        return [tool, str(HOME / name)]
    program = folder / name.removesuffix(".rs")
    if not program.exists():
        broken = ["--cfg", "broken"] if name.startswith("broken") else []
        subprocess.run([tool, "-O", *broken, "-o", str(program), str(HOME / "loader.rs")], check=True)
    return [str(program)]


def outcome_of(words: list[str], case: str) -> str:
    """The outcome of one case."""
    source, name = source_of("stdio:" + " ".join(words))
    with Session(source, name, Options(case=parse_case(case))) as session:
        (outcome,) = session.report().outcomes
    return outcome.status


@pytest.mark.parametrize("name", COMMANDS)
def test_its_lines_can_be_understood(name: str, folder: Path) -> None:
    """`loaderspec bridge check` is green: a fault of the loader is none of its lines."""
    told = checked(command(name, folder), 60.0, lambda side, line: None)
    assert "epoch     4 samples in 2 steps, len 2" == told[0]
    assert "fault     what a sample raised was passed on" in told


@pytest.mark.parametrize(
    ("name", "case", "status"),
    [
        ("loader.js", "COUNT-5-n1,w2,b1,drop", "HOLDS"),
        ("broken.js", "COUNT-5-n1,w2,b1,drop", "VIOLATED"),
        ("loader.js", "LEAK-5-n16,w1,b4,keep,kind=large", "HOLDS"),
        ("loader.rs", "COUNT-5-n1,w3,b1,keep", "HOLDS"),
        ("broken.rs", "COUNT-5-n1,w3,b1,keep", "VIOLATED"),
        ("loader.rs", "ERROR-3-n5,w1,b2,keep,e3,stop@3", "HOLDS"),
    ],
)
def test_the_twin_is_caught(name: str, case: str, status: str, folder: Path) -> None:
    """The case in which the loader holds is the one in which its twin does not."""
    assert status == outcome_of(command(name, folder), case)


@pytest.mark.deep
@pytest.mark.parametrize("name", ["loader.js", "loader.rs"])
def test_it_is_right(name: str, folder: Path) -> None:
    """A whole run at the quick tier is green."""
    source, spec = source_of("stdio:" + " ".join(command(name, folder)))
    with Session(source, spec, Options(tier="quick")) as session:
        assert [] == [each.clause for each in session.report().outcomes if each.fails(strict=True)]


@pytest.mark.parametrize(("seed", "epoch"), [(0, 0), (-1, 1), (2**63 - 1, 2**32 - 1)])
def test_the_shuffle_in_rust_is_the_references(seed: int, epoch: int, folder: Path) -> None:
    """Written from chapter 3 alone, it gives the reference's orders, sample for sample."""
    words = command("loader.rs", folder)
    factors = '"batch_size":1,"gradient_accumulation":1,"replication_factor":1,"device_iterations":1'
    ranks = '"rank":0,"world_size":1,"drop_last":false,"shuffle":true'
    request = f'{{{factors},{ranks},"seed":"{seed}","samples":50}}'
    orders = [
        f'{{"op":"open","loader":1,"request":{request}}}',
        f'{{"op":"set_epoch","loader":1,"epoch":{epoch}}}',
        '{"op":"iter","loader":1,"it":1}',
    ]
    for handle in range(50):
        orders += ['{"op":"next","it":1}', f'{{"samples":[{handle}]}}']
    said = subprocess.run(words, input="\n".join(orders) + "\n", capture_output=True, text=True, check=True).stdout
    reads = [int(line.partition("[")[2].rstrip("]}")) for line in said.splitlines() if line.startswith('{"read"')]
    assert permutation(50, seed, epoch).tolist() == reads
