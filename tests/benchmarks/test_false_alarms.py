"""The command that looks for false alarms counts what it has seen, and says what was accused."""

from pathlib import Path

import pytest

from tests.benchmarks import false_alarms


@pytest.mark.deep
def test_a_right_loader_is_not_accused(capsys: pytest.CaptureFixture[str]) -> None:
    """The last line has the number of scenarios, and the exit code is 0."""
    assert 0 == false_alarms.main(["--scenarios", "60", "--impl", "tests.known_bad.correct:Correct"])
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("tests.known_bad.correct:Correct: ")
    assert "no clause violated" in last


@pytest.mark.deep
def test_a_wrong_loader_is_accused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The exit code is 1, and the case stands in the last line."""
    adapter = tmp_path / "endless_tail.py"
    adapter.write_text(
        "claims = dict(when_keeping='uneven')\n"
        "def load(request):\n"
        "    return [[request.dataset[at]] * 2 for at in range(len(request.dataset))]\n"
    )
    assert 1 == false_alarms.main(["--scenarios", "20", "--impl", str(adapter)])
    assert "PART-1-" in capsys.readouterr().out.splitlines()[-1]
