"""Whatever pytest is told by the folder that it is run from, a verdict is the same; what the person types counts."""

import os
from pathlib import Path

import pytest

from tests.harness import runs

# Judged: one family that is drawn and one that is listed, and a loader that one clause of them is violated by.
ADAPTER = f"""
import sys
sys.path.insert(0, {str(runs.HERE)!r})
from tests.harness.plain_loader import PlainLoader

claims = dict(when_dropping="drop", when_keeping="uneven")

class load(PlainLoader):
    def __iter__(self):
        for batch in super().__iter__():
            yield [*batch, batch[0]]
"""
INI = """
[pytest]
addopts = -k nothing -m nothing -x --setup-plan --collect-only --deselect=clauses -p no:cacheprovider --strict-markers
python_files = nothing_*.py
python_functions = nothing_*
python_classes = Nothing
norecursedirs = conformance clauses *
filterwarnings = error
testpaths = elsewhere
xfail_strict = true
usefixtures = broken
empty_parameter_set_mark = fail_at_collect
console_output_style = count
"""
CONFTEST = """
import pytest

collect_ignore_glob = ["*"]

@pytest.fixture(autouse=True)
def broken():
    raise RuntimeError("a fixture of the folder")

def pytest_collection_modifyitems(items):
    items[:] = []

def pytest_runtest_setup(item):
    pytest.skip("a hook of the folder")

def pytest_ignore_collect(collection_path, config):
    return True
"""


@pytest.fixture(scope="module")
def adapter(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The adapter, in a folder of its own."""
    path = tmp_path_factory.mktemp("adapter") / "adapter.py"
    path.write_text(ADAPTER)
    return str(path)


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder with an ini file and a conftest.py that leave out whatever they can."""
    (tmp_path / "pytest.ini").write_text(INI)
    (tmp_path / "conftest.py").write_text(CONFTEST)
    return tmp_path


def judged(folder: Path, adapter: str, installed: Path, *options: str) -> tuple[runs.Ran, str]:
    """How a run ended, and the report that it wrote."""
    report = folder / "report.json"
    ran = runs.run_pytest(
        folder, f"--impl={adapter}", "--tier=quick", f"--report-json={report}", *options, installed=installed
    )
    return ran, report.read_text() if report.exists() else ran.out + ran.err


@pytest.mark.deep
def test_the_folder_does_not_change_a_verdict(
    hostile: Path, tmp_path_factory: pytest.TempPathFactory, adapter: str, installed: Path
) -> None:
    """The code, the report and the files left behind are those of an empty folder."""
    clean = tmp_path_factory.mktemp("clean")
    expected, report = judged(clean, adapter, installed)
    ran, hostile_report = judged(hostile, adapter, installed)
    assert 1 == expected.code == ran.code
    assert report == hostile_report
    left = {"loaderspec-repro", "report.json"}
    assert left == set(os.listdir(clean))
    assert {*left, "pytest.ini", "conftest.py"} == set(os.listdir(hostile)) - {"__pycache__"}
    assert os.listdir(clean / "loaderspec-repro") == os.listdir(hostile / "loaderspec-repro")


def test_what_is_typed_counts_in_a_hostile_folder_too(hostile: Path, adapter: str, installed: Path) -> None:
    """-k of the command line chooses, -k of the ini file does not."""
    ran, report = judged(hostile, adapter, installed, "-kBATCH-4", "-pno:xdist")
    assert 0 == ran.code, ran.out
    assert '"BATCH-4"' in report
    assert '"PART-1"' not in report


def test_an_implementation_is_not_taken_for_an_option(hostile: Path, installed: Path) -> None:
    """A path with -k or -m in it is a path."""
    folder = hostile / "my-kit-m-x"
    folder.mkdir()
    (folder / "adapter.py").write_text(ADAPTER)
    ran, report = judged(hostile, "my-kit-m-x/adapter.py", installed, "--case=PART-1-n1,w1,b1,keep")
    assert 1 == ran.code, ran.out
    assert '"PART-1"' in report


STRANGER = """
def pytest_addoption(parser):
    group = parser.getgroup("stranger")
    group.addoption("--seed", default="theirs")
    group.addoption("--tier", default="theirs")
    group.addoption("--case", action="store_true")
"""
TEST = "def test_theirs(request):\n    assert 'theirs' == request.config.getoption('--seed')\n"


def test_a_strangers_tests_are_left_alone(tmp_path: Path, installed: Path) -> None:
    """Where the plugin is merely installed, others keep their options, their folder and their tests."""
    (tmp_path / "conftest.py").write_text(STRANGER)
    (tmp_path / "test_theirs.py").write_text(TEST)
    ran = runs.run(tmp_path, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", installed=installed)
    assert (0, "") == (ran.code, ran.err), ran.out
    assert "1 passed" in ran.out
    assert "loaderspec" not in ran.out
    assert {"conftest.py", "test_theirs.py"} == set(os.listdir(tmp_path))


def test_a_stranger_who_came_first_keeps_the_short_names(tmp_path: Path, installed: Path, adapter: str) -> None:
    """Options that another plugin took are still there under their long names."""
    (tmp_path / "stranger.py").write_text(STRANGER)
    options = (f"--impl={adapter}", "--loaderspec-tier=quick", "--loaderspec-case=PART-1-n1,w1,b1,keep")
    runs.install(tmp_path)
    ran = runs.run_pytest(tmp_path, "-p", "stranger", *options, installed=tmp_path)
    assert 1 == ran.code, ran.out + ran.err
    assert "PART-1 VIOLATED" in ran.out
