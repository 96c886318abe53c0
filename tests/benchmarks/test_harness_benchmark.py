"""The benchmark of the harness prints its table; how fast anything is, is judged by nobody."""

import re
import subprocess
import sys

import pytest

BENCHMARK = ("-m", "tests.benchmarks.harness")


@pytest.mark.deep
def test_the_table_has_a_line_for_each_way() -> None:
    """Seven ways to go through scenarios have a rate and a ratio each, which is 1 for those compared with."""
    command = [sys.executable, *BENCHMARK, "--examples=5", "--repetitions=1", "--no-runs"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    machine, _, head, *rows = done.stdout.splitlines()
    assert re.fullmatch(r"machine: \d+ cores, Python \S+, torch \S+, hypothesis \S+, pytest \S+", machine)
    assert ["scenarios/s", "of", "row"] == head.split()
    found = [re.fullmatch(r"([1-5 ]) \S.+?  +[\d,]+  +(\d+\.\d\d) of [24]", row) for row in rows]
    assert ["1", " ", "2", "3", " ", "4", "5"] == [match[1] if match else None for match in found]
    assert ["1.00", "1.00"] == [match[2] for match in found if match and match[1] in "24"]
