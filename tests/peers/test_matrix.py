"""A matrix is put together from what happens to each peer, and goes on whatever that is.

A shell script stands for the interpreter of an environment, so that nothing is installed and nothing is judged.
"""

import json
import sys
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.matrix import judged as subject
from conformance.matrix.environments import NotInstalled, copy_of_the_suite, environment
from conformance.matrix.judged import MatrixRun, Options
from conformance.matrix.processes import Processes
from conformance.peers.catalog import Group, Peer

GREEN = Peer("green", "Green", "torch", "none", ("torch",), "https://green.example")
RED = Peer("red", "Red", "torch", "none", ("torch",), "https://red.example")
SLOW = Peer("slow", "Slow", "torch", "none", ("torch",), "https://slow.example")
ABSENT = Peer("absent", "Absent", "dl2", "none", ("torch",), "https://absent.example")

CLAUSES = {name: {"level": "MUST", "status": "HOLDS"} for name in ("PART-1", "PART-2", "PART-3")}
REPORT = {
    "counts": {"HOLDS": 3, "VIOLATED": 1},
    "clauses": {**CLAUSES, "BATCH-5": {"level": "SHOULD", "status": "VIOLATED"}},
}
# $4 is the peer's name, or that of a package where versions are asked for.
INTERPRETER = """\
#!/bin/sh
case "$4" in
  green) echo '%s' > report.json ;;
  red) echo 'loaderspec: red: it broke'; exit 4 ;;
  slow) exec tail -f /dev/null ;;
  *) echo '{"torch": "2.13.0"}' ;;
esac
""" % json.dumps(REPORT)  # noqa: UP031


REFUSES = "#!/bin/sh\necho 'ERROR: no such version'; exit 1\n"


def _made(python: Path, text: str) -> Path:
    python.parent.mkdir(parents=True, exist_ok=True)
    python.write_text(text)
    python.chmod(0o755)
    return python


@pytest.fixture(autouse=True)
def _environments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of the group torch is the script, and that of any other can't be made."""
    python = _made(tmp_path / "python", INTERPRETER)

    def made(name: str, group: Group, cache: Path, processes: Processes) -> Path:
        if name != "torch":
            raise NotInstalled("pip says no")
        return python

    monkeypatch.setattr(subject, "environment", made)
    monkeypatch.setitem(subject.GROUPS, "dl2", Group(("torchdata==0.9.0",)))


def run(tmp_path: Path, *peers: Peer, jobs: int = 1, seconds: float = 20.0) -> tuple[dict[str, object], list[str]]:
    """The matrix over these peers, and what was told of them."""
    told: list[str] = []
    options = Options(tmp_path / "cache", jobs=jobs, seconds=seconds)
    matrix = MatrixRun(peers, options, lambda peer, words: told.append(f"{peer.name}: {words}"))
    return matrix.run("2026-11-28"), told


def test_each_peer_has_its_status(tmp_path: Path) -> None:
    """Judged, failed and not installed stand side by side, each with its reason."""
    found, _ = run(tmp_path, ABSENT, RED, GREEN)
    seen = [(peer["name"], peer["status"], peer["note"]) for peer in found["peers"]]  # type: ignore[index,attr-defined]
    assert [
        ("absent", "not installed", "pip says no"),
        ("red", "failed", "loaderspec: red: it broke"),
        ("green", "judged", ""),
    ] == seen


def test_a_report_stands_in_the_matrix(tmp_path: Path) -> None:
    """What a run has written is taken as it is, beside the versions of what was judged."""
    found, told = run(tmp_path, GREEN)
    (peer,) = found["peers"]  # type: ignore[misc]
    assert REPORT == peer["report"]
    assert {"torch": "2.13.0"} == peer["packages"]
    assert (1, "gate", 0, "2026-11-28") == tuple(found[name] for name in ("schema", "tier", "seed", "date"))
    assert "green: 3 HOLDS, 1 VIOLATED (SHOULD) (" in told[-1]


def test_a_peer_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    """Its time is bounded, and the next one is judged."""
    found, _ = run(tmp_path, SLOW, GREEN, seconds=0.5)
    notes = [(peer["status"], peer["note"]) for peer in found["peers"]]  # type: ignore[index,attr-defined]
    assert [("failed", "it was not judged within 0.5 s"), ("judged", "")] == notes


def test_several_jobs_keep_the_order(tmp_path: Path) -> None:
    """The peers stand in the order in which they were asked for, whichever is judged first."""
    found, _ = run(tmp_path, RED, ABSENT, GREEN, jobs=3)
    assert ["red", "absent", "green"] == [peer["name"] for peer in found["peers"]]  # type: ignore[index,attr-defined]


def test_the_suite_is_copied_alone(tmp_path: Path) -> None:
    """The copy holds both packages and the clauses, and nothing else that lies beside them."""
    copy = copy_of_the_suite(tmp_path / "copy")
    names = {path.name for path in copy.iterdir() if not path.name.endswith(".dist-info")}
    assert {"conformance", "reference"} == names
    assert (copy / "conformance" / "specs" / "2-partition.md").is_file()


def test_pip_tells_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A group that can't be installed is told of in pip's last words, and is tried anew the next time."""
    monkeypatch.setattr("venv.create", lambda folder, with_pip: _made(folder / "bin" / "python", REFUSES))
    for _ in range(2):
        with pytest.raises(NotInstalled, match="pip install torchdata==0: ERROR: no such version"):
            environment("none", Group(("torchdata==0",)), tmp_path, Processes())


def test_an_environment_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A group that is there is not installed again; one that asks for something else is another one."""
    made: list[Path] = []
    monkeypatch.setattr(
        "venv.create", lambda folder, with_pip: made.append(_made(folder / "bin" / "python", "#!/bin/sh\n"))
    )
    first, again, other = (
        environment("one", Group((pin,)), tmp_path, Processes()) for pin in ("torch==1", "torch==1", "torch==2")
    )
    assert [first, other] == made
    assert first == again


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--only=torch,nothing"], "names 'nothing', which is no peer, clause or chapter; the peers are torch, "),
        (["--only=,"], "--only=, names no peer; the peers are torch, "),
        (["--jobs=0"], "--jobs=0 lets nobody work; give 1 or more"),
        (["--tier=best"], "the tier 'best' is not one of quick, gate, deep"),
        (["--date=tomorrow"], "--date=tomorrow is no date; write it as 2026-11-28"),
        (["--html=nowhere/page.html"], "--html=nowhere/page.html can't be written: its folder does not exist"),
    ],
)
def test_a_wrong_call_is_told(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The value, the rule and the mend stand in one sentence, and nothing is begun."""
    assert 4 == main(["matrix", "--json=matrix.json", *words])
    assert sentence in capsys.readouterr().err


def test_the_command_writes_the_matrix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A peer that gives no report makes the exit code 1; the file is there all the same, and progress was told."""
    monkeypatch.chdir(tmp_path)
    assert 1 == main(["matrix", "--only=torch", "--json=matrix.json", "--date=2026-11-28"])
    (peer,) = json.loads(Path("matrix.json").read_text())["peers"]
    assert ("torch", "failed") == (peer["name"], peer["status"])
    assert "[ 1/1] torch  being judged ..." in capsys.readouterr().err


def test_the_core_needs_no_torch() -> None:
    """The command that judges a loader comes up where torch can't be imported."""
    program = "import sys; sys.modules['torch'] = None; from conformance.cli import main; sys.exit(main(['explain']))"
    assert 0 == Processes().run([sys.executable, "-c", program], 60.0).code
