"""What is said of a job of which nothing was seen."""

from pathlib import Path

import pytest

from conformance.watch.folder import Said
from conformance.watch.unseen import unseen


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["python", "-I", "train.py"], "started with -I"),
        (["python3.11", "-uE", "train.py"], "started with -E"),
        (["env", "-i", "python", "train.py"], "`env -i`"),
        (["./a.out"], "did not get PYTHONPATH"),
        (["python", "-c", "-I"], "did not get PYTHONPATH"),
    ],
)
def test_a_command_shows_why_nothing_was_seen(words: list[str], reason: str) -> None:
    """One sentence, with the reason that its words show."""
    (sentence,) = unseen(words, [])
    assert reason in sentence


def test_a_script_that_sets_the_path_is_named(tmp_path: Path) -> None:
    """With its line, unless that keeps what was there."""
    script = tmp_path / "run.sh"
    script.write_text("set -e\nPYTHONPATH=src torchrun train.py\n")
    (sentence,) = unseen(["bash", str(script)], [])
    assert "`PYTHONPATH=src torchrun train.py`" in sentence
    script.write_text("PYTHONPATH=src:$PYTHONPATH torchrun train.py\n")
    (sentence,) = unseen(["bash", str(script)], [])
    assert "src" not in sentence


def test_nothing_is_said_of_a_job_that_said_hello() -> None:
    """The hook took."""
    assert [] == list(unseen(["python", "train.py"], [Said("hello", 1, 0, {}, [])]))


def test_a_tap_that_failed_is_told() -> None:
    """With the process, the error and the place."""
    failed = Said("failed", 7, 0, {}, ["torch.utils.data.dataloader", "SyntaxError: match", "3.9.1"])
    (sentence,) = unseen(["python"], [Said("hello", 7, 0, {}, []), failed])
    assert "Process 7 (Python 3.9.1)" in sentence
    assert "SyntaxError: match" in sentence
