"""The command that judges unusual loaders says who is accused, and of what."""

import pytest

from tests.benchmarks import unusual
from tests.known_bad.life import MakesListsOfTuples


def test_a_right_loader_is_green(capsys: pytest.CaptureFixture[str]) -> None:
    """The exit code is 0."""
    assert 0 == unusual.main(["--tier", "quick", "AddsToTheText"])
    assert "0 of the unusual loaders accused at the tier quick" == capsys.readouterr().out.splitlines()[-1]


def test_an_accused_loader_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """With the case, and the exit code is 1."""
    monkeypatch.setattr(unusual, "ALL_UNUSUAL", (MakesListsOfTuples,))
    assert 1 == unusual.main(["--tier", "quick"])
    assert "WORK-17-n3,w1,b3,keep,iterable,kind=tuple" in capsys.readouterr().out
