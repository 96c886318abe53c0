"""What an implementation raises is told in words that a person can read, whatever it is."""

import pytest

from conformance.processes.calls import Stopped, called, described
from conformance.trial.words import printable


class Silent(Exception):
    """It can't say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


class Numb(Exception):
    """What it says is no text."""

    def __str__(self) -> str:
        return 7  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("bad rank"), "ValueError: bad rank"),
        (Silent(), "Silent: its text can't be read: str() raises RuntimeError"),
        (Numb(), "Numb: its text can't be read: str() raises TypeError"),
        (ValueError("x" * 10_000_000), f"ValueError: {'x' * 200}"),
        (
            ValueError("log\n" * 1_000_000 + "sample 3 is broken on purpose"),
            "ValueError: sample 3 is broken on purpose",
        ),
    ],
    ids=["short", "str raises", "str gives no text", "long", "many lines"],
)
def test_an_error_is_described(error: Exception, text: str) -> None:
    """Its type, and the line that matters."""
    assert text == described(error)


def test_an_error_without_a_text_stops_the_reading() -> None:
    """It is a failure of the implementation like any other."""

    def fail() -> None:
        raise Silent

    with pytest.raises(Stopped) as stopped:
        called("step", 0, fail)
    assert ("raised", "step") == (stopped.value.failure.kind, stopped.value.failure.where)


def test_a_terminal_is_not_steered() -> None:
    """ESC, a bell and a carriage return are written out; letters of all languages and line ends stay."""
    assert "\\x1b[31mé 漢\\x07\\r\n" == printable("\033[31mé 漢\a\r\n")
    assert "\033[31m" == printable("\033[31m", but="\033")
