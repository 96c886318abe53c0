"""Draws with replacement by a sampler of the user's own are told, and what only repeats samples is a finding."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.harness.audit.jobs import audited, cut, found, job, told, whole
from tests.harness.audit.test_endless import stopped, with_replacement

Draw = Callable[[int, int, random.Random], list[list[int]]]


def dealt(drawn: list[int], ranks: int) -> list[list[int]]:
    """Ranks take turns in a list."""
    return [drawn[rank::ranks] for rank in range(ranks)]


def shuffled(numbers: list[int], seeded: random.Random) -> list[int]:
    """In any order."""
    return seeded.sample(numbers, len(numbers))


def equally(n: int, ranks: int, seeded: random.Random) -> list[list[int]]:
    """Each sample is as likely."""
    return dealt(seeded.choices(range(n), k=n), ranks)


def weighted(n: int, ranks: int, seeded: random.Random) -> list[list[int]]:
    """Few samples come often, and most of them hardly ever."""
    return dealt(seeded.choices(range(n), [1 / (each + 1) for each in range(n)], k=n // 2), ranks)


def other_seeds(n: int, ranks: int, seeded: random.Random) -> list[list[int]]:
    """Each rank cuts its part out of an order of its own."""
    return [dealt(shuffled(list(range(n)), seeded), ranks)[rank] for rank in range(ranks)]


def one_shard(n: int, ranks: int, seeded: random.Random) -> list[list[int]]:
    """Two ranks read the same samples, each in its own order."""
    parts = dealt(shuffled(list(range(n)), seeded), ranks)
    return [shuffled(parts[0], seeded), *parts[:-1]]


def same_tail(n: int, ranks: int, seeded: random.Random) -> list[list[int]]:
    """Of a list of some samples the first ones stand at its end again."""
    some = shuffled(list(range(n)), seeded)[: 3 * n // 4]
    return dealt(some + some[: n // 4], ranks)


def some_twice(n: int, ranks: int, seeded: random.Random) -> list[list[int]]:
    """A list that holds some samples twice, and all others once."""
    return dealt(shuffled([*range(n), *range(n // 4)], seeded), ranks)


def two_passes(n: int, ranks: int, seeded: random.Random) -> list[list[int]]:
    """Each sample comes twice."""
    return dealt([*shuffled(list(range(n)), seeded), *shuffled(list(range(n)), seeded)], ranks)


def drawing(folder: Path, draw: Draw, n: int, ranks: int, sampler: str = "Mixture") -> Path:
    """A job of three epochs."""
    epochs = [draw(n, ranks, random.Random(epoch)) for epoch in range(3)]
    of_ranks = [[whole(cut(epoch[rank], 4)) for epoch in epochs] for rank in range(ranks)]
    return job(folder, of_ranks, length=n, batch_size=4, sampler=sampler)


SIZES = [(100, 2), (400, 4)]


@pytest.mark.parametrize(("n", "ranks"), SIZES)
@pytest.mark.parametrize("draw", [equally, weighted])
def test_draws_with_replacement_are_told(tmp_path: Path, draw: Draw, n: int, ranks: int) -> None:
    """As many samples as the dataset has are no order that differs by rank, nor are fewer a loss."""
    verdict = audited(drawing(tmp_path, draw, n, ranks))
    assert ([], {"drawn"}) == (found(verdict), told(verdict))
    assert verdict.groups[0].notes[0].sentence.endswith("the sampler says it by replacement = True")


@pytest.mark.parametrize(("n", "ranks"), SIZES)
@pytest.mark.parametrize("repeat", [other_seeds, one_shard, same_tail, some_twice, two_passes])
def test_what_repeats_samples_otherwise_is_a_finding(tmp_path: Path, repeat: Draw, n: int, ranks: int) -> None:
    """What no drawing would give by chance stays what it is."""
    verdict = audited(drawing(tmp_path, repeat, n, ranks))
    assert (True, False) == (bool(found(verdict)), "drawn" in told(verdict))


def test_a_library_sampler_does_not_draw(tmp_path: Path) -> None:
    """What its samples look like is then no excuse."""
    assert found(audited(drawing(tmp_path, equally, 100, 2, sampler="DistributedSampler")))


@pytest.mark.parametrize(("steps", "key"), [(15, "again"), (100, "drawn")])
def test_an_endless_stream_of_draws_is_told_by_many_of_them(tmp_path: Path, steps: int, key: str) -> None:
    """Few may as well be passes of which each rank has its own."""
    verdict = audited(stopped(tmp_path, [with_replacement(40, seed) for seed in range(2)], steps))
    assert key in {each.key for group in verdict.groups for each in (*group.findings, *group.notes)}
