"""Streams over their epochs: what each of them leaves out is told, and held against nobody."""

import random
from pathlib import Path
from typing import Any

import pytest

from tests.harness.audit.jobs import audited, cut, found, job, of_workers, told, whole
from tests.harness.audit.test_samples import order

STREAM = {"kind": "iterable", "batch_size": 4, "drop_last": False}


def buffered(numbers: list[int], seed: int, emptied: bool, room: int = 8) -> list[int]:
    """What a shuffle buffer gives, and at the end, if it is emptied, what is in it."""
    drawn, held, given = random.Random(seed), list(numbers[:room]), []
    for number in numbers[room:]:
        at = drawn.randrange(room)
        given.append(held[at])
        held[at] = number
    return given + (held if emptied else [])


def epochs(reader: int, of: list[list[list[int]]]) -> list[dict[str, Any]]:
    """Of each epoch what the two workers of a rank gave."""
    return [of_workers([cut(epoch[2 * reader + worker], 4) for worker in range(2)]) for epoch in of]


@pytest.mark.parametrize("ids", ["named", "content"])
@pytest.mark.parametrize("emptied", [True, False])
def test_a_shuffle_buffer_that_is_not_emptied_is_told(tmp_path: Path, ids: str, emptied: bool) -> None:
    """Each epoch lacks other samples; one whose buffers are emptied lacks none."""
    of = [[buffered(list(range(part, 160, 4)), 4 * seed + part, emptied) for part in range(4)] for seed in range(3)]
    verdict = audited(job(tmp_path, [epochs(rank, of) for rank in range(2)], ids=ids, **STREAM))
    assert ([], not emptied) == (found(verdict), "left-out" in told(verdict))


@pytest.mark.parametrize(
    ("of", "facts"),
    [
        pytest.param([order(40)[:37], order(40, 1)[:38]], {"drop_last": True}, id="the-tail-is-dropped"),
        pytest.param([list(range(40)), list(range(40, 80))], {}, id="windows-of-a-stream"),
        pytest.param([list(range(40)), [*range(10), *range(50, 80)]], {}, id="contents-change"),
    ],
)
def test_epochs_with_other_samples_for_other_reasons_are_not_told(
    tmp_path: Path, of: list[list[int]], facts: dict[str, Any]
) -> None:
    """Few samples, or most of them."""
    ranks = [[of_workers([cut(numbers, 4, bool(facts))]) for numbers in of]]
    verdict = audited(job(tmp_path, ranks, ids="named", **{**STREAM, **facts}))
    assert ([], False) == (found(verdict), "left-out" in told(verdict))


@pytest.mark.parametrize(
    ("given", "size", "sentence"),
    [
        (36, 40, "no epoch had all of the 40 samples that came in 3 epochs: each lacks 4"),
        (37, 40, None),
        (40, 40, None),
    ],
)
@pytest.mark.parametrize("kind", ["wrapped", "iterable"])
def test_a_generator_whose_epochs_lack_samples_of_each_other_is_told(
    tmp_path: Path, given: int, size: int, sentence: str | None, kind: str
) -> None:
    """The title says how many came in all; a tail that fills no batch may be dropped."""
    of = [whole(cut(order(40, seed)[:given], 4)) for seed in range(3)]
    verdict = audited(job(tmp_path, [of], kind=kind, ids="named"))
    assert f"{size} different samples, 1 rank" in verdict.groups[0].title
    notes = [note.sentence for note in verdict.groups[0].notes if note.key == "left-out"]
    assert [] == found(verdict)
    assert [sentence] * (sentence is not None) == [note.split(";")[0] for note in notes]


def test_contents_that_change_are_not_added_up(tmp_path: Path) -> None:
    """The title of a stream whose contents change in part says what an epoch had."""
    of = [whole(cut([*range(30), *range(100 * seed, 100 * seed + 10)], 4)) for seed in range(1, 4)]
    verdict = audited(job(tmp_path, [of], kind="iterable", ids="content"))
    assert "40 different samples, 1 rank" in verdict.groups[0].title
