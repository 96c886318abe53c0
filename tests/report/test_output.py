"""What a run leaves behind: files that were asked for, and scripts where they can be written."""

from pathlib import Path

import pytest

from conformance.clauses import CLAUSES
from conformance.contract import AdapterError, Claims
from conformance.loader.scenario import Scenario
from conformance.report.output import Wanted, badness, block, refuse_unwritable, write_files
from conformance.report.text import COLUMNS, REPRO_FOLDER
from conformance.trace import Trace
from conformance.trial.clause import Finding
from conformance.trial.outcome import Outcome, Report
from conformance.trial.result import Case
from tests.report.test_text import DUPLICATE

REPORT = Report("torch", Claims(), "gate", 0, (Outcome("PART-1", "MUST", "VIOLATED", 310, DUPLICATE),))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder while the test runs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_each_violation_gets_a_script(folder: Path) -> None:
    """Nothing is said where all was written."""
    assert "" == write_files(REPORT, Wanted())
    assert ["PART-1-n1,w2,b1,keep.py"] == [path.name for path in (folder / REPRO_FOLDER).iterdir()]


def test_scripts_that_cant_be_written_get_a_sentence(folder: Path) -> None:
    """A file in the way, as a folder that is not to be written, costs the scripts alone: the rest is written."""
    (folder / REPRO_FOLDER).write_text("in the way")
    told = write_files(REPORT, Wanted({"report-json": "report.json"}))
    assert told.startswith("the scripts of `reproduce` can't be written to loaderspec-repro (File exists); use the")
    assert (folder / "report.json").is_file()


@pytest.mark.skipif(not Path("/proc/1").is_dir(), reason="takes a folder of Linux in which not even root may write")
def test_a_folder_that_takes_no_files_gets_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no folder can be made either, the run goes on as well."""
    monkeypatch.chdir("/proc/1")
    assert "can't be written to loaderspec-repro (" in write_files(REPORT, Wanted())


@pytest.mark.parametrize(("path", "why"), [(".", "it is a folder"), ("no/such.json", "its folder does not exist")])
def test_a_report_that_cant_be_written_is_refused_before_the_run(folder: Path, path: str, why: str) -> None:
    """Not after minutes of judging."""
    with pytest.raises(AdapterError, match=f"--report-json={path} can't be written: {why}; give a file in a folder"):
        refuse_unwritable(Wanted({"report-json": path}))


def test_a_note_fits_its_columns() -> None:
    """A sentence in place of a block goes on below, and no case in it is parted."""
    case = "PART-1-n1,w2,b1,keep,random-state"
    note = f"violated once in {case}, and not again; " * 6
    lines = block(Outcome("PART-1", "MUST", "NOT EXERCISED", 0, note=note), "torch").split("\n")
    assert max(map(len, lines)) <= COLUMNS
    assert 6 == " ".join(lines).count(case)


def test_the_worst_is_shown_first() -> None:
    """A hang, then lost samples, then nonsense that is not refused, and what is only good practice last."""

    def violated(clause: str, kind: str) -> Outcome:
        case = Case(clause, Scenario(1), Finding(kind, "", (), ""), Trace(Scenario(1), ()))
        return Outcome(clause, CLAUSES[clause].level, "VIOLATED", 1, case)

    worst = [violated("LEAK-4", "hung-in-step"), violated("PART-2", "lost"), violated("BATCH-4", "accepted")]
    worst.append(violated("BATCH-5", "accepted"))
    shown = [worst[at] for at in (3, 0, 2, 1)]
    assert worst == sorted(shown, key=badness)
