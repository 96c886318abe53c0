"""How many samples a stream has, as the user says it: fewer in a whole epoch are found, unless that may be right."""

from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any

import pytest

from conformance.audit.configured import Unfit
from conformance.audit.counted import Counted, configured, counted
from conformance.audit.gather import gather
from conformance.audit.text import shown
from conformance.audit.verdict import Verdict, judged
from conformance.cli import main
from tests.harness.audit.jobs import cut, found, job, told, whole
from tests.harness.audit.test_samples import order

STREAM = {"kind": "iterable", "ids": "named", "batch_size": 4, "drop_last": False}


def read(folder: Path, epochs: list[list[Any]], *said: str, ranks: int = 1, **loader: Any) -> Verdict:
    """A stream of which the user said how many samples it has."""
    parts = [[whole(cut(samples[rank::ranks], 4)) for samples in epochs] for rank in range(ranks)]
    record = job(folder, parts, **{**STREAM, **loader})
    return judged(gather(record), samples=[counted(each) for each in said])


@pytest.mark.parametrize(
    ("epochs", "more"),
    [
        pytest.param([list(range(37))], " in epoch 0", id="one-epoch"),
        pytest.param([order(37), order(37, 1)], " in each epoch, the same ones each time", id="the-same"),
        pytest.param(
            [order(40)[:37], order(40, 1)[:37]],
            " in each epoch, others each time, as each came in one epoch at least",
            id="others",
        ),
        pytest.param([order(40)[:37], order(40, 1)], " in 1 of 2 epochs, others each time", id="in-one-of-them"),
    ],
)
def test_fewer_samples_than_there_are_are_found(tmp_path: Path, epochs: list[list[int]], more: str) -> None:
    """Each epoch that was read to its end is compared with what was said."""
    (finding,) = read(tmp_path, epochs, "40").findings
    assert "PART-2" == finding.id
    assert finding.sentence.startswith(f"3 samples of 40 (--samples 40) never came{more}")


@pytest.mark.parametrize(
    ("samples", "expected", "note"),
    [
        pytest.param(list(range(37)), [("PART-2", "lost-of-counted")], None, id="fewer-deliveries"),
        pytest.param([*range(37), 0, 0, 0], [], "equal-samples", id="as-many-with-fewer-contents"),
        pytest.param(list(range(43)), [], "more-samples", id="more"),
        pytest.param(list(range(40)), [], None, id="all"),
    ],
)
def test_by_content_deliveries_are_counted(
    tmp_path: Path, samples: list[int], expected: list[tuple[str, str]], note: str | None
) -> None:
    """Different samples may be equal: no more are missing than were not delivered."""
    verdict = read(tmp_path, [samples], "40", ids="content")
    kinds = {"equal-samples", "more-samples"} & told(verdict)
    assert (expected, {note} - {None}) == (found(verdict), kinds)


@pytest.mark.parametrize(
    ("epochs", "ranks", "loader", "note"),
    [
        pytest.param([order(40)[:36], order(40, 1)[:36]], 1, {"drop_last": True}, "dropped-of-counted", id="drop-last"),
        pytest.param([order(40)[:36]], 1, {"drop_last": None, "kind": "wrapped"}, "dropped-of-counted", id="no-batch"),
        pytest.param([list(range(38))], 2, {}, "dropped-of-counted", id="equal-ranks"),
        pytest.param([list(range(13)), list(range(13, 39))], 1, {}, "counted-parts", id="a-file-each-time"),
        pytest.param([list(range(26)), list(range(26, 39))], 1, {}, "counted-parts", id="a-larger-file-first"),
        pytest.param([order(39), order(39, 1)], 1, {"length": 39, "kind": "wrapped"}, None, id="the-record-says-it"),
    ],
)
def test_what_may_be_right_is_told(
    tmp_path: Path, epochs: list[list[int]], ranks: int, loader: dict[str, Any], note: str | None
) -> None:
    """A dropped tail, and loaders that are made for a part each."""
    verdict = read(tmp_path, epochs, "39", ranks=ranks, **loader)
    assert [] == found(verdict)
    assert note is None or note in told(verdict)


def test_an_epoch_that_was_left_is_not_judged(tmp_path: Path) -> None:
    """What did not come may have been behind it."""
    record = job(tmp_path, [[whole(cut(range(20), 4), how="left")]], **STREAM)
    verdict = judged(gather(record), samples=[counted("40")])
    assert ([], True) == (found(verdict), "not-counted" in told(verdict))


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (["9=40"], True),
        (["train.py:9=40"], True),
        (["src/train.py:9=40"], False),
        (["8=40"], False),
        (["37", "9=40"], True),
        (["40", "train.py:9=37"], False),
    ],
)
def test_a_number_may_be_that_of_a_line(tmp_path: Path, said: list[str], expected: bool) -> None:
    """It counts more than one for all, and one that is about no loader is said."""
    verdict = read(tmp_path, [list(range(37))], *said)
    assert expected == bool(verdict.findings)
    assert (said in (["src/train.py:9=40"], ["8=40"])) == bool(verdict.unknown)


def test_evaluations_are_counted_by_their_line_alone(tmp_path: Path) -> None:
    """The number for all is that of what trains."""
    record = job(tmp_path, [[whole(cut(range(37), 4), no_grad=True)]], **STREAM)
    verdicts = [judged(gather(record), samples=[counted(said)]) for said in ("40", "9=40")]
    assert [[], [("PART-2", "lost-of-counted")]] == [found(verdict) for verdict in verdicts]


@pytest.mark.parametrize("words", ["", "0", "-3", "=40", "x=40", "train.py=40", "train.py:0=40", "many"])
def test_what_is_no_number_of_samples_is_refused(words: str) -> None:
    """The message says how to write it."""
    with pytest.raises(ArgumentTypeError, match="FILE:LINE=600"):
        counted(words)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("samples = 600", [(600, "", 0)]),
        ('samples = ["train.py:51=600", 40]', [(600, "train.py", 51), (40, "", 0)]),
        ("accept = []", []),
    ],
)
def test_pyproject_may_say_it(tmp_path: Path, line: str, expected: list[tuple[int, str, int]]) -> None:
    """One number, or several as on the command line."""
    (tmp_path / "pyproject.toml").write_text(f"[tool.loaderspec.watch]\n{line}\n")
    assert expected == [(each.number, each.file, each.line) for each in configured(tmp_path)]


def test_pyproject_with_something_else_is_refused(tmp_path: Path) -> None:
    """The message names the file."""
    (tmp_path / "pyproject.toml").write_text('[tool.loaderspec.watch]\nsamples = "many"\n')
    with pytest.raises(Unfit, match=r"pyproject\.toml: samples of"):
        configured(tmp_path)


@pytest.mark.parametrize(("words", "expected"), [(["--samples", "40"], 1), ([], 0), (["--samples", "8=40"], 2)])
def test_the_command_takes_it(tmp_path: Path, words: list[str], expected: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A finding, nothing, and a line that is no loader's."""
    monkeypatch.chdir(tmp_path)
    job(tmp_path / "record", [[whole(cut(range(37), 4))]], **STREAM)
    assert expected == main(["audit", *words, "record"])


@pytest.mark.parametrize(
    ("said", "loader", "expected"),
    [
        ([], {}, True),
        (["37"], {}, False),
        ([], {"length": 37}, False),
        ([], {"kind": "map"}, False),
    ],
)
def test_that_nobody_knows_how_many_there_are_is_said(
    tmp_path: Path, said: list[str], loader: dict[str, Any], expected: bool
) -> None:
    """Under a verdict without findings, where it could have been said."""
    verdict = read(tmp_path, [list(range(37))], *said, **loader)
    assert expected == shown(verdict).endswith("is not known; --samples N tells whether all came")


def test_a_number_that_pyproject_says_is_told_where_it_is_about_nothing(tmp_path: Path) -> None:
    """It may be that of another job: the call is not wrong."""
    record = job(tmp_path, [[whole(cut(range(40), 4))]], length=40)
    verdict = judged(gather(record), samples=[Counted(600, where="samples of pyproject.toml")])
    assert ("", True) == (verdict.unknown, any("pyproject.toml" in note for note in verdict.notes))
