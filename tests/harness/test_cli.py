"""The command `loaderspec`: its codes and what it prints."""

import json
import re
from pathlib import Path

import pytest

from conformance.clauses import CLAUSES
from conformance.cli import main
from tests.harness import runs


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in an empty folder."""
    monkeypatch.chdir(tmp_path)


def test_a_green_run_ends_with_0(capfd: pytest.CaptureFixture[str]) -> None:
    """The table and the counts are printed; what is judged and how long it took is told beside; no file is left."""
    assert 0 == main(["run", runs.PLAIN, "--tier=quick"])
    out, err = capfd.readouterr()
    assert re.fullmatch(rf"judging {re.escape(runs.PLAIN)}: quick, \d+ families\njudged in [\d.]+ s\n", err)
    assert re.search(r"^PART-1 +HOLDS", out, re.M)
    assert [] == list(Path().iterdir())


def test_a_case_is_replayed(capfd: pytest.CaptureFixture[str]) -> None:
    """One case is judged, for one clause."""
    assert 0 == main(["run", runs.PLAIN, "--case=PART-1-n1,w2,b1,keep"])
    assert capfd.readouterr().out.endswith("plain_loader.py: 1 HOLD\n")


def test_the_loader_may_be_named_as_pytest_is_told_it(capsys: pytest.CaptureFixture[str]) -> None:
    """`--impl` of a line of pytest does here as well."""
    assert 0 == main(["run", f"--impl={runs.PLAIN}", "--case=PART-1-n1,w2,b1,keep"])
    assert "1 HOLD" in capsys.readouterr().out


def test_a_random_seed_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    """What --seed=random chose stands in the report, so that the run can be repeated."""
    assert 0 == main(["run", runs.PLAIN, "--case=PART-1-n1,w2,b1,keep", "--seed=random", "--report-json=report.json"])
    assert type(json.loads(Path("report.json").read_text())["seed"]) is int


def test_explain_prints_a_clause(capsys: pytest.CaptureFixture[str]) -> None:
    """The sentence of the specs, and where it stands."""
    assert 0 == main(["explain", "PART-1"])
    out = capsys.readouterr().out
    assert out.startswith("PART-1  MUST")
    assert "no sample is delivered twice" in out


def test_explain_alone_lists_the_clauses(capsys: pytest.CaptureFixture[str]) -> None:
    """One line a clause, each once."""
    assert 0 == main(["explain"])
    assert sorted(CLAUSES) == sorted(line.split()[0] for line in capsys.readouterr().out.splitlines())


@pytest.mark.parametrize("clause", ["PART-99", "part", ""])
def test_explain_of_no_clause_gets_a_sentence(clause: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Code 4, and the ids that look most like it."""
    assert 4 == main(["explain", clause])
    out, err = capsys.readouterr()
    assert ("", 1) == (out, len(err.splitlines()))
    assert f"there is no clause {clause!r}" in err


CHAIN = ["plan", "--samples", "50000", "--batch-size", "32", "--instances", "4", "--replicas", "8"]


def test_plan_prints_the_tutorials_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    """1562 batches, 390 an instance, 195 a replica, 2 superfluous."""
    assert 0 == main(CHAIN)
    out = capsys.readouterr().out
    assert all(number in out for number in ("1562", "390", "195", "2"))


def test_plan_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    """The same numbers for a program."""
    assert 0 == main([*CHAIN, "--json"])
    assert isinstance(json.loads(capsys.readouterr().out), dict)


@pytest.mark.parametrize(
    "words", [["--samples=-1"], ["--batch-size=0"], ["--instances=two"], ["--replicas=3"], ["--batch-size=1.5"]]
)
def test_a_bad_plan_gets_a_sentence(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """A number that can't be is refused with a code that is not 0, and no numbers are printed."""
    try:
        code = main([*CHAIN, *words])
    except SystemExit as left:
        code = int(str(left.code))
    out, err = capsys.readouterr()
    assert ("", True) == (out, code != 0)
    assert words[0].partition("=")[2] in err


def test_the_command_alone_shows_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever types nothing is told what there is."""
    assert 0 == main([])
    assert "usage: loaderspec" in capsys.readouterr().out


def test_a_command_that_is_mistyped_is_guessed(capsys: pytest.CaptureFixture[str]) -> None:
    """The nearest one is named."""
    with pytest.raises(SystemExit):
        main(["explan"])
    assert "there is no command 'explan'; did you mean 'explain'?" in capsys.readouterr().err


def test_a_chapter_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    """One line for each of its clauses."""
    assert 0 == main(["explain", "LEAK"])
    assert [f"LEAK-{number}" for number in range(1, 7)] == [
        line.split()[0] for line in capsys.readouterr().out.splitlines()
    ]


def test_a_clause_is_found_in_the_code(capsys: pytest.CaptureFixture[str]) -> None:
    """Its judge, its text, the reference and the known-bad loaders, each by file and line."""
    assert 0 == main(["explain", "BATCH-1", "--where"])
    lines = capsys.readouterr().out.splitlines()
    assert {"judge", "text", "reference", "known-bad"} == {line.split()[0] for line in lines}
    assert "specs/1-arithmetic.md#batch-1" in lines[1]


def test_a_case_is_explained_and_run(capsys: pytest.CaptureFixture[str]) -> None:
    """In words; and with a loader, what each rank delivers in it."""
    assert 0 == main(["explain", "--case=PART-1-n3,w2,b1,keep", f"--impl={runs.PLAIN}"])
    assert [
        "PART-1-n3,w2,b1,keep: 3 samples, 2 ranks, micro-batch 1, drop_last=False",
        "main:",
        "  rank 0, epoch 0: 0 | 2",
        "  rank 1, epoch 0: 1",
    ] == capsys.readouterr().out.splitlines()


def test_some_clauses_are_judged(capsys: pytest.CaptureFixture[str]) -> None:
    """By words as pytest's -k takes them; what names none is refused."""
    assert 0 == main(["run", runs.PLAIN, "--tier=quick", "-q", "-k", "batch-4 or (PART-1 and not PART-1)"])
    assert capsys.readouterr().out.endswith("plain_loader.py: 1 HOLD\n")
    for words in ("NOTHING", "PART or", "PART COUNT"):
        assert 4 == main(["run", runs.PLAIN, "-q", "-k", words])


def test_a_clause_without_a_case_is_no_case(capsys: pytest.CaptureFixture[str]) -> None:
    """What is lacking is said."""
    assert 4 == main(["run", runs.PLAIN, "-q", "--case=PART-1"])
    assert "'PART-1' names a clause and no case of it; say what is asked for" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["judge"], ["run"]])
def test_a_bad_call_shows_the_usage(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """argparse's own code and text."""
    with pytest.raises(SystemExit) as left:
        main(words)
    assert 2 == left.value.code
    assert "usage: loaderspec" in capsys.readouterr().err
