"""The words of a scenario of a pipeline: decides what its graph is, which elements it keeps, and how that reads.

`samples` are the elements of the source, `batch_size` how many a `batch` at the end joins (1: there is none),
`shuffle` a shuffle before sharding, `num_workers`, `world_size`, `seed` and `epochs` what they are of a loader.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.loader.scenario import Scenario

# How many elements come before each pause that is asked for.
LIMIT, PAUSE = 3, 2
PIPELINE = {
    "dispatch": "shared out by one process",
    "double": "shuffled twice",
    "zip": "two branches, zipped",
    "late": "shuffled behind the sharding",
    "one": "a filter leaves one worker's elements only",
    "ends": "a filter leaves the last elements of one worker only",
    "slow": "one worker is slow",
    "front": "it happens before the dispatch",
    "own": "each rank has a seed of its own",
    "unseeded": "seed() is not called",
    "reseed": "seed() called again, with the same and with another seed",
    "bounds": "the least and the largest seeds, and those beyond them",
    "limit": f"limited to {LIMIT} elements at a time",
    "pause": f"paused after {PAUSE} elements",
    "twice": "sharded twice on one path",
    "wrong": "services joined in the wrong order",
}
# The words of graphs that are read as any other is.
GRAPHS = ("dispatch", "double", "zip", "slow", "own")
FILTERS = ("one", "ends")


def pipeline_told(scenario: "Scenario", count: Callable[[int, str], str]) -> list[str]:
    """The scenario in the words of a report."""
    return [
        count(scenario.samples, "element"),
        *([count(scenario.world_size, "rank")] if scenario.world_size > 1 else []),
        *([count(scenario.num_workers, "worker")] if scenario.num_workers else []),
        *([f"batches of {scenario.batch_size}"] if scenario.batch_size > 1 else []),
        *([f"shuffled, seed {scenario.seed}"] if scenario.shuffle else []),
        *([count(scenario.epochs, "epoch")] if scenario.epochs > 1 else []),
        *(PIPELINE[word] for word in scenario.details.split("+") if word),
    ]


def kept(words: list[str], element: int, samples: int, parts: int) -> bool:
    """Whether the filter lets an element through; `parts` are all workers of all ranks."""
    if "one" in words:
        return element % parts == 0
    return "ends" not in words or 2 * element < samples or element % parts == 0
