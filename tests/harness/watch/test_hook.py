"""The hook that every Python of a watched job runs first: it says hello, and is not felt."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.watch.folder import said
from conformance.watch.options import FOLDER, SITE, Options, environment
from tests.harness.watch.jobs import ROOT


def python(folder: Path, *words: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    """A Python of a job that is recorded into a folder."""
    made = {**environment(folder, Options(), dict(os.environ)), **variables}
    return subprocess.run([sys.executable, *words], cwd=folder, env=made, capture_output=True, text=True, check=False)


def test_a_python_says_hello(tmp_path: Path) -> None:
    """With its words, and its place in the job."""
    done = python(tmp_path, "-c", "print('mine')", RANK="1", WORLD_SIZE="2")
    assert (0, "mine\n", "") == (done.returncode, done.stdout, done.stderr)
    (hello,) = said(tmp_path)
    assert ("hello", {"RANK": "1", "WORLD_SIZE": "2"}) == (hello.what, hello.environment)
    assert ["-c", "print('mine')"] == hello.words[-2:]


def test_a_folder_that_can_not_be_written_is_not_felt(tmp_path: Path) -> None:
    """The job goes on, and nothing is said."""
    done = python(tmp_path, "-c", "print('mine')", **{FOLDER: str(tmp_path / "no" / "where")})
    assert (0, "mine\n", "") == (done.returncode, done.stdout, done.stderr)


def test_the_users_own_sitecustomize_runs(tmp_path: Path) -> None:
    """It is behind ours on the path, and is run by it."""
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.mine = __file__")
    path = os.pathsep.join([str(SITE), str(tmp_path)])
    done = python(
        tmp_path, "-c", "import sys, sitecustomize; print(sys.mine == sitecustomize.__file__)", PYTHONPATH=path
    )
    assert "True\n" == done.stdout
    assert 1 == len(list(said(tmp_path)))


def test_an_error_of_the_users_sitecustomize_is_the_users(tmp_path: Path) -> None:
    """Python tells it as it does without us, and goes on."""
    (tmp_path / "sitecustomize.py").write_text("import nothing_of_this_name")
    path = os.pathsep.join([str(SITE), str(tmp_path)])
    done = python(tmp_path, "-c", "print('mine')", PYTHONPATH=path)
    assert "mine\n" == done.stdout
    assert "nothing_of_this_name" in done.stderr


@pytest.mark.parametrize("name", ["sitecustomize", "_loaderspec_hook"])
def test_the_hook_is_of_old_syntax(name: str) -> None:
    """Any Python 3 can read it, and it imports os and sys alone until a loader is imported."""
    tree = ast.parse((SITE / f"{name}.py").read_text(), feature_version=(3, 4))
    imported = {
        each.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import) and node.col_offset == 0
        for each in node.names
    }
    assert {"os", "sys"} == imported


def test_a_tap_that_fails_is_told_and_not_felt(tmp_path: Path) -> None:
    """A job with a package of our name is not watched: that is said, and the job goes on."""
    (tmp_path / "conformance.py").write_text("")
    module = tmp_path / "accelerate" / "data_loader.py"
    module.parent.mkdir()
    (tmp_path / "accelerate" / "__init__.py").write_text("")
    module.write_text("loaded = 'mine'")
    path = os.pathsep.join([str(SITE), str(tmp_path)])
    done = python(tmp_path, "-c", "from accelerate.data_loader import loaded; print(loaded)", PYTHONPATH=path)
    assert ("mine\n", "") == (done.stdout, done.stderr)
    _, failed = said(tmp_path)
    assert "failed" == failed.what
    assert "conformance" in failed.words[1]


def test_another_interpreter_finds_the_taps(tmp_path: Path) -> None:
    """A Python in which loaderspec is not installed imports it from where the command has it."""
    program = "import conformance.watch.watching as ours; print(ours.__file__)"
    done = python(tmp_path, "-c", program, PYTHONPATH=str(SITE))
    assert str(ROOT / "conformance" / "watch" / "watching.py") == done.stdout.strip()
