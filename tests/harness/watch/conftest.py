"""One program for all jobs of a process of pytest: importing torch is what takes time."""

from collections.abc import Iterator

import pytest

from tests.harness.watch.jobs import Jobs, jobs


@pytest.fixture(scope="session")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Jobs]:
    """What starts jobs under the hook."""
    with jobs(tmp_path_factory.mktemp("hooked")) as program:
        yield program
