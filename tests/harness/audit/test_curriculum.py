"""Epochs of which each has more samples than the one before: what the sampler asked for in each is what counts."""

from pathlib import Path

import pytest

from tests.harness.audit.jobs import audited, cut, found, job, whole
from tests.harness.audit.test_samples import order


def growing(folder: Path, *sizes: int, said: bool = True, asked: int | None = None) -> Path:
    """An epoch of each of these sizes, of which len() told; and what the sampler asked for when the loader was made."""
    steps = [cut(order(40, number)[:size], 4) for number, size in enumerate(sizes)]
    epochs = [whole(each, steps=len(each) if said else None, set_epoch=number) for number, each in enumerate(steps)]
    return job(folder, [epochs], length=40, batch_size=4, sampler="Curriculum", sampler_length=asked or sizes[0])


def test_each_epoch_has_what_its_sampler_asked_for(tmp_path: Path) -> None:
    """The first one was not resumed: len() followed, and went on changing."""
    verdict = audited(growing(tmp_path, 16, 24, 32, 40, 40))
    told = [note.sentence for note in verdict.groups[0].notes]
    said = "24 samples of 40 never came in 3 of 5 epochs (here epoch 0): the samplers ask for 16"
    assert ([], [said]) == (found(verdict), told)


def test_a_sampler_that_was_made_for_all_may_ask_for_less(tmp_path: Path) -> None:
    """What it asks for is no loss."""
    assert [] == found(audited(growing(tmp_path, 24, 16, 8, asked=40)))


@pytest.mark.parametrize("sizes", [(16, 40, 40), (40, 32, 40)])
def test_what_len_does_not_tell_is_missing(tmp_path: Path, sizes: tuple[int, ...]) -> None:
    """Nobody asked for less, or a shorter first epoch may be the rest of one."""
    verdict = audited(growing(tmp_path, *sizes, said=False, asked=40))
    told = {note.key for note in verdict.groups[0].notes}
    assert ([("PART-2", "lost")] if sizes[0] == 40 else []) == found(verdict)
    assert ("resumed" in told) == (sizes[0] < 40)
