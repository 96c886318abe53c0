"""A script for torchdata's DataLoader2 runs as it stands, whatever torchdata is installed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 200
SCRIPT = """
import json
from torch.utils.data.datapipes.iter import IterableWrapper
from torchdata.dataloader2 import DataLoader2, MultiProcessingReadingService
import torchdata
import torchdata.datapipes.iter

if __name__ == "__main__":
    pipe = IterableWrapper(range(6)).sharding_filter().map(str)
    loader = DataLoader2(pipe, reading_service=MultiProcessingReadingService(2, multiprocessing_context="spawn"))
    print(json.dumps([DataLoader2.__module__, list(loader), getattr(torchdata, "VERSION", "none")]))
    loader.shutdown()
"""


def run(folder: Path, script: str) -> str:
    """What the script prints, with the folder on its path."""
    (folder / "script.py").write_text(script, encoding="utf-8")
    command = [sys.executable, "-m", "reference.run", str(folder / "script.py")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(folder / "installed")])}
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE, env=environment)
    assert 0 == done.returncode, done.stderr
    return done.stdout


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A torchdata of today, which has no pipelines any more."""
    package = tmp_path / "installed" / "torchdata"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("VERSION = '0.11'\n", encoding="utf-8")
    return package


def test_what_is_gone_is_the_references(installed: Path) -> None:
    """The names that torchdata has no more are added to the one that is installed, in spawned workers too."""
    found = json.loads(run(installed.parents[1], SCRIPT))
    assert ["reference.dataloader2", ["0", "1", "2", "3", "4", "5"], "0.11"] == found


def test_what_is_there_wins(installed: Path) -> None:
    """A torchdata that has its pipelines still keeps them."""
    (installed / "dataloader2.py").write_text("NAME = 'the real one'\n", encoding="utf-8")
    assert "the real one\n" == run(installed.parents[1], "import torchdata.dataloader2 as old\nprint(old.NAME)\n")
