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


def same(value: int) -> int:
    """What is mapped between two shardings."""
    return value


def build(scenario: PipelineScenario, source: Watch, seen: Watch) -> Any:
    """The end of the graph that is asked for; `source` and `seen` are what the two probes write to."""
    branches = [_branch(scenario, source, seen) for _ in range(2 if "zip" in scenario.asked else 1)]
    pipe = branches[0].zip(branches[1]) if "zip" in scenario.asked else branches[0]
    return pipe.batch(scenario.batch_size) if scenario.batch_size > 1 else pipe


def _branch(scenario: PipelineScenario, source: Watch, seen: Watch) -> Any:
    pipe: Any = Source(scenario.elements, source)
    for _ in range(scenario.shuffle + ("double" in scenario.asked)):
        pipe = pipe.shuffle()
    pipe = _sharded(pipe, scenario)
    if "late" in scenario.asked:
        pipe = pipe.shuffle()
    if scenario.filters:
        pipe = pipe.filter(Keep(scenario))
    return Seen(pipe, seen, "slow" in scenario.asked)


def _sharded(pipe: Any, scenario: PipelineScenario) -> Any:
    if "twice" in scenario.asked:
        return pipe.sharding_filter().map(same).sharding_filter()
    if "dispatch" not in scenario.asked:
        return pipe.sharding_filter()
    # What is dispatched is shared out among the workers of one rank.
    among_ranks = pipe.sharding_filter() if scenario.ranks > 1 else pipe
    return among_ranks.sharding_round_robin_dispatch(SHARDING_PRIORITIES.MULTIPROCESSING)
