"""Partial results: small, mergeable in any grouping, and the verdict is the same byte for byte."""

import json
import random
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.audit import summary as summaries
from conformance.audit.command import as_json
from conformance.audit.gather import gather
from conformance.audit.partial import NoPartial, merged, read_partial, write_partial
from conformance.audit.summary import Summary
from conformance.audit.verdict import judged
from conformance.cli import main
from conformance.records.frames import CLOSING, fact
from conformance.records.reader import files
from tests.harness.audit.jobs import cut, job, start, whole

RANKS = st.integers(1, 4)


@st.composite
def jobs(draw: st.DrawFn) -> dict[str, Any]:
    """Ranks, each with some epochs of some samples, by index or by content."""
    ranks, epochs = draw(RANKS), draw(st.integers(1, 3))
    ids = st.lists(st.integers(0, 9) | st.just(3), max_size=12)
    hows = st.sampled_from(["whole", "whole", "left"])
    epoch = st.builds(lambda samples, size, how: whole(cut(samples, size), how=how), ids, st.integers(1, 3), hows)
    parts = [[draw(epoch) for _ in range(epochs)] for _ in range(ranks)]
    return {"ranks": parts, "ids": draw(st.sampled_from(["index", "content"])), "length": draw(st.none() | st.just(10))}


def shown(summary: Summary) -> str:
    """The verdict, to the byte."""
    return as_json(judged(summary))


def stored(summary: Summary, folder: Path) -> bytes:
    """A summary as it is stored."""
    write_partial(summary, folder / "stored")
    return (folder / "stored").read_bytes()


@settings(max_examples=40)
@given(jobs(), st.randoms(use_true_random=False))
def test_the_verdict_is_the_same_in_any_grouping(made: dict[str, Any], chance: random.Random) -> None:
    """Ranks go into any parts, parts into any parts of parts, in any order, through files."""
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        folder = Path(name)
        patch.setattr(summaries, "_MOST_WITNESSES", 16)
        ranks = made.pop("ranks")
        record = job(folder / "record", ranks, **made)
        whole_of_it = gather(record)
        parts: list[Summary] = []
        for at, path in enumerate(files(record)):
            alone = folder / f"part{at}"
            alone.mkdir()
            shutil.copy(path, alone)
            write_partial(gather(alone), folder / f"{at}.partial")
            parts.append(read_partial(folder / f"{at}.partial"))
        while len(parts) > 1:
            some = [parts.pop(chance.randrange(len(parts))) for _ in range(chance.randint(2, len(parts)))]
            parts.append(merged(some))
        assert shown(whole_of_it) == shown(parts[0])
        assert stored(whole_of_it, folder) == stored(parts[0], folder)


def test_a_rank_in_two_parts_is_refused(tmp_path: Path) -> None:
    """Its starts could not be told apart."""
    part = gather(job(tmp_path, [[whole([[0]])]]))
    with pytest.raises(NoPartial, match="rank 0 is in two partial results"):
        merged([part, gather(tmp_path)])


def test_a_partial_result_that_was_cut_is_refused(tmp_path: Path) -> None:
    """Half of a summary is none."""
    file = tmp_path / "part"
    write_partial(gather(job(tmp_path / "record", [[whole([[0]])]])), file)
    file.write_bytes(file.read_bytes()[:-3])
    with pytest.raises(NoPartial, match="no whole partial result"):
        read_partial(file)


def test_a_summary_is_smaller_than_its_record(tmp_path: Path) -> None:
    """By index, from some thousand deliveries on: who got which of them takes two or three bytes each."""
    samples = random.Random(0).sample(range(4000), 4000)
    record = job(tmp_path / "record", [[whole(cut(samples, 8))]], length=4000)
    (path,) = files(record)
    assert len(stored(gather(record), tmp_path)) < path.stat().st_size * 2 // 3


def test_a_summary_of_another_version_is_told(tmp_path: Path) -> None:
    """It is to be written again."""
    (tmp_path / "part").write_bytes(fact({"what": "partial", "version": 1}) + fact({"frames": 1}, CLOSING))
    with pytest.raises(NoPartial, match="was written by another version of loaderspec; write it again"):
        read_partial(tmp_path / "part")


def test_the_command_judges_folders_and_merges(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`audit FOLDER` and `--partial` with `--merge` say the same, with the same code."""
    steps = cut(range(40), 4)
    for rank in range(2):
        start(tmp_path / "all", [whole(steps)], rank, 2, length=40)
        start(tmp_path / str(rank), [whole(steps)], rank, 2, length=40)
        assert 0 == main(["audit", str(tmp_path / str(rank)), "--partial", str(tmp_path / f"{rank}.part")])
    capsys.readouterr()
    assert 1 == main(["audit", str(tmp_path / "all")])
    direct = capsys.readouterr().out
    assert 1 == main(["audit", "--merge", str(tmp_path / "1.part"), str(tmp_path / "0.part")])
    assert direct == capsys.readouterr().out
    assert "PART-1" in direct
    assert 0 == main(["audit", str(tmp_path / "all"), "--same-data", "0,1"])


def test_the_verdict_is_json_on_demand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Loaders with their findings."""
    assert 0 == main(["audit", str(job(tmp_path, [[whole([[0], [1]])]])), "--json"])
    assert "train.py" == json.loads(capsys.readouterr().out)["loaders"][0]["file"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "give the folder of a record"),
        (["nowhere"], "nowhere is no folder"),
        (["--merge", "nowhere"], "nowhere"),
        (["--merge", "."], ". is a folder, not a summary that --partial wrote; `loaderspec audit . --partial FILE`"),
        ([".", "--same-data", "0"], "no group of ranks"),
        ([".", "--id-field", "id"], "is chosen when a job is recorded: `loaderspec watch --id-field F`"),
    ],
)
def test_a_wrong_call_is_told(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Code 2, and a sentence."""
    try:
        code = main(["audit", *words])
    except SystemExit as error:
        code = int(error.code or 0)
    assert 2 == code
    assert told in capsys.readouterr().err
