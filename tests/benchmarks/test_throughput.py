"""The benchmark of throughput takes every figure, and shows it; how fast anything is, is judged by nobody."""

import json
import os
import select
import subprocess
import sys
import threading
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.children import Failed, Unavailable, in_child
from tests.benchmarks.figures import Figure, take_all
from tests.benchmarks.results import as_text
from tests.benchmarks.table import aligned, rewrite
from tests.benchmarks.targets import Target

BENCHMARK = ("-m", "tests.benchmarks.throughput")
LOADERS = [
    "torch, 0 workers",
    "torch, 2 workers",
    "torch, 2 workers, persistent",
    "torchdata's StatefulDataLoader, 2 workers, persistent",
    "ours, Sync, 0 workers",
    *(
        f"ours, {mode}, {workers}"
        for mode in ("Sync", "Async", "AsyncRebatched")
        for workers in ("1 worker", "2 workers")
    ),
]
LIMITS = [f"limit: {kind}, {threads}" for kind in ("gather", "plain copy") for threads in ("1 thread", "2 threads")]
DECODING = [*LOADERS[:1], "torch, 1 worker", LOADERS[1], "torch, 1 worker, persistent", *LOADERS[2:]]
COSTS = [
    "first item, ms",
    "first item after a pause, ms",
    "waiting for a slow item, cores",
    "nobody asks, cores",
    "memory above the dataset's, MB",
    "what later epochs add, MB",
]

STARTS = [
    f"{who}, {workers}{loader}"
    for workers in ("1 worker", "2 workers", "8 workers")
    for who in ("torch, fork", "ours, Fork")
    for loader in ("", ", next loader")
]


@pytest.fixture(scope="module")
def quick_run() -> Any:
    """What a run with little to read prints as JSON."""
    command = [sys.executable, *BENCHMARK, "--quick", "--rounds=1", "--json"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.deep
@pytest.mark.parametrize(
    ("section", "rows"),
    [
        ("tutorial, 1 replica", [*LOADERS, "torch, 0 workers, whole steps indexed at once", *LIMITS]),
        ("tutorial, 4 replicas", [*LOADERS, "torch, 0 workers, whole steps indexed at once", *LIMITS]),
        ("decoding", DECODING),
        ("costs, ours", COSTS),
        ("costs, torch", COSTS),
        ("time to the first item, ms", STARTS),
    ],
)
def test_each_table_has_its_rows(quick_run: Any, section: str, rows: list[str]) -> None:
    """Every way to load has a row in its table, whether it could be measured or not."""
    assert rows == [figure["name"] for figure in quick_run["figures"] if figure["section"] == section]


def test_each_row_has_a_figure_or_a_reason(quick_run: Any) -> None:
    """One round gives one value, or a sentence that says what is missing; nothing fails."""
    for figure in quick_run["figures"]:
        assert "" == figure["failed"]
        assert (1 if figure["missing"] == "" else 0) == len(figure["values"]), figure


def test_each_target_has_a_verdict(quick_run: Any) -> None:
    """Eighteen targets are met, missed or not measured."""
    assert 18 == len(quick_run["targets"])
    assert {target["verdict"] for target in quick_run["targets"]} <= {"met", "MISSED", "not measured"}


def test_what_is_missing_or_fails_is_said_below_the_tables() -> None:
    """A row without a figure is named with its reason, and is not taken again in the next round."""
    calls = get_context("fork").SimpleQueue()

    def unavailable() -> tuple[float]:
        calls.put("absent")
        raise ImportError("Nobody has written it.")

    def failing() -> tuple[float]:
        raise ValueError("It is broken.")

    figures = [
        Figure("load", ("absent",), unavailable),
        Figure("load", ("broken",), failing),
        Figure("load", ("fine",), lambda: (2000.0,)),
    ]
    results = take_all(figures, rounds=2, patience=60.0)
    text = as_text("machine", results, {"load": 4}, [Target("a ratio", None, True, 5.0)])
    assert "absent" == calls.get()
    assert calls.empty()
    assert [[], [], [2000.0, 2000.0]] == [result.values for result in results]
    assert [
        "load  items/s  lowest  highest",
        "fine    2,000   2,000    2,000",
    ] == text.splitlines()[2:4]
    assert [
        "targets  found  aimed at",
        "a ratio      -      >= 5  not measured",
        "",
        "Left out (rates: absent). Nobody has written it.",
        "Left out (load: broken). It failed: ValueError: It is broken.",
    ] == text.splitlines()[-5:]


def test_a_figure_is_taken_in_another_process() -> None:
    """What a measurement returns comes back; what it lacks, and how it fails, comes back as a sentence."""
    assert (1.5,) == in_child(lambda: (1.5,), 60.0)
    with pytest.raises(Unavailable, match=r"^Not built\.$"):
        in_child(lambda: _raise(NotImplementedError("Not built.")), 60.0)
    with pytest.raises(Failed, match="died without a figure"):
        in_child(lambda: _raise(SystemExit(0)), 60.0)


def test_a_figure_that_hangs_is_ended() -> None:
    """A measurement that doesn't come to an end is no figure, and neither it nor what it started is left."""
    reader, writer = os.pipe()
    with pytest.raises(Failed, match=r"^Nothing came in 0\.1 s"):
        in_child(_hang_together, 0.1)
    os.close(writer)
    # The last holder of the writing end is gone, so there is an end to read.
    assert ([reader], [], []) == select.select([reader], [], [], 60.0)
    assert b"" == os.read(reader, 1)
    os.close(reader)


@pytest.mark.parametrize(
    ("found", "at_least", "verdict"),
    [
        (5.0, True, "met"),
        (4.9, True, "MISSED"),
        (5.0, False, "met"),
        (5.1, False, "MISSED"),
        (None, True, "not measured"),
    ],
)
def test_a_target_is_met_at_its_bound(found: float | None, at_least: bool, verdict: str) -> None:
    """A bound is the last value that is good."""
    assert verdict == Target("ratio", found, at_least, 5.0).verdict


def test_columns_are_aligned() -> None:
    """The first column stands to the left and the others to the right."""
    assert ["", "ab    1", "c   100"] == list(aligned([("", ""), ("ab", "1"), ("c", "100")]))


def test_only_what_stands_between_the_marks_is_written_anew(tmp_path: Path) -> None:
    """The lines around a generated part stay, and a document without the marks is refused."""
    document = tmp_path / "README.md"
    document.write_text("above\n<!-- generated: x -->\nold\n<!-- generated: end of x -->\nbelow\n")
    rewrite(document, "x", "new \\1")
    assert "above\n<!-- generated: x -->\n\nnew \\1\n\n<!-- generated: end of x -->\nbelow\n" == document.read_text()
    with pytest.raises(ValueError, match=r"README\.md must have the lines <!-- generated: y -->"):
        rewrite(document, "y", "new")


def _raise(error: BaseException) -> tuple[float]:
    raise error


def _hang_together() -> tuple[float]:
    """Two processes, of which none ends by itself."""
    os.fork()
    threading.Event().wait()
    return (0.0,)
