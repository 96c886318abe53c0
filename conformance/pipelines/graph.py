"""The pipelines that are judged: decides which graph the words of a scenario mean, and what its probes write down.

All pipes but two are torch's own. `Source` gives the elements and writes down who reads it; `Seen` stands after the
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
from conformance.pipelines.scenario import PipelineScenario

_SLOW = 0.15  # seconds, for one element: by which a worker lags


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
    """The same elements; the worker with the first one is slow, if `slow`."""

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

    scenario: PipelineScenario

    def __call__(self, value: int) -> bool:
        """Whether the element stays."""
        return self.scenario.lets_through(value - FIRST_SAMPLE)


def same(value: Any) -> Any:
    """What is mapped between two shardings."""
    return value


def build(scenario: PipelineScenario, source: Watch, seen: Watch) -> Any:
    """The end of the graph that is asked for; `source` and `seen` are what the two probes write to."""
    starts = _starts(scenario, source)
    branches = [_branch(scenario, pipe, at, len(starts), seen) for at, pipe in enumerate(starts)]
    pipe = branches[0]
    if "concat" in scenario.asked:
        pipe = pipe.concat(branches[1])
    if {"zip", "fork"} & scenario.asked:
        # Two that were joined before are one of those that are zipped.
        pipe = pipe.zip(branches[-1])
    if "joined" in scenario.asked:
        pipe = pipe.map(same).sharding_filter()
    return pipe.batch(scenario.batch_size) if scenario.batch_size > 1 else pipe


def _starts(scenario: PipelineScenario, source: Watch) -> list[Any]:
    """Where the branches begin: a source each, or one that is forked, and sharded before that."""
    if "fork" not in scenario.asked:
        return [_shuffled(scenario, source) for _ in range(1 + len({"zip", "concat"} & scenario.asked))]
    pipe = _shuffled(scenario, source)
    return list((pipe if "joined" in scenario.asked else _sharded(pipe, scenario)).fork(2))


def _shuffled(scenario: PipelineScenario, source: Watch) -> Any:
    pipe: Any = Source(scenario.elements, source)
    for _ in range(scenario.shuffle + ("double" in scenario.asked)):
        pipe = pipe.shuffle()
    return pipe


def _branch(scenario: PipelineScenario, pipe: Any, number: int, count: int, seen: Watch) -> Any:
    twice, joined = "twice" in scenario.asked, "joined" in scenario.asked
    if not joined and "fork" not in scenario.asked:
        pipe = _sharded(pipe, scenario)
    # Within a branch it is the first one; of what is sharded after them as well, the second.
    if twice and number == (min(1, count - 1) if joined else 0):
        pipe = pipe.map(same).sharding_filter()
    if "late" in scenario.asked:
        pipe = pipe.shuffle()
    if scenario.filters:
        pipe = pipe.filter(Keep(scenario))
    return Seen(pipe, seen, "slow" in scenario.asked)


def _sharded(pipe: Any, scenario: PipelineScenario) -> Any:
    if "dispatch" not in scenario.asked:
        return pipe.sharding_filter()
    # What is dispatched is shared out among the workers of one rank.
    among_ranks = pipe.sharding_filter() if scenario.ranks > 1 else pipe
    return among_ranks.sharding_round_robin_dispatch(SHARDING_PRIORITIES.MULTIPROCESSING)
