"""What came again and what never came: each fault is found, and its right neighbour is not accused."""

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conformance.audit.text import shown
from tests.harness.audit.jobs import audited, cut, found, job, of_workers, start, told, whole

Job = Callable[[Path], Path]


def order(n: int, seed: int = 0) -> list[int]:
    """A permutation."""
    numbers = list(range(n))
    random.Random(seed).shuffle(numbers)
    return numbers


def ranked(n: int, ranks: int, *seeds: int, size: int = 4, **loader: Any) -> Job:
    """A map-style loader over ranks, cut strided out of one permutation a seed; one seed is that of all ranks."""
    seeds = seeds or (0,) * ranks
    parts = [cut(order(n, seeds[rank % len(seeds)])[rank::ranks], size) for rank in range(ranks)]
    return lambda folder: job(folder, [[whole(part)] for part in parts], length=n, batch_size=size, **loader)


def everywhere(parts: list[list[list[int]]], n: int | None, **more: Any) -> Job:
    """Each rank gets its steps."""
    return lambda folder: job(folder, [[whole(part, **more)] for part in parts], length=n, batch_size=4)


def streamed(*ranks: list[list[list[Any]]], **loader: Any) -> Job:
    """An iterable dataset by content: of each rank the steps of each worker."""
    content = {"kind": "iterable", "ids": "content", **loader}
    return lambda folder: job(folder, [[of_workers(parts)] for parts in ranks], **content)


def dropping(**more: Any) -> Job:
    """One rank that drops its last batch."""
    epoch = whole(cut(range(10), 4, True), **more)
    return lambda folder: job(folder, [[epoch]], length=10, batch_size=4, drop_last=True)


ALL = cut(range(40), 4)
LETTERS = [f"text {number}" for number in range(40)]
TEXT = cut(LETTERS, 4)
PADDED = [cut([0, 2, 4], 4), cut([1, 3, 0], 4)]


@pytest.mark.parametrize(
    ("wrong", "expected", "right"),
    [
        pytest.param(
            everywhere([ALL, ALL], 40), ("PART-1", "twins"), everywhere([ALL[:5], ALL[5:]], 40), id="all-ranks-read-all"
        ),
        pytest.param(
            everywhere([cut(order(40, 1), 4), cut(order(40, 2), 4)], 40),
            ("PART-1", "all-read-all"),
            ranked(40, 2),
            id="all-ranks-read-all-shuffled",
        ),
        pytest.param(
            ranked(40, 2, 1, 2), ("ORDER-4", "other-seeds"), ranked(40, 2, 1), id="ranks-shuffle-by-different-seeds"
        ),
        pytest.param(
            everywhere([cut(range(0, 40, 4), 4), cut(range(1, 40, 4), 4)], 40),
            ("PART-2", "sharded-twice"),
            everywhere([cut(range(0, 40, 2), 4), cut(range(1, 40, 2), 4)], 40),
            id="sharded-twice",
        ),
        pytest.param(
            everywhere([cut([*range(19), 7], 4), cut(range(19, 39), 4)], 39),
            ("PART-1", "again"),
            everywhere([cut([*range(19), 39], 4), cut(range(19, 39), 4)], 40),
            id="once-more",
        ),
        pytest.param(
            everywhere([cut(range(16), 4), cut(range(20, 36), 4)], 40),
            ("PART-2", "lost"),
            everywhere([cut(range(20), 4), cut(range(20, 40), 4)], 40),
            id="never-delivered",
        ),
        pytest.param(
            everywhere(PADDED, 5, no_grad=True),
            ("PART-1", "padded-evaluation"),
            everywhere([cut([0, 2, 4], 4), cut([1, 3], 4)], 5, no_grad=True),
            id="padding-in-an-evaluation",
        ),
        pytest.param(
            dropping(no_grad=True),
            ("PART-2", "dropped-in-evaluation"),
            dropping(),
            id="dropped-in-an-evaluation",
        ),
        pytest.param(
            streamed([TEXT, TEXT], [TEXT, TEXT]),
            ("WORK-3", "all-read-all"),
            streamed([TEXT[0:2], TEXT[2:4]], [TEXT[4:6], TEXT[6:8]]),
            id="all-workers-of-all-ranks",
        ),
        pytest.param(
            streamed([TEXT[:5], TEXT[:5]], [TEXT[5:], TEXT[5:]]),
            ("WORK-3", "all-read-all"),
            streamed([TEXT[0:3], TEXT[3:5]], [TEXT[5:8], TEXT[8:]]),
            id="all-workers-of-a-rank",
        ),
        pytest.param(
            streamed([TEXT[:8], TEXT[2:]], length=40),
            ("WORK-3", "again"),
            streamed([TEXT[:5], TEXT[5:]], length=40),
            id="parts-overlap",
        ),
        pytest.param(
            streamed([TEXT[:3], TEXT[3:5]], length=40),
            ("PART-2", "sharded-twice"),
            streamed([TEXT[:5], TEXT[5:]], length=40),
            id="workers-shard-twice",
        ),
    ],
)
def test_a_fault_is_found_and_its_neighbour_is_not(
    tmp_path: Path, wrong: Job, expected: tuple[str, str], right: Job
) -> None:
    """One finding for the one, none for the other."""
    assert [expected] == found(audited(wrong(tmp_path / "wrong")))
    assert [] == found(audited(right(tmp_path / "right")))


def test_padding_in_training_is_told_and_not_accused(tmp_path: Path) -> None:
    """DistributedSampler pads an epoch to equal ranks."""
    verdict = audited(everywhere(PADDED, 5)(tmp_path))
    assert ([], {"padding"}) == (found(verdict), told(verdict))


def test_a_tail_dropped_in_training_is_told(tmp_path: Path) -> None:
    """drop_last is a choice there."""
    verdict = audited(dropping()(tmp_path))
    assert {"dropped"} == told(verdict)


def test_ranks_of_one_replica_are_one(tmp_path: Path) -> None:
    """--same-data says that equal batches are right, and what is left is judged as before."""
    ranks = [ALL[:5], ALL[:5], ALL[5:], ALL[5:]]
    verdict = audited(everywhere(ranks, 40)(tmp_path / "right"), [0, 1], [2, 3])
    assert [] == found(verdict)
    verdict = audited(everywhere([ALL, ALL, ALL, ALL], 40)(tmp_path / "wrong"), [0, 1], [2, 3])
    assert [("PART-1", "twins")] == found(verdict)


def test_ranks_that_read_all_in_an_evaluation_are_told_of(tmp_path: Path) -> None:
    """Each of them then evaluates everything, which is slow and right."""
    verdict = audited(everywhere([ALL, ALL], 40, no_grad=True)(tmp_path))
    assert ([], {"twins"}) == (found(verdict), told(verdict))


def test_equal_contents_are_no_duplicates(tmp_path: Path) -> None:
    """A dataset may hold the same text twice, and one reader may get both."""
    verdict = audited(streamed([cut(["a", "b", "a", "c", *LETTERS], 4)])(tmp_path))
    assert ([], {"equal-contents"}) == (found(verdict), told(verdict))


def of_its_own(folder: Path, *parts: list[int]) -> Path:
    """A job whose ranks have datasets of 8 samples of their own."""
    for rank, part in enumerate(parts):
        facts = {"length": 8, "dataset_print": f"files of {rank}"}
        start(folder, [whole(cut(part, 4))], rank, len(parts), **facts)
    return folder


def test_ranks_with_datasets_of_their_own_are_not_compared(tmp_path: Path) -> None:
    """Index 0 is another sample on each of them; within a rank it is not."""
    verdict = audited(of_its_own(tmp_path / "right", order(8, 1), order(8, 2)))
    assert ([], {"own-datasets"}) == (found(verdict), told(verdict))
    assert [("PART-1", "again")] == found(
        audited(of_its_own(tmp_path / "again", order(8, 1), [0, 1, 2, 3, 3, 4, 5, 6]))
    )
    wrong = of_its_own(tmp_path / "lost", [0, 1, 2, 3], [0, 1, 2, 3])
    assert [("PART-2", "lost")] == found(audited(wrong))


def test_samples_that_are_all_alike_are_no_duplicates(tmp_path: Path) -> None:
    """A job that is tried out with zeros: all workers of all ranks give the same, and rightly."""
    zeros = cut(["zeros"] * 20, 4)
    verdict = audited(streamed([zeros, zeros], [zeros, zeros])(tmp_path))
    assert ([], {"equal-contents"}) == (found(verdict), told(verdict))


def test_a_sampler_with_replacement_is_not_accused(tmp_path: Path) -> None:
    """A weighted sampler draws some samples again, and others never."""
    drawn = [random.Random(1).randrange(40) for _ in range(40)]
    verdict = audited(job(tmp_path, [[whole(cut(drawn, 4))]], length=40, batch_size=4, replacement=True))
    assert ([], {"replacement"}) == (found(verdict), told(verdict))


def test_samplers_that_ask_for_a_part_are_not_accused(tmp_path: Path) -> None:
    """A SubsetRandomSampler leaves the rest to another loader."""
    verdict = audited(job(tmp_path, [[whole(cut(order(40)[:20], 4))]], length=40, batch_size=4, sampler_length=20))
    assert ([], {"subset"}) == (found(verdict), told(verdict))


def test_an_epoch_that_was_left_is_judged_by_what_came(tmp_path: Path) -> None:
    """What did not come is not missing, and what came twice is still twice."""
    left = [[[0, 1, 2, 3]], [[4, 5, 6, 7]]]
    verdict = audited(everywhere(left, 40, how="left")(tmp_path / "right"))
    assert ([], {"not-whole-left"}) == (found(verdict), told(verdict))
    left = [[[0, 1, 2, 3], [8, 9, 10, 11]], [[4, 5, 6, 7], [11, 12, 13, 14]]]
    assert [("PART-1", "again")] == found(audited(everywhere(left, 40, how="left")(tmp_path / "wrong")))


def test_the_excerpt_says_who_got_a_sample(tmp_path: Path) -> None:
    """Rank and step of each delivery, and what else came in those steps."""
    parts = [cut([*range(19), 7], 4), cut(range(19, 39), 4)]
    (finding,) = audited(everywhere(parts, 39)(tmp_path)).findings
    steps = ("rank 0, step 1: 4 5 6 7", "rank 0, step 4: 16 17 18 7")
    assert ("sample 7: rank 0, step 1; rank 0, step 4", *steps) == finding.excerpt


def test_more_than_a_byte_of_deliveries_is_counted(tmp_path: Path) -> None:
    """256 deliveries of a sample are not none."""
    (finding,) = audited(job(tmp_path, [[whole([[0]] * 256 + [[1]])]], length=2, batch_size=1)).findings
    assert "the sampler gave 1 sample of 2 more than once: 0" == finding.sentence


def test_what_is_cut_from_an_excerpt_ends_in_dots(tmp_path: Path) -> None:
    """A long batch, a long line, and how to have names in the place of hashes."""
    steps = [[f"text {number}" for number in range(at, at + 10)] for at in (0, 10)]
    verdict = audited(streamed([steps], [steps])(tmp_path))
    *_, one, _, hint, _ = shown(verdict).splitlines()
    assert re.fullmatch(r" +rank 0: (\w{8} ){8}\.\.\. \| .* \.\.\.", one)
    assert len(one) <= 118
    assert "--id-field F" in hint


def test_a_batch_that_was_only_looked_at_is_no_finding(tmp_path: Path) -> None:
    """The loop left it at once, and trained on nothing of it as far as is known; what it trains on is judged."""
    verdict = audited(everywhere([ALL[:1], ALL[:1]], 40, how="left")(tmp_path / "looked"))
    assert ([], True) == (found(verdict), "looked-at" in told(verdict))
    assert [("PART-1", "twins")] == found(audited(everywhere([ALL[:5], ALL[:5]], 40, how="left")(tmp_path / "trained")))
    both = [whole(ALL[:1], how="left"), whole(ALL)]
    assert [("PART-1", "twins")] == found(audited(job(tmp_path / "both", [both, both], length=40)))


def split(folder: Path, *parts: tuple[list[int], list[list[int]]], **more: Any) -> Path:
    """A job of which each rank has a subset of 24 samples, and what it read of it."""
    for rank, (subset, steps) in enumerate(parts):
        facts = {"length": 24, "subset": len(subset), "subset_print": str(sorted(subset)), "batch_size": 3, **more}
        start(folder, [whole(steps)], rank, len(parts), **facts)
    return folder


HALVES = [order(24, seed)[:12] for seed in (1, 2)]
EVENS, ODDS = list(range(0, 24, 2)), list(range(1, 24, 2))


@pytest.mark.parametrize(
    ("parts", "expected", "sentence"),
    [
        pytest.param(
            [(half, cut(half[rank::2], 3)) for rank, half in enumerate(HALVES)],
            [("PART-1", "other-subsets")],
            "ranks were given different subsets: 1 sample came to several ranks, and 13 of the dataset's 24 to none",
            id="shares-of-different-splits",
        ),
        pytest.param(
            [(half, cut(half[:6], 3)) for half in (EVENS, ODDS)],
            [("PART-2", "other-subsets")],
            "each of these is shared out among all ranks once more: 12 of the dataset's 24 to none",
            id="shares-of-parts",
        ),
        pytest.param(
            [(part, cut(part, 3)) for part in (order(24, 1)[:18], order(24, 2)[:18])],
            [("PART-1", "other-subsets")],
            "right only if each rank trains a model of its own",
            id="different-splits",
        ),
        pytest.param([(half, cut(half, 3)) for half in (EVENS, ODDS)], [], "", id="parts"),
        pytest.param([(half, cut(half, 3)) for half in (EVENS, [*ODDS[:-1], 0])], [], "", id="parts-that-are-padded"),
        pytest.param(
            [(half, cut(half, 3)) for half in ([*EVENS, 1], [*ODDS, 0])],
            [("PART-1", "again")],
            "2 samples of 24 came to more than one rank",
            id="parts-that-need-no-padding",
        ),
    ],
)
def test_ranks_with_different_subsets_are_told_by_their_cause(
    tmp_path: Path, parts: list[tuple[list[int], list[list[int]]]], expected: list[tuple[str, str]], sentence: str
) -> None:
    """A split that each rank made by itself, unless each has its part."""
    verdict = audited(split(tmp_path, *parts))
    assert expected == found(verdict)
    assert all(sentence in finding.sentence for finding in verdict.findings), verdict.findings


def test_what_one_rank_evaluates_and_another_trains_on_is_found(tmp_path: Path) -> None:
    """Each split by itself, so that no rank has a sample in both of its own."""
    for rank in range(2):
        recorder = start(tmp_path, [], rank, 2, close=False)
        numbers = order(24, rank)
        for line, part, how in ((9, numbers[:16], {}), (10, numbers[16:], {"no_grad": True, "eval": True})):
            facts = {"length": 24, "subset": len(part), "subset_print": str(sorted(part)), "ids": "index"}
            number = recorder.loader({"file": "train.py", "line": line, "kind": "map", **facts})
            epoch = recorder.epoch(number, how)
            recorder.batch(number, epoch, part[rank::2], None)
            recorder.end_of_epoch(number, epoch, "whole")
        recorder.close()
    splits = [finding for finding in audited(tmp_path).findings if finding.id == "SPLIT"]
    assert [("other-splits", 10)] == [(finding.key, finding.line) for finding in splits]
    assert "they were given different subsets" in splits[0].sentence


def shards(seeds: list[int], copies: int = 1) -> list[list[Any]]:
    """What 4 readers get of 96 texts, of which each shuffled 24 shards by its own seed; shards may hold equal texts."""
    parts = [order(24, seed)[reader::4] for reader, seed in enumerate(seeds)]
    return [cut([f"text {shard // copies} {row}" for shard in part for row in range(4)], 4) for part in parts]


def of_readers(folder: Path, *epochs: list[list[Any]]) -> Path:
    """A stream of 2 ranks with 2 workers, and what each reader got in each epoch."""
    ranks = [[of_workers(parts[2 * rank : 2 * rank + 2]) for parts in epochs] for rank in range(2)]
    return job(folder, ranks, kind="iterable", ids="content", batch_size=4, drop_last=False)


def test_contents_that_come_again_in_one_epoch_and_not_in_another_are_no_equal_samples(tmp_path: Path) -> None:
    """Equal samples come again in every epoch, whoever gets them."""
    wrong = of_readers(tmp_path / "wrong", shards([1, 2, 3, 4]), shards([5, 6, 7, 8]))
    assert [("WORK-3", "again")] == found(audited(wrong))
    right = of_readers(tmp_path / "right", shards([1] * 4, copies=2), shards([2] * 4, copies=2))
    assert ([], {"equal-contents"}) == (found(audited(right)), told(audited(right)))


@pytest.mark.parametrize(
    ("how", "told_of"), [("cut", "gather_for_metrics cuts them off"), ("gathered", "unless what was gathered is cut")]
)
def test_padding_that_is_gathered_may_be_cut_off(tmp_path: Path, how: str, told_of: str) -> None:
    """Nobody sees whether it is, where the loop gathers for itself, after the epoch; one rank alone gathers nothing."""
    for name, ranks in (("both", (0, 1)), ("one", (0,))):
        for rank in range(2):
            at = start(tmp_path / name, [whole(PADDED[rank], no_grad=True)], rank, 2, close=False, length=5)
            if rank in ranks:
                at.say("gathered", {"loader": 0, "epoch": 0, "how": how})
            at.close()
    verdict = audited(tmp_path / "both")
    assert ([], True) == (found(verdict), any(note.sentence.endswith(told_of) for note in verdict.groups[0].notes))
    assert [("PART-1", "padded-evaluation")] == found(audited(tmp_path / "one"))
