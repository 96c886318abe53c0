"""The command that judges again and again says whether all reports are the same."""

from itertools import count
from pathlib import Path

import pytest

from tests.benchmarks import same_bytes


@pytest.mark.parametrize(("differ", "code", "told"), [(False, 0, "0 6 times (-n 0, 1, 2)"), (True, 1, "0 1 times")])
def test_reports_are_counted(
    differ: bool, code: int, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code is 1 if two of them differ, and each has its runs."""
    numbers = count()
    monkeypatch.setattr(same_bytes, "report_of", lambda *_: str(next(numbers)) if differ else "0")
    assert code == same_bytes.main(["--runs", "2", "mine"])
    assert told in capsys.readouterr().out


@pytest.mark.deep
def test_a_report_is_digested(tmp_path: Path) -> None:
    """One run of one clause."""
    adapter = tmp_path / "mine.py"
    adapter.write_text("claims = {}\ndef load(request):\n    return [[request.dataset[0]]]\n")
    assert 12 == len(same_bytes.report_of(str(adapter), ["--tier=quick", "-k", "BATCH-1"], "0", tmp_path))
