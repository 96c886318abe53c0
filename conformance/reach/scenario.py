"""What is asked for in chapter 11: its conducts, and what each adds to a request."""

from itertools import pairwise

from conformance.loader.scenario import Conduct, Scenario
from conformance.trial.words import place_of

_PERFORMER = "conformance.reach.conduct"
# So many samples lie in files that follow each other, where there are as many as these say.
_SIZES = (3, 4, 5, 6)


def shards_of(scenario: Scenario) -> tuple[int, ...]:
    """How many samples lie in each file: unlike numbers, which follow from how many files there are."""
    files = place_of(scenario.conduct) if "@" in scenario.conduct else 1
    ends = [sum(_SIZES[at % len(_SIZES)] for at in range(file)) for file in range(files + 1)]
    starts = [scenario.samples * end // max(1, ends[-1]) for end in ends]
    return tuple(end - start for start, end in pairwise(starts))


CONDUCTS = {
    "sharded": Conduct(
        "in files numbering {}", _PERFORMER, asks=lambda scenario: {"shards": shards_of(scenario)}, calm=True
    ),
}
