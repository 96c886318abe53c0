"""Shared by all tests: Hypothesis tries the same examples each time, asserts no times and leaves no files.

Tests marked `deep` take more than about two seconds, and others of their kind run always; they run with `--deep`.
"""

import os
import sys

import pytest
from hypothesis import settings

from conformance.processes.zygote import heed

settings.register_profile("tests", derandomize=True, deadline=None, database=None)
settings.load_profile("tests")

# Tests start hundreds of processes, which compile all modules anew each time where this is set.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Tests that are run in the background interrupt what they start all the same.
heed()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option that adds the deep tests."""
    parser.addoption("--deep", action="store_true", help="run the tests that take minutes as well")


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known."""
    config.addinivalue_line("markers", "deep: takes minutes, and runs with --deep only")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the deep tests out, unless they are asked for."""
    if not config.getoption("--deep"):
        deep = [item for item in items if item.get_closest_marker("deep")]
        config.hook.pytest_deselected(items=deep)
        items[:] = [item for item in items if item not in deep]
