"""The small pipes that programs use: how often elements come, what becomes of them, how they are joined and split."""

import json
import random
from collections import Counter
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data.datapipes.iter import IterableWrapper
from torch.utils.data.datapipes.map import SequenceWrapper

from reference.datapipes import MapToIterConverter, PinMemory
from reference.pipelines.graph import walk
from tests.reference.pipelines.pipe_probes import Noted, numbers, over_workers


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda pipe: pipe.enumerate(), [(0, 0), (1, 1), (2, 2)]),
        (lambda pipe: pipe.enumerate(5), [(5, 0), (6, 1), (7, 2)]),
        (lambda pipe: pipe.cycle(2), [0, 1, 2, 0, 1, 2]),
        (lambda pipe: pipe.cycle(0), []),
        (lambda pipe: pipe.repeat(2), [0, 0, 1, 1, 2, 2]),
        (lambda pipe: pipe.prefetch(2), [0, 1, 2]),
        (lambda pipe: pipe.header(2), [0, 1]),
        (lambda pipe: pipe.header(None), [0, 1, 2]),
        (lambda pipe: pipe.sharding_round_robin_dispatch(), [0, 1, 2]),
        (lambda pipe: pipe.pin_memory(), [0, 1, 2]),
        (lambda pipe: pipe.in_memory_cache(), [0, 1, 2]),
        (lambda pipe: pipe.zip_with_iter(numbers(9), key_fn=int), [(0, 0), (1, 1), (2, 2)]),
        (lambda pipe: pipe.zip_with_map(SequenceWrapper("abc"), key_fn=int), [(0, "a"), (1, "b"), (2, "c")]),
    ],
)
def test_a_pipe_yields_as_many_as_it_says(make: Any, expected: list[Any]) -> None:
    """In two epochs; `len` says how many."""
    pipe = make(numbers(3))
    assert [expected, expected] == [list(pipe), list(pipe)]
    assert len(expected) == len(pipe)


def test_a_batch_of_what_is_read_ahead_has_a_length() -> None:
    """Progress bars and schedulers ask for it."""
    assert 5 == len(numbers(40).prefetch(4).batch(8))
    assert 5 == len(numbers(40).header(40).batch(8))
    with pytest.raises(TypeError):
        len(numbers(3).cycle())
    with pytest.raises(TypeError):
        len(numbers(3).flatmap().prefetch(2))


def test_a_length_can_be_said() -> None:
    """Where it is not known."""
    pipe = numbers(9).filter(bool).set_length(8)
    assert 8 == len(pipe) == len(list(pipe))


def test_a_cycle_of_nothing_ends() -> None:
    """It would hang. One of something goes on for ever."""
    assert [] == list(numbers(0).cycle())
    assert [0, 1, 2, 0, 1] == list(numbers(3).cycle().header(5))


def twice(number: int) -> list[int]:
    """An element, and ten times that."""
    return [number, 10 * number]


def test_a_flatmap_yields_each_part() -> None:
    """Of what the function makes, of a column, or of the elements themselves."""
    assert [1, 10, 2, 20] == list(IterableWrapper([1, 2]).flatmap(twice))
    assert [1, 10] == list(IterableWrapper([(1, "a")]).flatmap(twice, input_col=0))
    assert [3] == list(IterableWrapper([(1, 2)]).flatmap(lambda one, two: [one + two], input_col=[0, 1]))
    assert [1, 2, 3] == list(IterableWrapper([[1, 2], [], [3]]).flatmap())


def test_batches_are_mapped_and_taken_apart() -> None:
    """The last one may be shorter; a function may give fewer or more than it was given."""
    seen: list[Any] = []
    assert [0, 2, 3] == list(numbers(5).map_batches(lambda batch: seen.append(list(batch)) or batch[::2], 3))
    assert [[0, 1, 2], [3, 4]] == seen
    pairs = IterableWrapper([(1, 2), (3, 4)])
    assert [3] == list(pairs.map_batches(lambda batch: [len(batch) + batch[0]], 2, input_col=0))
    assert [[1, 2], [3, 4]] == list(pairs.map_batches(lambda batch: batch, 2, input_col=[0, 1]))


def test_a_cache_in_memory_reads_once(tmp_path: Path) -> None:
    """Once an epoch was read to its end; one that was left is read again."""
    noted = Noted(4, tmp_path / "reads")
    pipe = noted.in_memory_cache()
    next(iter(pipe))
    assert [[0, 1, 2, 3]] * 3 == [list(pipe), list(pipe), list(pipe)]
    assert Counter({0: 2, 1: 1, 2: 1, 3: 1}) == Counter(number for number, _ in noted.reads())


def test_what_is_kept_is_no_part_of_the_graph() -> None:
    """A million elements would be looked through in every epoch."""
    cached = numbers(3).in_memory_cache()
    joined = numbers(3).zip_with_map(IterableWrapper([(at, at) for at in range(3)]).to_map_datapipe(), key_fn=int)
    before = [walk(cached), walk(joined)]
    assert [[0, 1, 2], [(0, 0), (1, 1), (2, 2)]] == [list(cached), list(joined)]
    assert before == [walk(cached), walk(joined)]
    for pipe in (cached, joined.map_datapipe):
        assert not any(isinstance(value, list | dict) and len(value) == 3 for value in vars(pipe).values())


def test_a_small_cache_reads_what_did_not_fit(tmp_path: Path) -> None:
    """Nothing is lost behind what was kept."""
    noted = Noted(4, tmp_path / "reads")
    pipe = noted.in_memory_cache(size=0)
    assert [[0, 1, 2, 3]] * 2 == [list(pipe), list(pipe)]


def test_pairs_are_found_by_key() -> None:
    """In the order of the first pipe, merged or with the key, whatever the order of the other one."""
    words, sizes = IterableWrapper(["a", "b"]), IterableWrapper([("b", 2), ("c", 3), ("a", 1)])
    joined = words.zip_with_iter(sizes, key_fn=str, ref_key_fn=itemgetter(0), keep_key=True, merge_fn=lambda a, b: b[1])
    assert [("a", 1), ("b", 2)] == list(joined)


def test_a_key_that_is_missing_is_an_error() -> None:
    """Also where its element was dropped, and where a key comes twice."""
    with pytest.raises(BufferError, match="has the key 7"):
        list(IterableWrapper([7]).zip_with_iter(numbers(3), key_fn=int))
    with pytest.warns(UserWarning, match="is dropped"), pytest.raises(BufferError):
        list(IterableWrapper([2, 0]).zip_with_iter(numbers(3), key_fn=int, buffer_size=1))
    with pytest.raises(ValueError, match="must be unique"):
        list(IterableWrapper([2]).zip_with_iter(IterableWrapper([1, 1, 2]), key_fn=int))
    with pytest.raises(KeyError, match="map_datapipe has not"):
        list(IterableWrapper([7]).zip_with_map(SequenceWrapper("abc"), key_fn=int))


def test_columns_become_pipes() -> None:
    """All but those that are skipped, read side by side or one after the other."""
    rows = IterableWrapper([(1, 2, 3), (4, 5, 6)])
    first, last = rows.unzip(3, columns_to_skip=[1])
    assert [(1, 3), (4, 6)] == list(first.zip(last))
    (only,) = rows.unzip(3, columns_to_skip=[0, 2])
    assert [2, 5] == list(only)
    with pytest.raises(ValueError, match="none of 1 columns"):
        rows.unzip(1, columns_to_skip=[0])


def test_pipes_change_their_style() -> None:
    """Pairs become a map, read once; a map becomes a stream of some or all of its elements."""
    pipe = IterableWrapper(["a", "bb"]).to_map_datapipe(lambda word: (len(word), word))
    assert ["bb", 2] == [pipe[2], len(pipe)]
    with pytest.raises(IndexError):
        pipe[3]
    assert ["a", "bb"] == list(pipe.to_iter_datapipe([1, 2]))
    assert ["x", "y"] == list(MapToIterConverter(SequenceWrapper("xy")))
    with pytest.warns(UserWarning, match="later one is kept"):
        assert 2 == IterableWrapper([("a", 1), ("a", 2)]).to_map_datapipe()["a"]


def test_a_random_split_is_that_of_torchdata() -> None:
    """So that a job's validation data stay what they were. Parts have a length, where their weights say it."""
    train, valid = numbers(10).random_split(weights={"train": 0.5, "valid": 0.5}, seed=0)
    assert [[2, 3, 5, 7, 8], [0, 1, 4, 6, 9]] == [list(train), list(valid)]
    assert [5, 5] == [len(train), len(valid)]
    assert [0, 1, 4, 6, 9] == list(numbers(10).random_split({"train": 1, "valid": 1}, 0, target="valid"))


def test_a_split_by_another_seed_is_another_one() -> None:
    """For all parts; each element is in one."""
    parts = numbers(30).random_split({"a": 20, "b": 10}, seed=0)
    before = [list(part) for part in parts]
    parts[0].override_seed(1)
    after = [list(part) for part in parts]
    assert before != after
    assert [20, 10] == [len(part) for part in after]
    assert list(range(30)) == sorted(after[0] + after[1])


def test_a_split_that_can_not_be_is_refused() -> None:
    """A length that is wrong or missing, weights that are none, a part that is not there."""
    with pytest.raises(ValueError, match="there is an element 2"):
        list(numbers(3).random_split({"a": 1}, 0, total_length=2, target="a"))
    with pytest.raises(TypeError, match="total_length"):
        numbers(3).filter(bool).random_split({"a": 1}, 0)
    with pytest.raises(ValueError, match="weights"):
        numbers(3).random_split({"a": 0}, 0)
    with pytest.raises(KeyError, match="must be one of 'a'"):
        numbers(3).random_split({"a": 1}, 0, target="b")


def test_a_split_over_workers_loses_nothing() -> None:
    """It is made in each worker, by one seed."""
    train, valid = numbers(20).random_split({"train": 12, "valid": 8}, seed=3)
    with over_workers(train.shuffle().sharding_filter(), 2) as one, over_workers(valid.sharding_filter(), 2) as other:
        assert list(range(20)) == sorted([*one, *other])


def words(count: int) -> list[str]:
    """Words of lengths from 1 to 20."""
    generator = random.Random(0)
    return ["x" * generator.randint(1, 20) for _ in range(count)]


def by_length(bucket: list[str]) -> list[str]:
    """For `bucketbatch`."""
    return sorted(bucket, key=len)


@pytest.mark.parametrize("whole", [True, False])
def test_buckets_put_like_lengths_together(whole: bool) -> None:
    """Every word comes once, and a batch spans fewer lengths than it would by chance."""
    given = words(60)
    pipe = IterableWrapper(given).bucketbatch(
        5, batch_num=4, bucket_num=2, sort_key=by_length, use_in_batch_shuffle=whole
    )
    batches = list(pipe)
    assert Counter(given) == Counter(word for batch in batches for word in batch)
    assert [5] * 12 == [len(batch) for batch in batches]

    def spread(of: list[list[str]]) -> int:
        return sum(len(max(batch, key=len)) - len(min(batch, key=len)) for batch in of)

    assert spread(batches) < spread([given[at : at + 5] for at in range(0, 60, 5)]) // 2


def test_buckets_are_seeded_by_the_loader() -> None:
    """PIPE-3, PIPE-5: what they shuffle by is known to it, so workers agree."""
    found = []
    for workers in (0, 2, 2):
        with over_workers(numbers(40).bucketbatch(4, batch_num=2, bucket_num=2).sharding_filter(), workers) as loader:
            loader.seed(1)
            found.append([list(map(list, loader)), list(map(list, loader))])
    assert [found[0]] * 3 == found
    assert found[0][0] != found[0][1]
    assert list(range(40)) == sorted(number for batch in found[0][0] for number in batch)


def test_batches_can_be_shuffled_inside() -> None:
    """Only inside; switched off they stay as they are."""
    pipe = numbers(20).batch(10).in_batch_shuffle()
    first, second = list(pipe)
    assert list(range(10)) == sorted(first) != first
    assert list(range(10, 20)) == sorted(second)
    assert [list(range(10)), list(range(10, 20))] == list(map(list, pipe.set_shuffle(False)))


@pytest.mark.parametrize("padded", [True, False])
def test_batches_hold_so_many_tokens(padded: bool) -> None:
    """At most; what is too long or too short is left out, and nothing else."""
    given = words(60)
    pipe = IterableWrapper(given).max_token_bucketize(30, min_len=2, max_len=18, buffer_size=10, include_padding=padded)
    batches = list(pipe)
    assert Counter(word for word in given if 2 <= len(word) <= 18) == Counter(
        word for batch in batches for word in batch
    )
    for batch in batches:
        lengths = [len(word) for word in batch]
        assert 30 >= (max(lengths) * len(lengths) if padded else sum(lengths))
    with pytest.raises(ValueError, match="max_len"):
        IterableWrapper(given).max_token_bucketize(10, max_len=11)


def test_pinning_is_the_users_or_torchs() -> None:
    """A function of one's own is called always; torch's only where there is a device to copy to."""
    given = PinMemory(IterableWrapper([torch.zeros(2)]), pin_memory_fn=lambda tensor, device: tensor + 1)
    assert [[1.0, 1.0]] == [tensor.tolist() for tensor in given]
    assert not given.is_replicable()


def test_what_is_paused_reads_no_further_ahead(tmp_path: Path) -> None:
    """What is asked for still comes, and after `resume` it reads ahead as before."""
    noted = Noted(50, tmp_path / "reads")
    pipe = noted.prefetch(20)
    pipe.pause()
    elements = iter(pipe)
    assert 0 == next(elements)
    pipe.pause()
    assert list(range(1, 30)) == [next(elements) for _ in range(29)]
    pipe.resume()
    assert list(range(30, 50)) == list(elements)


def test_lines_are_read(tmp_path: Path) -> None:
    """As text or bytes, with the path or without, with their ends or without."""
    path = tmp_path / "lines"
    path.write_bytes("ä\r\nb\n".encode())
    texts = IterableWrapper([str(path)])
    assert [(str(path), "ä"), (str(path), "b")] == list(texts.open_files(encoding="utf-8").readlines())
    assert ["ä", "b"] == list(texts.open_files(mode="b").readlines(decode=True, return_path=False))
    assert [b"b\n"] == list(texts.open_files(mode="b").readlines(skip_lines=1, strip_newline=False, return_path=False))
    with pytest.raises(UnicodeDecodeError):
        list(texts.open_files(mode="b").readlines(decode=True, encoding="ascii"))


def test_rows_are_dicts(tmp_path: Path) -> None:
    """By each file's own heading."""
    path = tmp_path / "rows.csv"
    path.write_text("# made\nname,size\na,1\n", encoding="utf-8")
    pipe = IterableWrapper([str(path)]).open_files(mode="b").parse_csv_as_dict(skip_lines=1, return_path=True)
    assert [(str(path), {"name": "a", "size": "1"})] == list(pipe)


def test_json_files_are_read(tmp_path: Path) -> None:
    """Each as a whole."""
    path = tmp_path / "one.json"
    path.write_text(json.dumps({"a": [1, 2]}), encoding="utf-8")
    pipe = IterableWrapper([str(path)]).open_files(encoding="utf-8").parse_json_files()
    assert [(str(path), {"a": [1, 2]})] == list(pipe)
