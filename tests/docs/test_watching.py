"""specs/watching.md tells the truth: a program that knows nothing but that page writes a record that is read."""

import re
from pathlib import Path

import pytest

from conformance.clauses import CLAUSES
from tests.harness.audit.jobs import audited, found

PAGE = Path(__file__).resolve().parents[2] / "specs" / "watching.md"


def test_the_program_of_the_page_writes_a_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One sample came twice and one never, and its file has a clean end."""
    program = re.search(r"<!-- runs -->\n```python\n(.*?)```", PAGE.read_text("utf-8"), re.S)
    assert program is not None
    monkeypatch.chdir(tmp_path)
    exec(program[1], {})
    verdict = audited(tmp_path)
    assert [("PART-1", "again"), ("PART-2", "lost")] == found(verdict)
    assert ("train.jl", ()) == (verdict.groups[0].file, verdict.notes)


def test_the_links_of_the_page_lead_to_clauses() -> None:
    """Each clause that is named stands in the chapter that is linked."""
    for clause, chapter, anchor in re.findall(r"\[([A-Z]+-\d+)\]\(([^)#]+)#([^)]+)\)", PAGE.read_text("utf-8")):
        assert clause in CLAUSES
        assert f"### {anchor.upper()}\n" in (PAGE.parent / chapter).read_text("utf-8")
