"""Who a sample is, as the user says it: a field or a function that is not there is no success."""

import warnings
from pathlib import Path

import numpy as np
import pytest
import torch

from conformance.audit.text import shown
from conformance.cli import main
from conformance.records.names import NoIdentity, field_of
from conformance.watch.options import Options
from conformance.watch.preflight import check_identify
from tests.harness.watch.jobs import Jobs, found, judged

JOB = """
import torch
from torch.utils.data import DataLoader, IterableDataset

class Stream(IterableDataset):
    def __iter__(self):
        for number in range(6):
            yield {"uid": number, "x": torch.zeros(2)}

if __name__ == "__main__":
    for batch in DataLoader(Stream(), batch_size=2, num_workers=WORKERS):
        pass
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, to stand in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("workers", [0, 1])
def test_a_field_that_is_not_there_is_no_success(workers: int, started: Jobs, here: Path) -> None:
    """It is named, and so are the fields that there are; the job does not feel it, and code 3 says that all is open."""
    (here / "train.py").write_text(JOB.replace("WORKERS", str(workers)))
    assert [0] == started.run(here / "train.py", here / "wrong", options=Options(id_field="id"))
    verdict = judged(here / "wrong")
    assert 3 == verdict.exit_code
    assert "--id-field id: an element of type dict has no such field; it has uid, x" in shown(verdict)
    assert [0] == started.run(here / "train.py", here / "right", options=Options(id_field="uid"))
    verdict = judged(here / "right")
    assert ([], 0) == (found(verdict), verdict.exit_code)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nothing", "has no colon"),
        ("no_such_module_of_ours:uid", "no module no_such_module_of_ours"),
        ("missing.py:uid", "no module missing.py"),
        ("names.py:uid", "names.py has no uid"),
        ("names:uid", "names.py has no uid"),
    ],
)
def test_a_function_that_is_not_there_is_told_before_the_job_starts(
    name: str, words: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Code 2, and the job did not run; its source was not run either."""
    (here / "names.py").write_text("def key(sample): return 0\nraise SystemExit(9)\n")
    assert 2 == main(["watch", "--identify", name, "--", "touch", "ran"])
    assert words in capsys.readouterr().err
    assert not (here / "ran").exists()


@pytest.mark.parametrize("name", ["names.py:key", "names:key", "beside:key", "os.path:join", "json:loads"])
def test_a_function_that_may_be_there_is_let_through(name: str, here: Path) -> None:
    """In this folder, beside the script, or installed."""
    (here / "names.py").write_text("def key(sample): return 0\n")
    (here / "src").mkdir()
    (here / "src" / "train.py").touch()
    (here / "src" / "beside.py").write_text("key = len\n")
    check_identify(name, ["python", "src/train.py"])


@pytest.mark.parametrize("value", [{"a": 1}, [1, 2], object(), "text", torch.tensor([1]), np.array([1])])
def test_what_has_no_such_field_gets_a_sentence(value: object) -> None:
    """Whatever it is, and without a warning of a library's."""
    warnings.simplefilter("error")
    with pytest.raises(NoIdentity, match=r"^--id-field z: an element of type \w+ has no such field"):
        field_of(value, "z", "--id-field z")


@pytest.mark.parametrize(
    ("value", "name"),
    [({"z": 3}, "z"), ([1, 3], "1"), (torch.tensor([1, 3]), "1"), (np.array([(3,)], [("z", int)])[0], "z")],
)
def test_a_field_is_found(value: object, name: str) -> None:
    """By its key or its position."""
    assert 3 == int(field_of(value, name, "--id-field"))
