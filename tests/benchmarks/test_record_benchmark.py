"""The benchmark of records prints its tables; how fast anything is, is judged by nobody."""

import re
import subprocess
import sys

import pytest

BENCHMARK = ("-m", "tests.benchmarks.record", "--quick")


@pytest.mark.deep
@pytest.mark.parametrize(
    ("table", "rows"),
    [
        ("hashing", ["one tensor of 1 MiB", "16 tensors of 64 KiB"]),
        ("auditing", ["indices", "digests"]),
        ("merging", ["indices, 4 ranks"]),
    ],
)
def test_a_table_has_its_rows(table: str, rows: list[str]) -> None:
    """What is measured stands in front of each row."""
    command = [sys.executable, *BENCHMARK, "--only", table]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=200)
    printed = [re.split(r" {2,}", line)[0] for line in done.stdout.splitlines() if line]
    assert rows == printed[2:]
