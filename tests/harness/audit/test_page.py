"""The page of a verdict: a picture that stays one screen, and findings with their lines of source."""

from pathlib import Path

import pytest

from conformance.audit.gather import gather
from conformance.audit.page import page
from conformance.audit.picture import picture
from conformance.audit.verdict import judged
from conformance.audit.view import View
from conformance.cli import main
from tests.harness.audit.jobs import cut, job, start, whole


def view(folder: Path) -> View:
    """The one loader of a record."""
    summary = gather(folder)
    ((key, group),) = summary.groups.items()
    return View(key, group, summary)


def test_a_cell_is_coloured_by_what_came_again(tmp_path: Path) -> None:
    """Rank 1 has a step less, and one of its steps has what rank 0 has as well."""
    ranks = [[whole([[0, 1], [2, 3]])], [whole([[2, 4]])]]
    (strip,) = picture(view(job(tmp_path, ranks, length=6))).strips
    assert [[0.0, 0.5], [0.5, None]] == [[cell.again for cell in line.cells] for line in strip.lines]
    assert (["rank 0", "rank 1"], 4, 1, 1) == (
        [line.name for line in strip.lines],
        strip.once,
        strip.again,
        strip.never,
    )


def test_a_picture_has_one_size(tmp_path: Path) -> None:
    """Many ranks, steps and epochs are some cells, each of several."""
    ranks = [[whole(cut(range(rank * 200, rank * 200 + 200), 2))] * 20 for rank in range(30)]
    drawn = picture(view(job(tmp_path, ranks, length=6000)))
    assert (8, 12) == (len(drawn.strips), drawn.hidden)
    assert (24, 48) == (len(drawn.strips[0].lines), len(drawn.strips[0].lines[0].cells))
    first = drawn.strips[0].lines[0]
    assert ("rank 0 to 1", (0, 2)) == (first.name, (first.cells[0].first, first.cells[0].last))
    assert {0.0} == {cell.again for line in drawn.strips[0].lines for cell in line.cells}


def test_a_restart_is_one_strip(tmp_path: Path) -> None:
    """What came before and after stands side by side, coloured over both; what neither gave is counted once."""
    steps = cut(range(40), 4)
    start(tmp_path, [whole(steps[:4], how="")], 0, 1, length=40, close=False)
    start(tmp_path, [whole(steps[3:9]), whole(steps)], 0, 1, length=40)
    shown = view(tmp_path)
    joint, other = picture(shown).strips
    assert ("epoch 0, before and after restart 1", 4, 10) == (joint.name, joint.restart, joint.steps)
    assert (32, 4, 4) == (joint.once, joint.again, joint.never)
    assert [0, 0, 0, 1, 1, 0, 0, 0, 0, 0] == [cell.again for cell in joint.lines[0].cells]
    assert "epoch 1 after restart 1" == other.name
    assert ">restart</text>" in page(shown.summary, judged(shown.summary), tmp_path)


def test_the_page_shows_findings_and_where_they_are(tmp_path: Path) -> None:
    """Its clause, its sentence, its line of source and what to do; and what is in names is no markup."""
    steps = cut(range(40), 4)
    summary = gather(job(tmp_path, [[whole(steps)], [whole(steps)]], length=40, **{"class": "<Loader>"}))
    text = page(summary, judged(summary), tmp_path)
    assert text == page(summary, judged(summary), tmp_path)
    for part in ("PART-1", "train.py:9", "--same-data 0,1", "DistributedSampler", "&lt;Loader&gt;", "<svg"):
        assert part in text
    assert "<Loader>" not in text
    assert "<script" not in text


def test_the_command_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Into a folder that is made for it, and it says where."""
    record = job(tmp_path / "record", [[whole([[0], [1]])]], length=2)
    assert 0 == main(["audit", str(record), "--html", str(tmp_path / "shown")])
    assert f"picture: {tmp_path / 'shown' / 'index.html'}" in capsys.readouterr().out
    assert (tmp_path / "shown" / "index.html").read_text("utf-8").startswith("<!doctype html>")
