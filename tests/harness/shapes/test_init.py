"""`loaderspec init` writes an adapter that runs as it stands."""

from pathlib import Path

import pytest

from conformance.cli import main

LOADER = """\
class Mine:
    def __init__(self, dataset, batch_size):
        if batch_size < 1:
            raise ValueError(batch_size)
        self.dataset, self.batch_size = dataset, batch_size

    def __iter__(self):
        for at in range(0, len(self.dataset), self.batch_size):
            yield [self.dataset[index] for index in range(at, min(at + self.batch_size, len(self.dataset)))]


def needy(dataset, secret):
    return []
"""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand above a folder with a loader in it."""
    monkeypatch.chdir(tmp_path)
    Path("some").mkdir()
    Path("some/mine.py").write_text(LOADER)


def test_the_adapter_is_written_beside_its_target(capsys: pytest.CaptureFixture[str]) -> None:
    """It imports it, says what was seen, and can be judged at once; a second time it is not written over."""
    assert 0 == main(["init", "some/mine.py:Mine"])
    assert "no rank, so it is judged as one rank" in capsys.readouterr().out
    text = Path("some/loaderspec_mine.py").read_text()
    assert "from mine import Mine\n" in text
    assert 'when_keeping="uneven",  # the rest under drop_last=False is delivered: every sample once\n' in text
    assert 0 == main(["run", "some/loaderspec_mine.py", "--case=PART-2-n3,w1,b2,keep"])
    assert 4 == main(["init", "some/mine.py:Mine"])
    assert "some/loaderspec_mine.py is there already" in capsys.readouterr().err


def test_what_has_to_be_filled_in_is_marked(capsys: pytest.CaptureFixture[str]) -> None:
    """An adapter with a gap says so."""
    assert 0 == main(["init", "some/mine.py:needy", "--to=here.py"])
    assert "must be given secret" in capsys.readouterr().out
    assert "secret=...,  # TODO: it needs this\n" in Path("here.py").read_text()


def test_an_adapter_needs_none(capsys: pytest.CaptureFixture[str]) -> None:
    """What has load(request) is refused with a sentence."""
    Path("done.py").write_text("def load(request):\n    return [[each] for each in request.dataset]\n")
    assert 4 == main(["init", "done.py"])
    assert "it is an adapter already" in capsys.readouterr().err
