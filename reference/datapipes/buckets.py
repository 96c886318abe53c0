"""Decides how elements of like length come into one batch, and how batches are shuffled."""

import heapq
import random
from collections.abc import Callable, Iterator
from typing import Any

from torch.utils.data import IterDataPipe, functional_datapipe
from torch.utils.data.datapipes.datapipe import DataChunk

from ..pipelines.seeds import drawn
from ..rules.checks import check_integer
from .base import without


@functional_datapipe("in_batch_shuffle")
class InBatchShuffler(IterDataPipe[Any]):
    """Yields the same batches, each in another order."""

    def __init__(self, datapipe: IterDataPipe[Any]) -> None:
        super().__init__()
        self.datapipe = datapipe
        self.is_on = True
        self.next_seed: int | None = None

    def set_shuffle(self, shuffle: bool = True) -> "InBatchShuffler":
        """Turn it on or off; off, batches stay as they are."""
        self.is_on = shuffle
        return self

    def set_seed(self, seed: int) -> "InBatchShuffler":
        """Let the next iteration draw from this seed."""
        self.next_seed = seed
        return self

    def __iter__(self) -> Iterator[Any]:
        seed, self.next_seed = self.next_seed, None
        generator = random.Random(drawn() if seed is None and self.is_on else seed)
        for batch in self.datapipe:
            yield DataChunk(generator.sample(batch, len(batch))) if self.is_on else batch

    def __len__(self) -> int:
        return len(self.datapipe)

    def __getstate__(self) -> Any:
        return without(self)


@functional_datapipe("bucketbatch")
class BucketBatcher(IterDataPipe[Any]):
    """Makes a pipe of batches, whose elements `sort_key` has put side by side.

    A bucket is `batch_num` batches, which `sort_key` sorts: it is given a list and returns one. Before that elements
    are shuffled among `bucket_num` buckets, and after it the batches of a bucket are, so that they do not come by
    length. `use_in_batch_shuffle` shuffles a pool as a whole; without it elements may leave it while others come in.
    """

    def __new__(
        cls,
        datapipe: IterDataPipe[Any],
        batch_size: int,
        drop_last: bool = False,
        batch_num: int = 100,
        bucket_num: int = 1,
        sort_key: Callable[[list[Any]], Any] | None = None,
        use_in_batch_shuffle: bool = True,
    ) -> Any:
        """The pipe."""
        pipe: Any = datapipe
        size = check_integer("batch_size", batch_size)
        bucket = size * check_integer("batch_num", batch_num)
        pool = bucket * check_integer("bucket_num", bucket_num)

        whole = use_in_batch_shuffle
        if bucket_num > 1 or sort_key is None:
            pipe = pipe.batch(pool).in_batch_shuffle().unbatch() if whole else pipe.shuffle(buffer_size=pool)
        if sort_key is None:
            return pipe.batch(size, drop_last)
        pipe = pipe.batch(bucket).map(sort_key).unbatch().batch(size, drop_last)
        return pipe.batch(batch_num).in_batch_shuffle().unbatch() if whole else pipe.shuffle(buffer_size=bucket)


@functional_datapipe("max_token_bucketize")
class MaxTokenBucketizer(IterDataPipe[Any]):
    """Yields batches of at most `max_token_count` tokens, of elements of like length; `len_fn` counts them.

    `buffer_size` elements are looked at, and the shortest of them goes next. With `include_padding` each counts as many
    tokens as the longest of its batch. Elements shorter than `min_len`, or longer than `max_len` (a whole batch, if it
    is not given), are left out.
    """

    def __init__(
        self,
        datapipe: IterDataPipe[Any],
        max_token_count: int,
        len_fn: Callable[[Any], int] = len,
        min_len: int = 0,
        max_len: int | None = None,
        buffer_size: int = 1000,
        include_padding: bool = False,
    ) -> None:
        super().__init__()
        self.datapipe, self.len_fn, self.include_padding = datapipe, len_fn, include_padding
        self.most = check_integer("max_token_count", max_token_count)
        self.min_len = check_integer("min_len", min_len, least=0)
        longest = self.most if max_len is None else max_len
        self.max_len = check_integer("max_len", longest, least=self.min_len, most=self.most)
        self.buffer_size = check_integer("buffer_size", buffer_size)

    def __iter__(self) -> Iterator[Any]:
        batch, lengths = list[Any](), list[int]()
        for length, element in self._shortest_first():
            together = [*lengths, length]
            tokens = max(together) * len(together) if self.include_padding else sum(together)
            if tokens > self.most:
                yield DataChunk(batch)
                batch, lengths = [], []
            batch.append(element)
            lengths.append(length)
        if batch:
            yield DataChunk(batch)

    def _shortest_first(self) -> Iterator[tuple[int, Any]]:
        """Elements with their lengths; of those that are looked at the shortest, of two alike the first."""
        waiting: list[tuple[int, int, Any]] = []
        for number, element in enumerate(self.datapipe):
            length = self.len_fn(element)
            if self.min_len <= length <= self.max_len:
                heapq.heappush(waiting, (length, number, element))
                if len(waiting) == self.buffer_size:
                    yield heapq.heappop(waiting)[::2]
        while waiting:
            yield heapq.heappop(waiting)[::2]
