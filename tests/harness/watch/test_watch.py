"""The command `loaderspec watch`: which processes it reaches, what it prints, and its exit code."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.records.reader import files
from tests.harness.watch.jobs import ROOT, SCRIPTS

TORCHRUN = ["-m", "torch.distributed.run", "--nproc-per-node=2", "--standalone"]
POPRUN = ["-m", "reference.poprun", "--num-replicas=2", "--num-instances=2", sys.executable]
SPAWNS = """
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def work(rank, meeting):
    dist.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=2)
    dataset = TensorDataset(torch.arange(40))
    for epoch in range(2):
        for batch in DataLoader(dataset, batch_size=5, sampler=DistributedSampler(dataset)):
            pass
    dist.destroy_process_group()


if __name__ == "__main__":
    import os

    mp.spawn(work, (os.path.abspath("meeting"),), nprocs=2)
"""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in an empty folder, as a person does."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def python(*words: str) -> list[str]:
    """The end of a command that runs Python."""
    return ["--", sys.executable, *words]


def test_the_exit_code_and_the_output_are_the_jobs(capfd: pytest.CaptureFixture[str]) -> None:
    """What the job prints is not touched; that nothing was recorded is told beside it."""
    assert 7 == main(["watch", *python("-c", "print('mine'); raise SystemExit(7)")])
    out, err = capfd.readouterr()
    assert "mine\n" == out
    assert "nothing was recorded" in err


def test_a_job_that_reads_nothing_is_no_success() -> None:
    """Code 3: nothing was recorded."""
    assert 3 == main(["watch", *python("-c", "pass")])


def test_a_signal_is_told_as_a_shell_tells_it() -> None:
    """128 and the signal's number."""
    assert 137 == main(["watch", *python("-c", "import os; os.kill(os.getpid(), 9)")])


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        ([], 2, "say which job"),
        (["--", "no-such-program"], 127, "no-such-program can't be run: No such file"),
    ],
)
def test_a_call_that_can_not_be_carried_out_gets_a_sentence(
    words: list[str], code: int, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line."""
    assert code == main(["watch", *words])
    assert sentence in capsys.readouterr().err


def test_a_folder_with_something_else_in_it_is_not_emptied(capsys: pytest.CaptureFixture[str]) -> None:
    """The user's file stays."""
    Path("loaderspec-watch").mkdir()
    Path("loaderspec-watch/thesis.txt").write_text("mine")
    assert 2 == main(["watch", *python("-c", "pass")])
    assert "thesis.txt" in capsys.readouterr().err
    assert "mine" == Path("loaderspec-watch/thesis.txt").read_text()


def test_why_nothing_was_seen_is_the_first_line(capfd: pytest.CaptureFixture[str]) -> None:
    """A Python that ignores PYTHONPATH, and what is installed."""
    assert 3 == main(["watch", *python("-IS", "-c", "pass")])
    assert capfd.readouterr().err.startswith("Nothing was seen: no Python of this job ran the hook")


def test_torchrun_behind_a_shell_script_is_watched(capfd: pytest.CaptureFixture[str]) -> None:
    """Findings make the code 1, and are shown with their lines."""
    script = Path("run.sh")
    words = [sys.executable, *TORCHRUN, str(SCRIPTS / "no_set_epoch.py")]
    script.write_text("#!/bin/sh\nexec " + " ".join(f"'{word}'" for word in words) + "\n")
    script.chmod(0o755)
    assert 1 == main(["watch", "--", "./run.sh"])
    err = capfd.readouterr().err
    assert "20 samples, 2 ranks, 3 epochs seen whole" in err
    assert "ORDER-6" in err


@pytest.mark.deep
def test_poprun_is_watched(capfd: pytest.CaptureFixture[str]) -> None:
    """Its instances are the ranks."""
    assert 1 == main(["watch", *python(*POPRUN, str(SCRIPTS / "seeds_differ.py"))])
    err = capfd.readouterr().err
    assert "2 ranks, 2 epochs seen whole" in err
    assert "ORDER-4" in err


@pytest.mark.deep
def test_spawned_ranks_are_watched(capfd: pytest.CaptureFixture[str]) -> None:
    """Their ranks are known from torch.distributed alone."""
    Path("spawns.py").write_text(SPAWNS)
    assert 1 == main(["watch", *python("spawns.py")])
    err = capfd.readouterr().err
    assert "spawns.py:13  DataLoader   40 samples, 2 ranks, 2 epochs seen whole" in err
    assert "ORDER-6" in err


def test_steps_stop_the_job_and_an_accepted_finding_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    """The job's own code, 0; what was cut is said; and a folder that is given is gone on in."""
    text = (SCRIPTS / "loader_each_epoch.py").read_text()
    Path("train.py").write_text(
        text.replace("    for (batch,)", "    # loaderspec: ignore ORDER-6, on purpose\n    for (batch,)")
    )
    assert 0 == main(["watch", "--into=kept", "--steps=6", *python("train.py")])
    err = capfd.readouterr().err
    assert "limited to 6 steps" in err
    assert "1 loader watched, 0 findings" in err
    assert 0 == main(["watch", "--html=shown", *python("train.py")])
    err = capfd.readouterr().err
    assert "ORDER-6 is accepted (train.py:16: on purpose)" in err
    assert err.endswith("picture: shown/index.html\n")
    assert "<svg" in Path("shown/index.html").read_text("utf-8")
    assert 1 == len(files(Path("kept")))


@pytest.mark.skipif(shutil.which("accelerate") is None, reason="accelerate is not installed")
def test_accelerate_launch_is_watched(capfd: pytest.CaptureFixture[str]) -> None:
    """The program that it starts."""
    words = ["accelerate", "launch", "--cpu", "--num_processes=1", str(SCRIPTS / "right_accelerate.py")]
    assert 0 == main(["watch", "--", *words])
    assert "1 loader watched, 0 findings" in capfd.readouterr().err


def test_ctrl_c_ends_the_job_and_not_the_report() -> None:
    """The job gets it from the terminal; what was seen until then is told."""
    program = "import os, signal; os.killpg(0, signal.SIGINT); signal.pause()"
    command = [sys.executable, "-c", "from conformance.cli import main; raise SystemExit(main())", "watch"]
    done = subprocess.run(
        [*command, *python("-c", program)], env=dict(os.environ), capture_output=True, text=True, start_new_session=True
    )
    assert "nothing was recorded" in done.stderr
    assert done.returncode in (130, 1)
