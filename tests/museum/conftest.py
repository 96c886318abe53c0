"""Makes `tests` importable however pytest is called, and draws scenarios once for all loaders of the same claims."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))


@pytest.fixture(scope="session", autouse=True)
def _drawn_once() -> Iterator[None]:
    from tests.museum.judged import drawn_once

    with drawn_once():
        yield
