"""Scripts for torchdata's DataLoader2 run as they stand: the tutorial's programs, and the examples of the specs."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.docs.programs import ROOT, printed
from tests.reference.pipelines.pipe_ranks import Ranks

EXAMPLES = ROOT / "specs" / "examples" / "pipelines"
CHAPTER = ROOT / "specs" / "8-pipelines.md"
TUTORIALS = sorted((ROOT.parent / "shared" / "seeds").glob("002_*.txt"))
ROWS = 47
# What the tutorial takes as known: it shows no imports.
HEAD = """
from torchdata.dataloader2 import (
    DataLoader2, DistributedReadingService, MultiProcessingReadingService, SequentialReadingService,
)
from torchdata.datapipes.iter import IterableWrapper
"""
# The same use of the same names, for whoever has no tutorial at hand.
OWN_PIPELINE = """
datapipe = IterableWrapper([f"./train{n}.csv" for n in (1, 2)]).open_files(encoding="utf-8")
datapipe = datapipe.parse_csv().shuffle().sharding_filter().map(fn).batch(8)
"""
OWN_SERVICES = [
    "MultiProcessingReadingService(num_workers=4)",
    "DistributedReadingService()",
    "SequentialReadingService(DistributedReadingService(), MultiProcessingReadingService(num_workers=4))",
]
OWN_LOOP = """
with DataLoader2(datapipe, reading_service={service}) as dl:
    for epoch in range(10):
        dl.seed(epoch)
        for d in dl:
            model(d)
"""


def own_programs() -> list[str]:
    """The pipeline, then a loop for each way to run it."""
    return [OWN_PIPELINE, *(OWN_LOOP.format(service=service) for service in OWN_SERVICES)]


def programs_of(tutorial: Path) -> list[str]:
    """The code blocks of a tutorial in reStructuredText."""
    blocks = re.findall(r"^\.\. code:: python\n\n((?:(?: {4}.*)?\n)+)", tutorial.read_text(encoding="utf-8"), re.M)
    return [re.sub(r"^ {4}", "", block, flags=re.M) for block in blocks]


@pytest.fixture(scope="module", params=["own", "tutorial"])
def programs(request: pytest.FixtureRequest) -> list[str]:
    """Four programs: a pipeline, and three loops over it."""
    if request.param == "own":
        return own_programs()
    if not TUTORIALS:
        pytest.skip("the tutorial is not here: ../shared/seeds/002_*.txt beside the project's root")
    return programs_of(TUTORIALS[0])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two real CSV files of unequal length: a row says its number and its square."""
    made = tmp_path_factory.mktemp("tutorial")
    for name, rows in (("train1.csv", range(31)), ("train2.csv", range(31, ROWS))):
        (made / name).write_text("".join(f"{row},{row * row}\n" for row in rows), encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def ranks() -> Iterator[dict[int, Any]]:
    """Groups of 1, 2 and 3 ranks."""
    groups = {world: Ranks(world) for world in (1, 2, 3)}
    yield groups
    for group in groups.values():
        group.end()


def carry_out(rank: int, program: str, folder: Path) -> list[list[int]]:
    """Run a program on one rank, as a script that is started in the folder; return what its model was given."""
    from reference.torchdata_names import install

    install()
    os.chdir(folder)
    given: list[list[int]] = []
    exec(program, {"fn": number_of, "model": given.append, "__name__": "__main__"})
    return given


def number_of(row: list[str]) -> int:
    """The number of a row."""
    return int(row[0])


def epochs(batches: list[list[int]]) -> list[list[list[int]]]:
    """The batches of ten epochs, which are equally long."""
    length = len(batches) // 10
    return [batches[at : at + length] for at in range(0, len(batches), length)]


def test_with_workers_each_row_comes_once_in_each_epoch(programs: list[str], folder: Path, ranks: Any) -> None:
    """Four workers, ten epochs, ten orders."""
    pipeline, loop, *_ = programs
    (given,) = ranks[1].run(carry_out, HEAD + pipeline + loop, folder)
    orders = [[row for batch in epoch for row in batch] for epoch in epochs(given)]
    assert [list(range(ROWS))] * 10 == [sorted(order) for order in orders]
    assert 10 == len({tuple(order) for order in orders})


@pytest.mark.parametrize("world", [2, 3])
@pytest.mark.parametrize("which", [2, 3])
def test_on_ranks_each_row_comes_at_most_once(
    programs: list[str], folder: Path, ranks: Any, world: int, which: int
) -> None:
    """As many batches on each rank; what is lost is what fullsync drops: fewer batches than there are workers."""
    found = ranks[world].run(carry_out, HEAD + programs[0] + programs[which], folder)
    assert 1 == len({len(given) for given in found})
    workers = 4 if which == 3 else 1
    for each in zip(*map(epochs, found), strict=True):
        rows = [row for rank in each for batch in rank for row in batch]
        assert len(set(rows)) == len(rows)
        assert ROWS - 8 * workers * (world - 1) <= len(rows)
    first, second, *_ = epochs(found[0])
    assert first != second


def test_a_tutorial_has_four_programs(programs: list[str]) -> None:
    """A pipeline, workers, ranks, both."""
    assert 4 == len(programs)


def shown() -> dict[str, str]:
    """What the chapter shows of each example."""
    return dict(re.findall(r"<!-- output: (\S+) -->\n```text\n(.*?)```", CHAPTER.read_text(encoding="utf-8"), re.S))


@pytest.mark.parametrize("name", shown())
def test_an_example_prints_what_the_chapter_shows(name: str) -> None:
    """With nothing but the project to import, and torchdata's names where they are missing."""
    assert shown()[name] == printed("-m", "reference.run", str(EXAMPLES / name))


def test_every_example_is_shown() -> None:
    """No script is left out."""
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(shown())


def test_the_chapter_lists_what_is_not_served() -> None:
    """Each name, and its functional form."""
    from reference.torchdata_names import NOT_SERVED

    text = CHAPTER.read_text(encoding="utf-8").partition("## What is not served")[2]
    named = {name for names in NOT_SERVED.values() for pair in names.items() for name in pair if name}
    assert {*NOT_SERVED, "torchdata.dataloader2.communication"} | named == set(re.findall(r"`([\w.]+)`", text))


@pytest.mark.deep
def test_what_is_installed_wins(tmp_path: Path) -> None:
    """A torchdata without pipelines keeps what it has, and gets the names that it has no more."""
    package = tmp_path / "torchdata"
    package.mkdir()
    (package / "__init__.py").write_text("mark = 'real'\n")
    (package / "stateful_dataloader.py").write_text("mark = 'real too'\n")
    program = (
        "from reference.torchdata_names import install; install(); "
        "import torchdata, torchdata.stateful_dataloader as s\n"
        "from torchdata.dataloader2 import DataLoader2; print(torchdata.mark, s.mark, DataLoader2.__module__)"
    )
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment, timeout=60
    )
    assert "real real too reference.dataloader2\n" == done.stdout
