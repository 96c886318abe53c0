"""Shared by the tests of the reference: probe datasets, and an environment without a launcher."""

import os

import pytest


@pytest.fixture(autouse=True)
def _no_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away the variables that would make this process one of several."""
    for name in [*os.environ]:
        if name.startswith(("OMPI_", "POPTORCH_", "POPDIST_")) or name in ("RANK", "WORLD_SIZE"):
            monkeypatch.delenv(name)
