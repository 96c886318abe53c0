"""The pipelines that are judged: decides which graph the words of a scenario mean, and what its probes write down.

All pipes but two are torch's own. `Source` gives the elements and writes down who reads it; `Seen` stands behind the
sharding, writes down which process has which element, and is where drawn faults happen.
"""

import select
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from torch.utils.data import IterDataPipe
from torch.utils.data.datapipes.iter.sharding import SHARDING_PRIORITIES

from conformance.loader.datasets import FIRST_SAMPLE
from conformance.loader.probes import Watch
from conformance.pipelines.scenario import FILTERS, kept

_SLOW = 0.15  # seconds, for one element: what a worker is behind by


class Source(IterDataPipe[int]):
    """The elements from 0 on."""

    def __init__(self, count: int, watch: Watch) -> None:
        super().__init__()
        self.count, self.watch = count, watch

    def __iter__(self) -> Iterator[int]:
        for element in range(self.count):
            self.watch.read(element, self)
            yield FIRST_SAMPLE + element


class Seen(IterDataPipe[int]):
    """The same elements; whoever has the first one is slow, if `slow`."""

    def __init__(self, source_datapipe: Any, watch: Watch, slow: bool) -> None:
        super().__init__()
        self.source_datapipe, self.watch, self.slow = source_datapipe, watch, slow

    def __iter__(self) -> Iterator[int]:
        for value in self.source_datapipe:
            if self.slow and value == FIRST_SAMPLE:
                select.select([], [], [], _SLOW)
            self.watch.read(value - FIRST_SAMPLE, self)
            yield value


@dataclass(frozen=True)
class Keep:
    """The predicate of a filter."""

    words: list[str]
    samples: int
    parts: int

    def __call__(self, value: int) -> bool:
        """Whether the element stays."""
        return kept(self.words, value - FIRST_SAMPLE, self.samples, self.parts)


def same(value: int) -> int:
    """What is mapped between two shardings."""
    return value


def build(words: list[str], arguments: dict[str, Any], samples: int, source: Watch, seen: Watch) -> Any:
    """The end of the graph that the words mean; `source` and `seen` are what the two probes write to."""
    branches = [_branch(words, arguments, samples, source, seen) for _ in range(2 if "zip" in words else 1)]
    pipe = branches[0].zip(branches[1]) if "zip" in words else branches[0]
    return pipe.batch(arguments["batch_size"]) if arguments["batch_size"] > 1 else pipe


def _branch(words: list[str], arguments: dict[str, Any], samples: int, source: Watch, seen: Watch) -> Any:
    pipe: Any = Source(samples, source)
    for _ in range(arguments["shuffle"] + ("double" in words)):
        pipe = pipe.shuffle()
    pipe = _sharded(pipe, words, arguments["world_size"])
    if "late" in words:
        pipe = pipe.shuffle()
    if any(word in words for word in FILTERS):
        pipe = pipe.filter(Keep(words, samples, arguments["world_size"] * max(1, arguments["num_workers"])))
    return Seen(pipe, seen, "slow" in words)


def _sharded(pipe: Any, words: list[str], ranks: int) -> Any:
    if "twice" in words:
        return pipe.sharding_filter().map(same).sharding_filter()
    if "dispatch" not in words:
        return pipe.sharding_filter()
    # Who dispatches shares out among the workers of one rank.
    among_ranks = pipe.sharding_filter() if ranks > 1 else pipe
    return among_ranks.sharding_round_robin_dispatch(SHARDING_PRIORITIES.MULTIPROCESSING)
