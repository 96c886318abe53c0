"""Shared by the tests of the harness."""

from pathlib import Path

import pytest

from tests.harness import runs


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An import path on which the package is installed."""
    return runs.install(tmp_path_factory.mktemp("installed"))
