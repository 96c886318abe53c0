"""`parametrize_with_clauses` in a library's own tests: an item a clause, each with its verdict."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

from conformance.plugin.marks import found_by
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
BY_NAME = """
def load(request):
    return Losing(request)


load.claims = dict(when_keeping="uneven")


@parametrize_with_clauses(load, tier="quick")
def test_named(clause):
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


def _module(name: str, file: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    made = ModuleType(name)
    made.__file__ = str(file)
    made.Loader = type("Loader", (), {"__module__": name})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, name, made)
    return made


def test_a_loader_is_replayed_by_a_word_that_finds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module in the folder goes by its name, one that only pytest finds by its file, and what has no name by none."""
    monkeypatch.chdir(tmp_path)
    here = _module("here", tmp_path / "here.py", monkeypatch)
    below = _module("below", tmp_path / "tests" / "below.py", monkeypatch)
    package = _module("package.loading", tmp_path / "src" / "package" / "loading.py", monkeypatch)
    assert ["here", "tests/below.py", "package.loading"] == list(map(found_by, (here, below, package)))
    loaders = [module.Loader for module in (here, below, package)]
    assert ["here:Loader", "tests/below.py:Loader", "package.loading:Loader"] == list(map(found_by, loaders))
    assert ["", "", "torch"] == [found_by(lambda request: []), found_by(Path()), found_by("torch")]


def test_a_failure_says_how_it_is_replayed(tmp_path: Path, installed: Path) -> None:
    """The command names what can be imported, and there is none for a loader of which the test alone knows."""
    (tmp_path / "test_mine.py").write_text(f"{TESTS}\n\n{BY_NAME}")
    ran = runs.run(tmp_path, "-m", "pytest", "-q", "-rN", "-k", "PART-2 and not plain", installed=installed)
    assert 2 == ran.out.count("  smallest case   ")
    assert 1 == ran.out.count("replay  ")
    assert "--impl=test_mine:load --case=PART-2-n1,w1,b1,keep" in ran.out
    assert "reproduce" not in ran.out
