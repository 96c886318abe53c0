"""The golden vectors in specs/vectors/."""

import json
from pathlib import Path

import pytest

from reference.rules.vectors import FOLDER, differences, files, main


def test_the_files_are_what_the_reference_says() -> None:
    """The stored vectors are up to date."""
    assert differences(FOLDER) == []


def test_writing_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    """What is written passes the check."""
    assert main(["--folder", str(tmp_path)]) == 0
    assert main(["--folder", str(tmp_path), "--check"]) == 0


def test_a_changed_file_and_a_missing_file_are_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The check fails with a sentence for each file."""
    main(["--folder", str(tmp_path)])
    (tmp_path / "layout.json").write_text("{}")
    (tmp_path / "shuffle.json").unlink()
    assert main(["--folder", str(tmp_path), "--check"]) == 1
    sentences = capsys.readouterr().err
    assert "layout.json differs" in sentences
    assert "shuffle.json is missing" in sentences


@pytest.mark.parametrize("name", sorted(files()))
def test_numbers_fit_a_double(name: str) -> None:
    """No number reaches 2**53, so every JSON reader sees it exactly."""

    def numbers(value: object) -> list[int]:
        if isinstance(value, dict | list):
            return [n for each in (value.values() if isinstance(value, dict) else value) for n in numbers(each)]
        return [value] if isinstance(value, int) else []

    assert max(numbers(json.loads(files()[name]))) < 2**53
