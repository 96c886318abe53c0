"""An error of the suite's own in a rank's process is told as that, and the loader is not accused of it."""

from typing import Any

import pytest

from conformance import check
from conformance.loader import asked
from conformance.processes.own_errors import broken
from tests.harness import plain_loader


def failing(*_: Any) -> Any:
    """As the suite fails that meets something nobody thought of."""
    raise FileNotFoundError("a log that somebody else removed")


def raised(function: Any) -> BaseException:
    """The error that a function raises."""
    try:
        function()
    except BaseException as error:
        return error
    raise AssertionError("it raises nothing")


def test_the_innermost_frame_says_whose_error_it_is() -> None:
    """Code of the suite, and C code that it called, are the suite's; what it called in another file is not."""
    ours, other = raised(lambda: asked.arguments_of(None, 0)), raised(failing)  # type: ignore[arg-type]
    assert "AttributeError" in getattr(broken(ours), "text", "")
    assert broken(other) is None
    assert broken(KeyboardInterrupt()) is None


def test_a_run_in_which_the_suite_fails_accuses_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """The outcome is INVALID with the traceback, once; what comes after it was not judged; the exit code is 3."""
    usual = asked.hooks_of
    monkeypatch.setattr("conformance.loader.requests.hooks_of", usual)
    namespace: dict[str, Any] = {}
    # A function that stands in one of the suite's files.
    code = compile("def hooks_of(scenario, starting):\n    return {}['nothing']\n", asked.__file__, "exec")
    exec(code, namespace)
    monkeypatch.setattr("conformance.loader.requests.hooks_of", namespace["hooks_of"])
    report = check(plain_loader.load, plain_loader.claims, tier="quick")
    assert {} == {each.clause: each.case for each in report.outcomes if each.case}
    ended, *others = [each for each in report.outcomes if each.status == "INVALID"]
    assert ended.note.startswith("an error of the suite itself, not of the loader, ended the run")
    assert "KeyError: 'nothing'" in ended.note
    assert {f"not judged, because the run ended with {ended.clause}"} == {each.note for each in others}
    assert 3 == report.exit_code
    assert 1 == str(report).count("an error of the suite itself")
