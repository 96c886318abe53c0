"""What a consumer does is known wherever a loader is read."""

import subprocess
import sys

import pytest

import conformance.clauses  # noqa: F401  it imports all chapters
from conformance.loader.conducts import CONDUCTS

# What is said of a conduct that no process has heard of is wrong in silence: a fault in another epoch, no waiting.
ASK = """
import importlib
from conformance.loader.conducts import CONDUCTS
importlib.import_module({module!r})
assert {name!r} in CONDUCTS, sorted(CONDUCTS)
"""
OF_CHAPTERS = {name: conduct.module for name, conduct in CONDUCTS.items() if conduct.module}


@pytest.mark.parametrize("name", OF_CHAPTERS)
def test_a_process_that_only_reads_knows_what_a_conduct_needs(name: str) -> None:
    """The module that performs it registers it."""
    subprocess.run([sys.executable, "-c", ASK.format(module=OF_CHAPTERS[name], name=name)], check=True, timeout=60)
