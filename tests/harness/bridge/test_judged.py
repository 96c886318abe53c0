"""A command that is judged: what it does wrong has the names that it has in Python, and what it says wrong has none."""

import shlex
import sys
from pathlib import Path

import pytest

from conformance.bridge.beyond import BEYOND
from conformance.clauses import CLAUSES
from conformance.processes.origin import digests_of
from conformance.processes.sources import source_of
from conformance.report.text import summary
from conformance.trial.known import parse_case
from conformance.trial.outcome import Outcome, Report
from conformance.trial.session import Options, Session
from tests.harness import proc

EXAMPLE = Path(__file__).resolve().parents[3] / "specs" / "examples" / "bridge" / "loader.py"


def spec_of(path: Path) -> str:
    """What `--impl` takes for a program in Python."""
    return "stdio:" + shlex.join([sys.executable, str(path)])


def changed(folder: Path, *changes: tuple[str, str]) -> str:
    """The example with a few lines changed, as `--impl` takes it."""
    text = EXAMPLE.read_text("utf-8")
    for old, new in changes:
        assert 1 == text.count(old), old
        text = text.replace(old, new)
    path = folder / "changed.py"
    path.write_text(text, "utf-8")
    return spec_of(path)


def replayed(spec: str, case: str, patience: float = 10.0) -> Outcome:
    """The outcome of one case."""
    source, name = source_of(spec)
    with Session(source, name, Options(case=parse_case(case), patience=patience)) as session:
        (outcome,) = session.report().outcomes
    return outcome


@pytest.mark.parametrize(
    "case",
    [
        "COUNT-5-n1,w2,b1,drop",
        "ORDER-5-n9,w2,b2,keep,shuffle,e2,again",
        "WORK-13-n5,w1,b2,keep,e2,iterable,two@1",
        "RESUME-1-n5,w2,b1,keep,e2,save@1",
        "ERROR-1-n5,w1,b2,keep,e3,raise@3",
        "ERROR-3-n5,w1,b2,keep,e3,stop@3",
        "LEAK-4-n5,w1,b2,keep,e2,leave@1",
    ],
)
def test_the_example_is_right(case: str) -> None:
    """A case of each kind could have failed, and holds."""
    assert "HOLDS" == replayed(spec_of(EXAMPLE), case).status


ITER = "        iterators[it] = loader.iterator()\n"
SET_EPOCH = "        loader.set_epoch("
DIE = "        order['epoch'] and exit(3)\n" + SET_EPOCH
THREAD = "        t = __import__('threading'); t.Thread(target=t.Event().wait, daemon=True).start()\n"


@pytest.mark.parametrize(
    ("case", "old", "new"),
    [
        ("COUNT-5-n3,w2,b1,drop", "size, rest = n // (ranks * self.step) * self.step, 0", "pass"),
        ("COUNT-7-n2,w1,b1,keep,e2", SET_EPOCH, DIE),
        ("ERROR-1-n5,w1,b2,keep,e3,raise@3", '{"raised": error.args[0]}', '{"error": "a sample is broken"}'),
        ("LEAK-2-n5,w1,b2,keep,e2,leave@1", ITER, ITER + "        __import__('os').pipe()\n"),
        ("LEAK-4-n5,w1,b2,keep,e2,leave@1", ITER, ITER + THREAD),
        ("RESUME-8-n2,w1,b1,keep,e2,save@1", '{"state": loader.state()}', '{"error": "no state"}'),
    ],
)
def test_a_fault_has_the_name_that_it_has_in_python(tmp_path: Path, case: str, old: str, new: str) -> None:
    """What the loader of a command does wrong is named by the clause that is about it."""
    assert "VIOLATED" == replayed(changed(tmp_path, (old, new)), case).status


def test_a_command_that_dies_is_a_rank_that_dies(tmp_path: Path) -> None:
    """The exit code of the command is told as that of the rank's process."""
    spec = changed(
        tmp_path, ("        loader.set_epoch(", "        order['epoch'] and exit(3)\n        loader.set_epoch(")
    )
    outcome = replayed(spec, "COUNT-7-n2,w1,b1,keep,e2")
    assert outcome.case is not None
    assert "the process ended with exit code 3" in outcome.case.finding.delivered[0]


@proc.needs_proc
def test_a_command_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no line comes within the patience, the rank hangs, and its command is gone afterwards."""
    wait = "        order['epoch'] and __import__('threading').Event().wait()\n" + SET_EPOCH
    spec = changed(tmp_path, (SET_EPOCH, wait))
    monkeypatch.setenv("LOADERSPEC_TEST_MARK", str(tmp_path))
    assert "VIOLATED" == replayed(spec, "COUNT-7-n2,w1,b1,keep,e2", patience=1.0).status
    assert [] == proc.marked(str(tmp_path))


@pytest.mark.parametrize(
    ("new", "told"),
    [
        ("        loader.epoch and print('epoch', loader.epoch)\n" + ITER, "epoch 1, in answer to"),
        (ITER + "        return {'it': 5} if loader.epoch else {}\n", "is no answer; this one is {}"),
    ],
)
def test_a_line_that_is_none_is_invalid_and_no_violation(tmp_path: Path, new: str, told: str) -> None:
    """It says nothing of the loader, wherever in a run it comes; the line is named."""
    outcome = replayed(changed(tmp_path, (ITER, new)), "COUNT-7-n2,w1,b1,keep,e2")
    assert ("INVALID", 4) == (outcome.status, outcome.exit_code)
    assert told in outcome.note
    assert outcome.note.startswith("line ")


def test_what_can_not_be_judged_says_why() -> None:
    """Such a clause is NOT CLAIMED, with the reason, and no claim is told that would add it."""
    source, name = source_of(spec_of(EXAMPLE))
    with Session(source, name, Options(tier="quick")) as session:
        report: Report = session.report([CLAUSES[clause] for clause in ("WORK-2", "WORK-7", "ERROR-4", "PART-4")])
    text = " ".join(summary(report).split())
    assert "WORK-2, WORK-7: not judged through the bridge: every sample is read in the rank's own process" in text
    assert "ERROR-4: not judged through the bridge: a worker reads nothing itself" in text
    assert 'not claimed: when_dropping="pad" (1) guarantees' in text


def test_what_can_not_be_judged_is_about_clauses_that_are_there() -> None:
    """Each name is a clause's, and of chapters 6 to 8 and 5 none is left out."""
    assert set() == set(BEYOND) - set(CLAUSES)
    chapters = ("ASYNC", "DEVICE", "LAUNCH", "LOOP", "PIPE")
    assert set() == {name for name in CLAUSES if name.startswith(chapters)} - set(BEYOND)


def test_a_receipt_knows_the_file_of_a_command(tmp_path: Path) -> None:
    """The digest is that of the file which the command names, and changes with it."""
    one, other = (
        digests_of(spec_of(EXAMPLE)),
        digests_of(changed(tmp_path, ("import hashlib\n", "import hashlib  #\n"))),
    )
    assert 1 == len(one) == len(other)
    assert one != other
