"""Findings that the user accepts, in comments and in pyproject.toml."""

from pathlib import Path

import pytest

from conformance.audit.accepted import Acceptance, Unfit, acceptances, not_understood
from conformance.audit.accepting import accepting
from conformance.cli import main
from conformance.watch.preflight import check_accepted
from conformance.watch.verdicts import verdict_of
from tests.harness.audit.jobs import audited, found, job, whole

SCRIPT = """
loader = DataLoader(
    data,  # loaderspec: ignore PART-1, the ranks are one replica
)
# loaderspec: ignore ORDER-6, the order is fixed on purpose
for batch in loader:
    step(batch)
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """A script with comments."""
    path = tmp_path / "train.py"
    path.write_text(SCRIPT)
    return path


def covering(accepted: list[Acceptance], finding: str, file: Path, line: int) -> list[str]:
    """The reasons of those that cover a finding at a line."""
    return [each.reason for each in accepted if each.covers(finding, [(str(file), line)])]


def test_a_comment_counts_within_its_statement_and_below_it(script: Path) -> None:
    """At the line where the call begins, and at the line under a comment that stands alone."""
    accepted = acceptances([str(script)], script.parent)
    assert ["the ranks are one replica"] == covering(accepted, "PART-1", script, 2)
    assert ["the order is fixed on purpose"] == covering(accepted, "ORDER-6", script, 6)


@pytest.mark.parametrize(("finding", "line"), [("PART-1", 6), ("ORDER-6", 2), ("ORDER-6", 7), ("PART-2", 2)])
def test_a_comment_counts_nowhere_else(finding: str, line: int, script: Path) -> None:
    """Neither for another finding nor for another line."""
    assert [] == covering(acceptances([str(script)], script.parent), finding, script, line)


def test_pyproject_accepts_a_line_or_a_file(script: Path) -> None:
    """`at` is relative to the file's folder, and found from a folder below it."""
    (script.parent / "pyproject.toml").write_text(
        '[tool.loaderspec.watch]\naccept = [{ finding = "WORK-3", at = "train.py", reason = "all of it" },'
        ' { finding = "SPLIT", at = "train.py:2", reason = "on purpose" }]\n'
    )
    below = script.parent / "below"
    below.mkdir()
    accepted = acceptances([], below)
    assert ["all of it"] == covering(accepted, "WORK-3", script, 6)
    assert ["on purpose"] == covering(accepted, "SPLIT", script, 4)
    assert [] == covering(accepted, "SPLIT", script, 6)


@pytest.mark.parametrize(
    ("text", "lacks"),
    [
        ('accept = [{ finding = "SPLIT", at = "train.py" }]', "no reason"),
        ('accept = [{ at = "train.py", reason = "why" }]', "no finding"),
        ("steps = 3", "'steps'"),
    ],
)
def test_an_entry_that_lacks_something_gets_a_sentence(text: str, lacks: str, tmp_path: Path) -> None:
    """It says what is lacking."""
    (tmp_path / "pyproject.toml").write_text(f"[tool.loaderspec.watch]\n{text}\n")
    with pytest.raises(Unfit, match=lacks):
        acceptances([], tmp_path)


def test_a_comment_without_a_reason_accepts_nothing_and_drops_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told, with how to write one; no job is kept from its start, and none that has run is without a verdict."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("x = 1  # loaderspec: ignore COUNT-5\n")
    line = {"file": str(tmp_path / "train.py"), "line": 1}
    record = job(tmp_path / "record", [[whole([[0], [1]])], [whole([[2]])]], **line)
    verdict, (told,) = accepting(audited(record))
    assert [("COUNT-5", "other-steps")] == found(verdict)
    assert "train.py:1 ignores COUNT-5 without a reason, so it is not accepted: write" in told
    check_accepted()
    (tmp_path / "pyproject.toml").write_text('[tool.loaderspec.watch]\naccept = [{ finding = "COUNT-5" }]\n')
    with pytest.raises(Unfit, match="has no at"):
        check_accepted()
    verdict, (told,) = verdict_of(record)
    assert 1 == verdict.exit_code
    assert told.startswith("nothing is accepted: pyproject.toml: an entry")


@pytest.mark.parametrize(
    ("comment", "told"),
    [
        ("# loaderspec: ignore COUNT5 because", "train.py:1 says `# loaderspec: ignore COUNT5 because`, which is not"),
        ("# loaderspec: ignore COUNT-5: why", "which is not understood: write `# loaderspec: ignore FINDING, why`"),
        ("# loaderspec ignore COUNT-5, why", "which is not understood"),
        ("# loaderspec: ignore COUNT5, why", "train.py:1 accepts COUNT5, which is no finding: did you mean COUNT-5?"),
        ("# loaderspec: ignore nonsense, why", "which is no finding: `loaderspec explain` lists them all."),
    ],
)
def test_a_comment_that_is_misspelt_is_told(
    comment: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It accepts nothing; of a job that was stopped early it is said too."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(f"x = 1  {comment}\n")
    line = {"file": str(tmp_path / "train.py"), "line": 1}
    record = job(tmp_path / "record", [[whole([[0], [1]])], [whole([[2]])]], **line)
    verdict, (said,) = accepting(audited(record), limited=True)
    assert [("COUNT-5", "other-steps")] == found(verdict)
    assert told in said


def test_a_comment_that_speaks_of_loaderspec_is_no_acceptance(tmp_path: Path) -> None:
    """Nothing is said of it."""
    (tmp_path / "train.py").write_text("x = 1  # loaderspec watches this, and ignores nothing\n")
    assert [] == list(not_understood([str(tmp_path / "train.py")]))


def test_the_audit_accepts_what_the_watch_accepts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A comment at the line, and one that is out of date."""
    monkeypatch.chdir(tmp_path)
    comments = "x = 1  # loaderspec: ignore COUNT-5, join()\ny = 2  # loaderspec: ignore ORDER-6, why\n"
    (tmp_path / "train.py").write_text(comments)
    line = {"file": str(tmp_path / "train.py"), "line": 1}
    job(tmp_path / "record", [[whole([[0], [1]])], [whole([[2]])]], **line)
    assert 0 == main(["audit", "record"])
    out = capsys.readouterr().out
    assert "COUNT-5 is accepted (train.py:1: join())" in out
    assert "train.py:2 accepts ORDER-6, which was not found" in out
