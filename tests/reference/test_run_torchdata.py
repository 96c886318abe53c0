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


@pytest.mark.deep
def test_what_is_gone_is_the_references(installed: Path) -> None:
    """The names that torchdata has no more are added to the one that is installed, in spawned workers too."""
    found = json.loads(run(installed.parents[1], SCRIPT))
    assert ["reference.dataloader2", ["0", "1", "2", "3", "4", "5"], "0.11"] == found


@pytest.mark.deep
def test_what_is_there_wins(installed: Path) -> None:
    """A torchdata that has its pipelines still keeps them."""
    (installed / "dataloader2.py").write_text("NAME = 'the real one'\n", encoding="utf-8")
    assert "the real one\n" == run(installed.parents[1], "import torchdata.dataloader2 as old\nprint(old.NAME)\n")


ABSENT = """
import sys
from types import SimpleNamespace
import reference.torchdata_names as names
from reference.launch.shims import SHIMS
names.PathFinder = SimpleNamespace(find_spec=lambda name, path: None)
sys.path.insert(0, str(SHIMS))
from torchdata.datapipes.iter import IterableWrapper
from torchdata.dataloader2 import DataLoader2
import torchdata
print(list(DataLoader2(IterableWrapper(range(3)))), torchdata.__name__)
"""


def test_all_is_there_where_none_is_installed() -> None:
    """The shim that is found in its place is not looked for again."""
    command = [sys.executable, "-c", ABSENT]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE, env=environment)
    assert ("[0, 1, 2] torchdata\n", 0) == (done.stdout, done.returncode), done.stderr


NAMES = """
import json
from torchdata.datapipes.iter import IterableWrapper
from torchdata.datapipes.map import SequenceWrapper
found = []
for line in (
    "from torchdata.datapipes.iter import WebDataset",
    "from torchdata.dataloader2 import ShuffleSpec",
    "from torchdata.dataloader2.adapter import CacheTimeout, Adapter, Shuffle",
    "from torchdata.dataloader2.graph import find_dps, list_dps, remove_dp, replace_dp, traverse_dps, DataPipe",
    "from torchdata.dataloader2.random import SeedGenerator; SeedGenerator(123).spawn(1)",
    "from torchdata.dataloader2.utils import WorkerInfo",
    "from torchdata.datapipes.utils import StreamWrapper",
    "from torchdata.datapipes.map import IterToMapConverter",
    "from torchdata.datapipes import DataChunk",
    "import torchdata.datapipes.iter as pipes; pipes.nothing",
    "IterableWrapper([[1], [2]]).slice(0)",
    "SequenceWrapper([(1, 2)]).unzip(2)",
    "import torchdata.datapipes.iter as pipes; pipes.WebDataset",
    "from torchdata.datapipes.iter.util.cacheholder import OnDiskCacheHolder",
    "import torchdata.dataloader2.linter",
):
    try:
        exec(line)
        found.append("")
    except Exception as error:
        found.append(f"{type(error).__name__}: {error}")
print(json.dumps(found))
"""


TOLD = [
    "AttributeError: module 'torchdata.datapipes.iter' has no attribute 'nothing'",
    "NotImplementedError: slice(), of torchdata.datapipes.iter.Slicer",
    "NotImplementedError: unzip(), of torchdata.datapipes.map.UnZipper",
    "AttributeError: torchdata.datapipes.iter.WebDataset was a name of torchdata 0.9 that",
    "ModuleNotFoundError: module 'torchdata.datapipes.iter' has no attribute 'util': names are imported from it",
    "ModuleNotFoundError: module 'torchdata.dataloader2' has no attribute 'linter': names are imported from it",
]


def test_what_is_not_served_says_so(installed: Path) -> None:
    """By its name, imported, read or as a function; so does a module within a module, and the rest is there."""
    found = json.loads(run(installed.parents[1], NAMES))
    assert found[0].startswith(
        "ModuleNotFoundError: torchdata.datapipes.iter.WebDataset was a name of torchdata 0.9 that"
    )
    assert found[1].startswith("ModuleNotFoundError: torchdata.dataloader2.ShuffleSpec")
    assert [""] * 7 == found[2:9]
    assert TOLD == [text[: len(told)] for text, told in zip(found[9:], TOLD, strict=True)]


@pytest.mark.parametrize(
    ("module", "number"),
    [
        ("torchdata.dataloader2", 11 + len(["WorkerInfo"])),
        ("torchdata.dataloader2.adapter", 3),
        ("torchdata.dataloader2.graph", 9),
        ("torchdata.dataloader2.random", 2),
        ("torchdata.dataloader2.utils", 3),
        ("torchdata.datapipes.iter", 87),
        ("torchdata.datapipes.map", 10),
        ("torchdata.datapipes.utils", 4),
    ],
)
def test_a_name_is_served_or_not(module: str, number: int) -> None:
    """Each of the so many that torchdata 0.9 had there, and none is both."""
    from reference.torchdata_names import _NAMES, NOT_SERVED

    served, not_served = set(_NAMES[module]), set(NOT_SERVED.get(module, {}))
    assert set() == served & not_served
    assert number == len(served | not_served)


def test_so_many_pipes_are_served() -> None:
    """As chapter 8 says: 51 of 87."""
    from reference.torchdata_names import _NAMES

    assert 51 == len(_NAMES["torchdata.datapipes.iter"])
