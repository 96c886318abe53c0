"""A loader that takes its time over many samples is slow, and does not hang."""

import pytest

from conformance.loader.datasets import FIRST_SAMPLE
from conformance.loader.patience import A_SAMPLE, patience_with
from conformance.loader.reading import Pass, Reader
from conformance.loader.scenario import Scenario
from conformance.processes import alive


def test_many_samples_may_take_longer_than_a_few() -> None:
    """A millisecond for each sample of each epoch is granted beside the patience."""
    few, many = (patience_with(Scenario(samples, epochs=2), 10.0) for samples in (0, 65_536))
    assert (10.0, 2 * 65_536 * A_SAMPLE) == (few, many - few)


def test_who_reads_on_is_said_to_be_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for each thousand samples, in steps of any size; so a hang is still seen after the usual patience."""
    told: list[float] = []
    monkeypatch.setattr(alive, "stage", lambda waits=0.0: told.append(waits))
    reader = Reader(None, None, sets_epoch=False, most=10_000, before_epoch=lambda number: None)
    counts = []
    for size in (1, 7, 1500):
        steps = [[FIRST_SAMPLE + index for index in range(at, min(at + size, 3500))] for at in range(0, 3500, size)]
        reader.rest(Pass(0, None, iter(steps)))
        counts.append(len(told))
    assert [3, 6, 8] == counts
