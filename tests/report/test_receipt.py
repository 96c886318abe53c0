"""A receipt is run again: the same adapter agrees with it, a mended or spoilt one does not, a changed one is told."""

import json
from pathlib import Path

import pytest

from conformance.clauses import CLAUSES
from conformance.cli import main
from conformance.processes.sources import source_of
from conformance.report.json_report import as_json
from conformance.report.receipt import compared
from conformance.report.stored import stored
from conformance.trial.session import Options, Session
from tests.report.pages import report

ADAPTER = """\
claims = dict(when_dropping="drop", when_keeping="uneven")

def load(request):
    samples = range(request.rank, len(request.dataset), request.world_size)
    if request.drop_last:
        samples = samples[: len(request.dataset) // request.world_size]
    return [[request.dataset[sample]] for sample in samples]
"""
# A fault: the last rank delivers sample 0 as well.
SPOILT = ADAPTER.replace("for sample in samples]", "for sample in (*samples, *[0][: request.rank])]")
CASE = "--case=PART-1-n1,w2,b1,keep"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with an adapter, in which the receipt is written and read."""
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(ADAPTER)


def judge(*options: str) -> int:
    """Judge the adapter, and write the receipt."""
    return main(["run", "mine.py", "--report-json=receipt.json", *options])


def test_the_same_run_agrees(capfd: pytest.CaptureFixture[str]) -> None:
    """Nothing has changed, so the code is 0, and nothing is noted."""
    assert 0 == judge(CASE, "--seed=7", "--patience=20")
    receipt = json.loads(Path("receipt.json").read_text())
    assert [7, 20.0, CASE[7:]] == [receipt[name] for name in ("seed", "patience", "replayed")]
    capfd.readouterr()
    assert 0 == main(["verify", "receipt.json"])
    assert "mine.py: the verdicts agree on 1 clause (tier gate)\n" == capfd.readouterr().out


def test_a_changed_adapter_is_not_judged_unasked(capfd: pytest.CaptureFixture[str]) -> None:
    """Code 4 and a sentence; with --anyway the clause that differs is told, and the code is 1."""
    judge(CASE)
    Path("mine.py").write_text(SPOILT)
    capfd.readouterr()
    assert 4 == main(["verify", "receipt.json"])
    assert "loaderspec: the adapter is another one: in the receipt its source has the digest" in capfd.readouterr().err
    assert 1 == main(["verify", "receipt.json", "--anyway"])
    out = capfd.readouterr().out
    assert "differs: PART-1 was HOLDS, is VIOLATED in PART-1-n1,w2,b1,keep\n" in out
    assert out.endswith("mine.py: the verdicts differ on 1 of 1 clause\n")


def test_a_changed_adapter_is_not_even_imported() -> None:
    """What somebody else's receipt names may do anything when it is imported."""
    judge(CASE)
    Path("mine.py").write_text(f"from pathlib import Path\nPath('imported').touch()\n{SPOILT}")
    assert 4 == main(["verify", "receipt.json"])
    assert not Path("imported").exists()


def test_an_adapter_elsewhere_is_named(capfd: pytest.CaptureFixture[str]) -> None:
    """A receipt holds no absolute path; --impl says where the same adapter is."""
    judge(CASE)
    Path("there").mkdir()
    Path("mine.py").rename("there/mine.py")
    assert 4 == main(["verify", "receipt.json"])
    assert "there is no file mine.py" in capfd.readouterr().err
    assert 0 == main(["verify", "receipt.json", "--impl=there/mine.py"])


def test_known_failures_are_known_again() -> None:
    """Whatever file they came from, they are in the receipt, and only the clauses of the receipt are judged again."""
    source, name = source_of("mine.py")
    cases = [f"BATCH-5-n4,w1,b1,keep,{name}=True" for name in ("batch_size", "world_size")]
    known = {"BATCH-5": [dict(case=case, reason="on purpose") for case in cases]}
    with Session(source, name, Options(tier="quick", known=known)) as session:
        Path("receipt.json").write_text(as_json(session.report([CLAUSES["BATCH-5"]])))
    outcome = json.loads(Path("receipt.json").read_text())["clauses"]["BATCH-5"]
    assert ("KNOWN", cases) == (outcome["status"], [each["case"]["id"] for each in outcome["known"]])
    assert 0 == main(["verify", "receipt.json"])


def test_an_adapter_says_what_it_is_made_of() -> None:
    """The packages that its source imports have versions, those beside it have none."""
    Path("beside.py").write_text("")
    Path("mine.py").write_text("import json, numpy\nimport beside\n" + ADAPTER)
    judge(CASE)
    adapter = json.loads(Path("receipt.json").read_text())["adapter"]
    assert ["beside", "numpy"] == list(adapter["packages"])
    assert adapter["packages"]["beside"] is None
    assert 12 == len(adapter["digest"])


def test_what_is_not_the_verdict_is_only_remarked() -> None:
    """Another version, another count or another case is told, and the verdicts agree."""
    was, now = report(), report()
    now["versions"]["python"] = "9.9.9"
    now["clauses"]["BATCH-1"]["exercised"] = 311
    found = compared(stored(was), stored(now))
    assert found.agrees
    assert f"python was {was['versions']['python']}, is 9.9.9" in found.remarks
    assert "BATCH-1 was exercised 310 times, is 311 times" in found.remarks


@pytest.mark.parametrize("words", [["verify", "none.json"], ["report", "none.json", "--html=x"], ["report", "mine.py"]])
def test_what_cant_be_read_gets_a_sentence(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Code 4, one sentence, and no file."""
    assert 4 == main(words)
    assert 1 == len(capsys.readouterr().err.splitlines())
    assert ["mine.py"] == [path.name for path in Path().iterdir()]


def test_a_stored_report_makes_the_files_of_its_run() -> None:
    """`report` writes the same bytes as the run did."""
    forms = ("html", "markdown", "badge")
    judge(CASE, *(f"--report-{form}=run.{form}" for form in forms))
    assert 0 == main(["report", "receipt.json", *(f"--{form}=again.{form}" for form in forms)])
    for form in forms:
        assert Path(f"run.{form}").read_bytes() == Path(f"again.{form}").read_bytes()
