"""The benchmark of pipelines prints its table; how fast anything is, is judged by nobody."""

import re
import subprocess
import sys

import pytest

BENCHMARK = ("-m", "tests.benchmarks.pipelines")


@pytest.mark.deep
def test_the_table_has_a_line_for_each_way() -> None:
    """The limit and ours, without and with workers, in batches and row by row; no lowest rate is above the highest."""
    command = [sys.executable, *BENCHMARK, "--rows=64", "--epochs=1", "--rounds=1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=200)
    machine, head, *rows = done.stdout.splitlines()
    assert re.fullmatch(r"machine: \d+ cores, Python \S+, torch \S+", machine)
    assert ["pipeline", "workers", "rows/s", "lowest", "highest"] == head.split()
    cells = [re.split(r" {2,}", row.strip()) for row in rows]
    ways = [("generator", "0"), ("ours", "0"), ("ours", "2")]
    expected = [[f"{name}, {form}", workers] for form in ("batches of 8", "single rows") for name, workers in ways]
    assert expected == [row[:2] for row in cells]
    assert all(float(low.replace(",", "")) <= float(high.replace(",", "")) for *_, low, high in cells)
