"""The command `loaderspec check`: a loader is judged without the training."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.watch.checking import Ranks, ranks
from conformance.watch.options import Options
from conformance.watch.targets import SetUp, Unfit
from tests.harness.watch.jobs import SCRIPTS, found, judged

# What is said of a script's function or stream, in which set-up.
CHECKED = {
    "few_shards:make_loader": (SetUp(world_size=2), ["COUNT-5"]),
    "weighted_ranks:make_loader": (SetUp(world_size=2), ["PART-1"]),
    "numpy_augment:make_loader": (SetUp(world_size=1, num_workers=2), ["WORK-8"]),
    "stream_workers:lines": (SetUp(world_size=2, num_workers=1), ["WORK-3"]),
    "seeds_differ:make_loader": (SetUp(world_size=2), ["ORDER-4"]),
    "hash_seed:make_loader": (SetUp(world_size=2), ["ORDER-4"]),
    "right_stream:make_loader": (SetUp(world_size=3, num_workers=2), []),
    "right_equal_contents:make_loader": (SetUp(world_size=2, num_workers=2), []),
    "right_subset_of_rank:make_loader": (SetUp(world_size=3), []),
    "right_files_of_rank:make_loader": (SetUp(world_size=2), []),
}


@pytest.fixture(scope="module")
def running() -> Iterator[Ranks]:
    """The program that reads targets."""
    with ranks(Options(), 100.0) as program:
        yield program


@pytest.mark.parametrize("target", CHECKED)
def test_a_scripts_loader_is_judged_by_itself(target: str, running: Ranks, tmp_path: Path) -> None:
    """What `watch` says of the script, or nothing."""
    setup, clauses = CHECKED[target]
    running.record(f"{SCRIPTS}/{target.replace(':', '.py:')}", setup, tmp_path / "record")
    assert clauses == [clause for clause, _ in found(judged(tmp_path / "record"))]


def test_what_the_target_raises_is_told(running: Ranks, tmp_path: Path) -> None:
    """With its rank, and the program goes on to the next."""
    (tmp_path / "breaks.py").write_text("def make(rank):\n    raise KeyError('no such split')\n")
    with pytest.raises(Unfit, match=r"rank [01]: KeyError: 'no such split'"):
        running.record(f"{tmp_path}/breaks.py:make", SetUp(world_size=2), tmp_path / "record")


def test_what_is_no_loader_gets_a_sentence(running: Ranks, tmp_path: Path) -> None:
    """It says what the function gave."""
    (tmp_path / "gives.py").write_text("def make():\n    return 3\n")
    with pytest.raises(Unfit, match="make gives a int: a loader is needed"):
        running.record(f"{tmp_path}/gives.py:make", SetUp(), tmp_path / "record")


@pytest.mark.deep
def test_an_endless_stream_is_stopped(tmp_path: Path) -> None:
    """After the patience for one set-up, and what came until then is judged."""
    (tmp_path / "endless.py").write_text(
        "import itertools, torch\nfrom torch.utils.data import IterableDataset\n\n\n"
        "class Endless(IterableDataset):\n    def __iter__(self):\n        yield from itertools.count()\n\n\n"
        "stream = Endless()\n"
    )
    with ranks(Options(), 1.0) as impatient:
        impatient.record(f"{tmp_path}/endless.py:stream", SetUp(world_size=1, epochs=1), tmp_path / "record")
    verdict = judged(tmp_path / "record")
    assert ([], True) == (found(verdict), verdict.recorded)


@pytest.mark.deep
def test_the_sweep_prints_the_command_that_shows_the_finding(capfd: pytest.CaptureFixture[str]) -> None:
    """With fewer ranks, epochs and samples."""
    target = f"{SCRIPTS}/seeds_differ.py:make_loader"
    assert 1 == main(["check", target, "--world-size=3", "--sweep"])
    last = capfd.readouterr().out.splitlines()[-1]
    assert last.startswith("smallest set-up that shows ORDER-4:   loaderspec check ")
    assert " --world-size=2 --epochs=1 --length=" in last


@pytest.mark.parametrize("words", [["--set", "3=4"], ["--set", "nothing=1"]])
def test_a_bad_call_gets_a_sentence(words: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    """Code 2."""
    assert 2 == main(["check", f"{SCRIPTS}/seeds_differ.py:make_loader", *words])
    assert "loaderspec check: " in capfd.readouterr().err


def test_a_function_that_makes_a_process_group_is_told_how(running: Ranks, tmp_path: Path) -> None:
    """There is one already."""
    (tmp_path / "grouped.py").write_text(
        "import torch.distributed as dist\n\n\ndef make():\n    dist.init_process_group('gloo')\n"
    )
    with pytest.raises(Unfit, match=r"only `if not dist.is_initialized\(\)`"):
        running.record(f"{tmp_path}/grouped.py:make", SetUp(), tmp_path / "record")


def test_only_what_is_asked_for_is_checked(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Not the other loaders that the module makes; and a sweep without a finding says why it does nothing."""
    (tmp_path / "two.py").write_text(
        "from torch.utils.data import DataLoader\nother = DataLoader([1, 2])\nloader = DataLoader([3, 4])\n"
    )
    assert 0 == main(["check", f"{tmp_path}/two.py:loader", "--world-size=1", "--sweep"])
    out = capfd.readouterr().out
    assert "never iterated" not in out
    assert "1 loader checked, 0 findings" in out
    assert "no smaller set-up was looked for" in out


def test_how_many_samples_there_are_can_be_said(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The smallest set-up is told with it."""
    (tmp_path / "stream.py").write_text(
        "from torch.utils.data import IterableDataset\n\n\n"
        "class Stream(IterableDataset):\n    def __iter__(self):\n        yield from range(38)\n\n\n"
        "stream = Stream()\n"
    )
    words = ["--world-size=1", "--epochs=1", "--samples=40", "--sweep"]
    assert 1 == main(["check", f"{tmp_path}/stream.py:stream", *words])
    out = capfd.readouterr().out
    assert "2 samples of 40 (--samples 40) never came in epoch 0" in out
    assert "--samples=40" in out.splitlines()[-2]


def test_a_sweep_says_what_could_not_be_made_smaller(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The set-up is the smallest there is, and the sampler has a length of its own."""
    (tmp_path / "own.py").write_text(
        "import torch\nfrom torch.utils.data import DataLoader, TensorDataset\n\n\n"
        "def make():\n    return DataLoader(TensorDataset(torch.arange(20)), sampler=[*range(20), 3])\n"
    )
    assert 1 == main(["check", f"{tmp_path}/own.py:make", "--world-size=1", "--epochs=1", "--sweep"])
    *_, smallest, none, length = capfd.readouterr().out.splitlines()
    assert smallest.startswith("smallest set-up that shows PART-1:   loaderspec check ")
    assert "no smaller one that was tried shows it" == none
    assert length.startswith("--length has no hold: the sampler has a length of its own")
