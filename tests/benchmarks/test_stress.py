"""The stress of asynchronous loaders lets each come to its fate, and finds what hangs and what is left."""

import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reference import SharingStrategy
from tests.benchmarks.fates import ENDS, FAULTS, KINDS, STARTS, Fate, draw

PLAIN = Fate(0, "accessor", "none", 0, "read", SharingStrategy.Fork, 1, 2, False, ())
# A command of its own: it adopts what its processes leave.
LIVES = """
import sys
from pathlib import Path
from conformance.processes.descendants import adopt_orphans
from tests.benchmarks.fates import *
from tests.benchmarks import stress
adopt_orphans()
fates = eval(sys.argv[1])
found = stress.stress(fates, "file_descriptor", patience=float(sys.argv[2]), errors=Path(sys.argv[3]))
print(sorted(found.outcomes.items()))
print(len(found.wrong), *found.wrong)
"""


def lived(fates: list[Fate], folder: Path, patience: float = 60.0) -> list[str]:
    """What was told of these loaders."""
    words = re.sub(r"<SharingStrategy\.(\w+): \d>", r"SharingStrategy.\1", repr(fates))
    command = [sys.executable, "-c", LIVES, words, str(patience), str(folder / "errors")]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def test_the_fates_of_a_seed_are_always_the_same() -> None:
    """And all that there is comes, within a few thousand."""
    fates = [draw(0, number) for number in range(3000)]
    assert fates == [draw(0, number) for number in range(3000)]
    assert fates != [draw(1, number) for number in range(3000)]
    for field, values in (("kind", KINDS), ("fault", FAULTS), ("end", ENDS)):
        assert set(values) == set(Counter(getattr(fate, field) for fate in fates))
    assert set(STARTS) <= {fate.start for fate in fates} == set(SharingStrategy)


@pytest.mark.deep
def test_the_command_says_what_came_of_each(tmp_path: Path) -> None:
    """A handful of loaders, of which nothing is left: the last line has their number, and the exit code is 0."""
    command = [sys.executable, "-m", "tests.benchmarks.stress", "--loaders=6", "--first=3", "--busy=1", "--at-once=2"]
    ran = subprocess.run([*command, f"--errors={tmp_path / 'errors'}"], capture_output=True, text=True)
    *outcomes, last = ran.stdout.splitlines()
    assert (ran.returncode, sum(int(line.split()[0]) for line in outcomes)) == (0, 6), ran.stdout
    assert last.startswith("file_descriptor: 6 loaders, 0 hung, left something or were wrong;")


def test_each_loader_has_its_fate(tmp_path: Path) -> None:
    """Nothing is wrong with any; who is killed, or exits, has a process of its own."""
    changes: list[dict[str, Any]] = [
        {},
        {"fault": "raises"},
        {"end": "refused"},
        {"end": "killed", "delays": (0.0,)},
        {"end": "exits"},
    ]
    told = "[('exits: as it should', 1), ('killed: killed', 1), ('read: an error', 1), ('read: as it should', 1), "
    assert [told + "('refused: an error', 1)]", "0"] == lived([replace(PLAIN, **each) for each in changes], tmp_path)


@pytest.mark.deep
def test_a_loader_that_hangs_is_told(tmp_path: Path) -> None:
    """An accessor has no timeout; the next loader gets another process."""
    outcomes, wrong = lived([replace(PLAIN, fault="hangs"), replace(PLAIN, number=1)], tmp_path, patience=3.0)
    assert outcomes == "[('read: HANGS', 1), ('read: as it should', 1)]"
    assert wrong.startswith("1 HANGS Fate(number=0, kind='accessor', fault='hangs'")
    assert "in receive" in (tmp_path / "errors").read_text()
