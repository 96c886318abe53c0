"""The command that interrupts a loader everywhere says where it was not whole again."""

import pytest

from tests.benchmarks import interrupts
from tests.reference.ahead.interrupting import Checks


@pytest.mark.parametrize(("is_whole", "code", "told"), [(True, 0, "0 wrong"), (False, 1, "(1,): AssertionError: left")])
def test_what_is_left_is_told(
    is_whole: bool, code: int, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code is 1, and the checks say how to see it again."""

    def outlives(at: tuple[int, ...], *_: object) -> Checks:
        assert is_whole or not at, "left"
        return Checks(count=2, hit=["line.py:1"])

    monkeypatch.setattr(interrupts, "outlives", outlives)
    assert code == interrupts.main(["--pairs", "1"])
    assert told in capsys.readouterr().out
