"""`parametrize_with_clauses` in a library's own tests: an item a clause, each with its verdict."""

from pathlib import Path

from tests.harness import runs

TESTS = f"""
import sys
sys.path.insert(0, {str(runs.HERE)!r})
from conformance import parametrize_with_clauses
import plain_loader


class Losing(plain_loader.PlainLoader):
    def shard(self):
        return super().shard()[1:]


@parametrize_with_clauses(plain_loader, tier="quick")
def test_plain(clause):
    clause()


@parametrize_with_clauses(lambda request: Losing(request), dict(when_keeping="uneven"), tier="quick")
def test_losing(clause):
    clause()
"""


def test_a_clause_is_an_item_of_a_test(tmp_path: Path, installed: Path) -> None:
    """Those that hold pass, those that fail show the block, and what binds nobody is no item."""
    (tmp_path / "test_mine.py").write_text(TESTS)
    ran = runs.run(tmp_path, "-m", "pytest", "-q", "-k", "COUNT-2 or PART-2 or ORDER-2 or WORK-3", installed=installed)
    assert 1 == ran.code
    assert "PART-2 VIOLATED  When the rest is kept" in ran.out
    assert "FAILED test_mine.py::test_losing[PART-2]" in ran.out
    assert "2 failed, 3 passed" in ran.out
