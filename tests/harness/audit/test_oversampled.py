"""Parts of a ConcatDataset that come again: oversampling is told, and what else comes again is found."""

from pathlib import Path

import pytest

from tests.harness.audit.jobs import audited, cut, found, job, told, whole
from tests.harness.audit.test_samples import order

SMALL = [30 + each for each in order(10, 1)]
OTHER = [30 + each for each in order(10, 2)]


def mixed(*small: int) -> dict[str, object]:
    """An epoch that has a large part once, and of a small one what is given."""
    large, each = order(30), -(-30 // len(small))
    return whole([[*large[at * each : (at + 1) * each], sample] for at, sample in enumerate(small)])


@pytest.mark.parametrize(
    ("epoch", "parts", "expected"),
    [
        pytest.param(mixed(*SMALL, *OTHER), [30, 40], [], id="twice"),
        pytest.param(mixed(*SMALL, *OTHER, *SMALL[:4]), [30, 40], [], id="more-than-twice"),
        pytest.param(mixed(*SMALL, *OTHER[:5]), [30, 40], [], id="once-and-a-half"),
        pytest.param(mixed(*SMALL, *OTHER), [20, 30, 40], [], id="one-of-three"),
        pytest.param(mixed(*SMALL, *OTHER), None, [("PART-1", "again")], id="no-parts-are-known"),
        pytest.param(mixed(*SMALL, *OTHER), [25, 40], [("PART-1", "again")], id="no-whole-part"),
        pytest.param(mixed(*SMALL, *OTHER, 3), [30, 40], [("PART-1", "again")], id="another-sample-as-well"),
        pytest.param(mixed(*SMALL, SMALL[0]), [30, 40], [("PART-1", "again")], id="a-tail-that-comes-twice"),
        pytest.param(mixed(*SMALL[:5], *SMALL), [30, 40], [("PART-1", "again")], id="before-all-had-come"),
    ],
)
def test_a_part_that_comes_again_as_a_whole_is_oversampled(
    tmp_path: Path, epoch: dict[str, object], parts: list[int] | None, expected: list[tuple[str, str]]
) -> None:
    """What is repeated is exactly what the user has as a part."""
    verdict = audited(job(tmp_path, [[epoch]], length=40, parts=parts, sampler="Mixed"))
    assert expected == found(verdict)
    assert (not expected) == ("oversampled" in told(verdict))


def test_what_is_oversampled_is_told_with_its_number(tmp_path: Path) -> None:
    """Which part, and how often."""
    verdict = audited(job(tmp_path, [[mixed(*SMALL, *OTHER, *SMALL[:4])]], length=40, parts=[30, 40]))
    (note,) = verdict.groups[0].notes
    text = "of the ConcatDataset only one part (30 to 39, 10 samples) came again, 2 to 3 times"
    assert f"{text}: right if it is meant to weigh more" == note.sentence


def test_of_one_process_the_sampler_is_named(tmp_path: Path) -> None:
    """There are no ranks that read the same; and how to say that it is meant."""
    (finding,) = audited(job(tmp_path, [[whole(cut([*range(20), 7], 4))]], length=20)).findings
    assert "the sampler gave 1 sample of 20 more than once: 7" == finding.sentence
    assert "# loaderspec: ignore PART-1, why" in finding.advice


def mined(*more: int, lacks: int | None = None) -> list[dict[str, object]]:
    """Two ranks' epoch of 40 samples, and of some once more, in one order that is dealt out."""
    pool = [each for each in (*range(40), *more) if each != lacks]
    dealt = [pool[at] for at in order(len(pool), 3)]
    return [whole(cut(dealt[rank::2], 5)) for rank in range(2)]


@pytest.mark.parametrize(
    ("later", "sampler", "is_right"),
    [
        pytest.param(mined(*range(20, 30)), "Mined", True, id="a-quarter"),
        pytest.param(mined(20), "Mined", False, id="one"),
        pytest.param(mined(*range(20, 30), lacks=7), "Mined", False, id="one-lost"),
        pytest.param(mined(*range(20, 30)), "DistributedSampler", False, id="torchs-own"),
        pytest.param([whole(cut(range(25), 5)), whole(cut(range(15, 40), 5))], "Mined", False, id="that-overlap"),
    ],
)
def test_what_a_sampler_gives_again_once_it_has_learnt_is_told(
    tmp_path: Path, later: list[dict[str, object]], sampler: str, is_right: bool
) -> None:
    """All samples come, in the first epoch once; many of those that come again come to one rank."""
    epochs = [[first, then] for first, then in zip(mined(), later, strict=True)]
    verdict = audited(job(tmp_path, epochs, length=40, sampler=sampler))
    assert (is_right, is_right) == (not found(verdict), "weighed" in told(verdict))
