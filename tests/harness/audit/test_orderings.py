"""Ranks whose datasets differ: one list in another order on each is a fault, and files of their own are none."""

from pathlib import Path
from typing import Any

import pytest

from tests.harness.audit.jobs import audited, cut, found, start, whole
from tests.harness.audit.test_samples import order

Entries = dict[str, list[str]]
ORDERS = [{"dataset.paths": ["first", "same"]}, {"dataset.paths": ["second", "same"]}]
DEALT = {"sampler": "DistributedSampler", "replicas": 2, "seed": 0}
NOTE = "each rank has a dataset of its own: an index means another sample on each"


def dealing(folder: Path, entries: list[Entries], *orders: list[int], **loader: Any) -> Path:
    """Two ranks that get every second index of an order, and what their datasets hold."""
    for rank, held in enumerate(entries):
        numbers = orders[rank % len(orders)] if orders else order(40)[rank::2]
        facts = {"length": 40, "batch_size": 4, "dataset_print": str(held), "entries": held, **loader}
        start(folder, [whole(cut(numbers, 4))], rank, 2, **facts)
    return folder


@pytest.mark.parametrize("loader", [DEALT, {"sampler": "MySampler"}])
def test_one_list_in_another_order_on_each_rank_is_found(tmp_path: Path, loader: dict[str, Any]) -> None:
    """Whether the sampler says that it deals out one range of indices, or it shows."""
    (finding,) = audited(dealing(tmp_path, ORDERS, **loader)).findings
    assert ("ORDER-4", "other-order") == (finding.id, finding.key)
    assert "dataset.paths has the same entries on each, in another order" in finding.sentence
    assert "sorted(glob(...))" in finding.advice


@pytest.mark.parametrize(
    "entries",
    [
        pytest.param([{}, {"dataset.cache": ["first", ""]}], id="nothing-is-known"),
        pytest.param([{"dataset.paths": [name, name]} for name in ("first", "second")], id="files-of-their-own"),
        pytest.param([{**each, "dataset.scans": ["one", ""]} for each in ORDERS], id="something-else-is-in-one-order"),
        pytest.param([{"dataset.scans": [name, ""]} for name in ("first", "second")], id="no-list-of-files"),
    ],
)
def test_datasets_that_may_be_one_are_told_of(tmp_path: Path, entries: list[Entries]) -> None:
    """With what it depends on."""
    verdict = audited(dealing(tmp_path, entries, **DEALT))
    ((note,),) = [[each for each in group.notes if each.key == "own-datasets"] for group in verdict.groups]
    assert [] == found(verdict)
    assert f"{NOTE}, and yet one range of indices is dealt out to them: wrong, unless" in note.sentence


def test_ranks_that_read_their_own_list_are_not_accused(tmp_path: Path) -> None:
    """No sampler deals: each reads all of its own."""
    verdict = audited(dealing(tmp_path, ORDERS, order(40, 1), order(40, 2), sampler="RandomSampler"))
    ((note,),) = [[each for each in group.notes if each.key == "own-datasets"] for group in verdict.groups]
    assert ([], NOTE) == (found(verdict), note.sentence)


def test_two_entries_that_changed_places_are_enough(tmp_path: Path) -> None:
    """Where the prints of the datasets are one, as these look at some entries only."""
    assert [("ORDER-4", "other-order")] == found(audited(dealing(tmp_path, ORDERS, **DEALT, dataset_print="one")))


HALVES = [order(40, seed)[:20] for seed in (1, 2)]


@pytest.mark.parametrize(
    ("loaders", "sentence"),
    [
        (({"entries": ORDERS[0], "seed": 0}, {"entries": ORDERS[1], "seed": 0}), "the order of the dataset differs by"),
        (({"seed": 0}, {"seed": 1}), "ranks shuffle by different seeds (0 and 1)"),
        (({"seed": 0}, {"seed": 0}), "ranks have different orders, though their samplers have one seed"),
        (({"seed": 0, "shuffle": False},) * 2, "ranks have different orders, though their samplers do not shuffle"),
        (
            ({"dataset_print": "a"}, {"dataset_print": "b"}),
            "ranks have different orders, of datasets that differ or by",
        ),
        (({}, {}), "ranks shuffle by different seeds"),
    ],
)
def test_a_cause_is_told_as_far_as_it_is_known(
    tmp_path: Path, loaders: tuple[dict[str, Any], dict[str, Any]], sentence: str
) -> None:
    """By name, ranks get the same samples for many reasons."""
    for rank, facts in enumerate(loaders):
        steps = cut([f"{number}.npy" for number in HALVES[rank]], 4)
        start(tmp_path, [whole(steps)], rank, 2, length=40, batch_size=4, **{"ids": "named", **facts})
    (finding,) = audited(tmp_path).findings
    assert "ORDER-4" == finding.id
    assert finding.sentence.startswith(f"{sentence}")
    assert finding.sentence.endswith("to none")


def test_other_epochs_are_no_other_seeds(tmp_path: Path) -> None:
    """set_epoch was called with another number on each rank."""
    for rank, half in enumerate(HALVES):
        start(tmp_path, [whole(cut(half, 4), set_epoch=rank)], rank, 2, length=40, batch_size=4, seed=0)
    (finding,) = audited(tmp_path).findings
    assert finding.sentence.startswith("ranks shuffle by different epochs (set_epoch: 0 and 1): ")
