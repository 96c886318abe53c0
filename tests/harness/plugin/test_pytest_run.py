"""pytest judging a loader: its exit code, what it shows, what it writes, and that it does so twice."""

import json
import os
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.harness import runs

QUICK = ("--tier=quick",)
PLAIN = (f"--impl={runs.PLAIN}", *QUICK)
PADS = """
from tests.harness.plain_loader import PlainLoader
claims = dict(when_dropping="drop", when_keeping="uneven")

class load(PlainLoader):
    def shard(self):
        shard, n, ranks = super().shard(), len(self.request.dataset), self.request.world_size
        return shard if self.request.drop_last or len(shard) * ranks >= n else [*shard, 0]
"""


@pytest.fixture
def pads(tmp_path: Path) -> str:
    """An adapter whose loader pads without saying so."""
    path = tmp_path / "pads.py"
    path.write_text(f"import sys\nsys.path.insert(0, {str(runs.HERE)!r})\n{PADS}")
    return str(path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder to run in."""
    path = tmp_path / "folder"
    path.mkdir()
    return path


def test_a_violated_clause_is_shown_with_its_smallest_case(folder: Path, installed: Path) -> None:
    """PyTorch's loader, claimed to deliver each sample once, is shown with 1 sample and 2 ranks."""
    ran = runs.run_pytest(folder, "--impl=torch-exact", *QUICK, "-k", "PART-1", installed=installed)
    assert 1 == ran.code
    block = ran.out[ran.out.index("PART-1 VIOLATED") :].splitlines()
    assert "  smallest case   1 sample, 2 ranks, micro-batch 1, drop_last=False" in block
    assert {"  delivered       rank 0: 0", "                  rank 1: 0        <- sample 0 again"} <= set(block)
    assert "torch-exact: 1 VIOLATED" in ran.out
    assert ["loaderspec-repro"] == os.listdir(folder)
    assert ["PART-1-n1,w2,b1,keep.py"] == os.listdir(folder / "loaderspec-repro")


@pytest.mark.deep
def test_a_correct_loader_leaves_an_empty_folder(folder: Path, installed: Path) -> None:
    """Exit code 0, a table of all clauses, and no files."""
    ran = runs.run_pytest(folder, *PLAIN, installed=installed)
    assert (0, "") == (ran.code, ran.err)
    assert "VIOLATED" not in ran.out
    assert "PART-1 " in ran.out
    assert [] == os.listdir(folder)


def test_one_clause_can_be_chosen(folder: Path, installed: Path) -> None:
    """-k takes the clause's id, and nothing else is judged."""
    ran = runs.run_pytest(folder, *PLAIN, "-k", "BATCH-4", "--report-json=report.json", installed=installed)
    assert 0 == ran.code
    outcomes = json.loads((folder / "report.json").read_text())["clauses"]
    assert ["BATCH-4"] == list(outcomes)


@pytest.mark.deep
def test_clauses_can_be_listed_without_a_run(folder: Path, installed: Path) -> None:
    """--collect-only names each clause, and starts nothing: not even the implementation is looked for."""
    ran = runs.run_pytest(folder, "--impl=no_such_module", "--collect-only", "-q", installed=installed)
    assert 0 == ran.code
    assert "PART-1" in ran.out


def test_a_case_is_replayed(folder: Path, installed: Path, pads: str) -> None:
    """--case runs one scenario for one clause, and the code says whether the fault still shows."""
    fails = runs.run_pytest(folder, f"--impl={pads}", "--case=PART-1-n1,w2,b1,keep", installed=installed)
    holds = runs.run_pytest(folder, f"--impl={pads}", "--case=PART-1-n2,w2,b1,keep", installed=installed)
    assert (1, 0) == (fails.code, holds.code)
    assert "1 sample, 2 ranks" in fails.out
    assert "1 HOLD" in holds.out


def test_a_case_that_shows_nothing_is_not_green(folder: Path, installed: Path) -> None:
    """A case in which the clause can't fail is NOT EXERCISED."""
    ran = runs.run_pytest(folder, *PLAIN, "--case=PART-1-n0,w2,b1,keep", installed=installed)
    assert 1 == ran.code
    assert 1 == ran.out.count("this case can't exercise the clause; choose another")
    assert "PART-1 NOT EXERCISED  this case can't exercise the clause; choose another" in ran.out


def test_a_note_is_told_where_failures_are_not(folder: Path, installed: Path) -> None:
    """Without pytest's list of failures the note stands below the table."""
    ran = runs.run_pytest(folder, *PLAIN, "--case=PART-1-n0,w2,b1,keep", "--tb=no", installed=installed)
    assert "note: PART-1: this case can't exercise the clause; choose another" in ran.out


def test_the_command_in_several_processes_warns_of_nothing_of_its_own(folder: Path, installed: Path) -> None:
    """Its imports come before pytest's, who can't rewrite their assertions then, and nobody needs that."""
    words = ("run", runs.PLAIN, "-n", "2", "-k", "PART-1", "--tier=quick")
    ran = runs.run_command(folder, *words, installed=installed)
    assert (0, 0) == (ran.code, ran.out.lower().count("warning"))


@pytest.mark.deep
def test_the_list_of_failures_names_the_case(folder: Path, installed: Path, pads: str) -> None:
    """pytest's last lines say what was violated in which case, not the beginning of the block again; with -n 2 too."""
    words = (f"--impl={pads}", "--case=PART-1-n1,w2,b1,keep", "--junitxml=junit.xml")
    for more in ((), ("-n2",)):
        ran = runs.run_pytest(folder, *words, *more, installed=installed)
        assert "::PART-1 - VIOLATED in n1,w2,b1,keep\n" in ran.out
        assert 1 == ran.out.count("PART-1 VIOLATED  Within an epoch")
        (failure,) = ET.parse(folder / "junit.xml").iter("failure")
        assert "VIOLATED in n1,w2,b1,keep" == failure.get("message")
        assert (failure.text or "").startswith("PART-1 VIOLATED  Within an epoch")


def test_scripts_that_cant_be_written_get_a_sentence(folder: Path, installed: Path, pads: str) -> None:
    """A file where the folder of the scripts should be is no reason to lose the table."""
    (folder / "loaderspec-repro").write_text("in the way")
    ran = runs.run_pytest(folder, f"--impl={pads}", "--case=PART-1-n1,w2,b1,keep", installed=installed)
    assert 1 == ran.code
    assert "1 VIOLATED\nnote: the scripts of `reproduce` can't be written to loaderspec-repro" in ran.out


def test_junit_tells_the_outcomes(folder: Path, installed: Path) -> None:
    """A test case a clause, with its outcome and its count, and no packed data."""
    runs.run_pytest(folder, *PLAIN, "-k", "BATCH-4", "--junitxml=junit.xml", installed=installed)
    (case,) = ET.parse(folder / "junit.xml").iter("testcase")
    properties = {item.get("name"): item.get("value") for item in case.iter("property")}
    assert "BATCH-4" == case.get("name")
    assert {"outcome": "HOLDS"} == {name: value for name, value in properties.items() if name != "exercised"}


@pytest.mark.deep
def test_every_way_of_running_writes_the_same_bytes(folder: Path, installed: Path, pads: str) -> None:
    """Runs without xdist and with two of its workers, and the plain command, write the same JSON."""
    for name, options in (("a", ()), ("two", ("-n2",))):
        ran = runs.run_pytest(folder, f"--impl={pads}", *QUICK, f"--report-json={name}", *options, installed=installed)
        assert 1 == ran.code, ran.out
    ran = runs.run_command(folder, "run", pads, *QUICK, "--report-json=command", installed=installed)
    assert 1 == ran.code, ran.out
    first = (folder / "a").read_text()
    assert ["PART-1"] == [name for name, clause in json.loads(first)["clauses"].items() if clause["case"]]
    for name in ("two", "command"):
        assert first == (folder / name).read_text()
