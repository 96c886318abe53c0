"""A script for PopTorch runs without a launcher, and finds the reference in all of its processes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from reference.launch.shims import SHIMS, note_of_hidden, with_shims

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 200
SCRIPT = """
import json, multiprocessing, sys
import popdist.poptorch
import poptorch
import poptorch.optim
from poptorch.enums import OutputMode

def told():
    return [poptorch.DataLoader.__module__, popdist.poptorch.Options.__module__]

if __name__ == "__main__":
    import reference
    same = [poptorch.DataLoader is reference.DataLoader, poptorch.optim is reference.optim,
            OutputMode is poptorch.OutputMode, issubclass(popdist.poptorch.Options, poptorch.Options),
            poptorch.options.PipelinedExecution is poptorch.PipelinedExecution]
    same.append(not hasattr(poptorch, "custom_op") and not hasattr(popdist, "horovod"))
    refused = []
    for line in (
        "poptorch.custom_op",
        "from poptorch import custom_op",
        "import poptorch.no_such_module",
        "from popdist import horovod",
        "import popdist.horovod",
    ):
        try:
            exec(line)
        except (AttributeError, ModuleNotFoundError) as error:
            refused.append(str(error))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.apply_async(told).get(100)
    print(json.dumps([sys.argv[1:], __file__, same, found, refused]))
    sys.exit(3)
"""


def python(*words: str, path: str) -> subprocess.CompletedProcess[str]:
    """Run python with a PYTHONPATH."""
    command, environment = [sys.executable, *words], {**os.environ, "PYTHONPATH": path}
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE, env=environment)


@pytest.mark.deep
def test_a_script_finds_the_reference_in_all_its_processes(tmp_path: Path) -> None:
    """With its arguments, its own file name and its exit code, as python has them."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    done = python("-m", "reference.run", str(script), "--flag", "a b", path=str(ROOT))
    assert 3 == done.returncode, done.stderr
    *found, refused = json.loads(done.stdout)
    assert [
        ["--flag", "a b"],
        str(script),
        [True] * 6,
        ["reference.dataloader", "reference.popdist.poptorch"],
    ] == found
    # Whether it is read or imported.
    for name, texts in (("custom_op", refused[:2]), ("no_such_module", refused[2:3]), ("horovod", refused[3:])):
        assert all(f"has no attribute '{name}': the emulation does not serve it" in text for text in texts)
    assert [6, 6, 6, 7, 7] == [int(text.partition("specs/")[2][0]) for text in refused]


def test_what_stands_in_the_way_is_said(tmp_path: Path) -> None:
    """Beside the script lies another `reference`, which comes first."""
    (tmp_path / "reference.py").write_text("", encoding="utf-8")
    (tmp_path / "script.py").write_text("import poptorch\n", encoding="utf-8")
    done = python(str(tmp_path / "script.py"), path=str(SHIMS))
    assert 1 == done.returncode
    assert f"finds another module, {tmp_path / 'reference.py'}: rename it" in done.stderr


def test_what_is_installed_and_not_used_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is found, and not imported."""
    (tmp_path / "poptorch.py").write_text("raise SystemExit('the real one')", encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(SHIMS), str(tmp_path)])
    assert f"not what is installed in {tmp_path}: start it with plain python" in str(note_of_hidden())


def test_the_names_come_first_and_once() -> None:
    """What was on the path stays behind them, in its order."""
    expected = os.pathsep.join([str(SHIMS), "a", "b"])
    assert expected == with_shims(os.pathsep.join(["a", "b"]))
    assert expected == with_shims(expected)
    assert str(SHIMS) == with_shims(None)


def test_nothing_is_said_where_nothing_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no other poptorch; our own names don't count."""
    monkeypatch.setattr(sys, "path", [str(SHIMS), str(ROOT)])
    assert note_of_hidden() is None


def test_names_are_only_there_for_programs_that_ask() -> None:
    """Importing the reference makes no `poptorch`."""
    assert "poptorch" not in sys.modules
