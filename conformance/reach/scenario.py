"""What is asked for in chapter 11: its conducts, and what each adds to a request."""

from itertools import pairwise

from conformance.loader.conducts import CONDUCTS, Conduct
from conformance.loader.scenario import Scenario
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


# How much oftener one sample is drawn than another; the second of each four never is.
_WEIGHTS = (1.0, 0.0, 2.0, 4.0)


def weights_of(scenario: Scenario) -> tuple[float, ...] | None:
    """The weight of each sample, or None where nothing is said of them."""
    if scenario.conduct != "weighted":
        return None
    return tuple(_WEIGHTS[index % len(_WEIGHTS)] for index in range(scenario.samples))


def steps_to_read(scenario: Scenario) -> int:
    """The steps of a rank that hold as many passes as the scenario has epochs, however a pass is cut."""
    shard = -(-scenario.samples // scenario.world_size)
    return scenario.epochs * -(-shard // scenario.combined_batch)


# When a second state is taken, of the loader that was given the first.
AGAIN = {
    "relayed": "taken again at once",
    "anew": "taken again after iter(), before its first step",
    "again": "taken again a step later",
}
CONDUCTS.update(
    {
        "sharded": Conduct(
            "in files numbering {}", _PERFORMER, asks=lambda scenario: {"shards": shards_of(scenario)}, calm=True
        ),
        "weighted": Conduct(
            "with weights 1, 0, 2, 4, 1, ...",
            _PERFORMER,
            asks=lambda scenario: {"weights": weights_of(scenario)},
            calm=True,
        ),
        "peeking": Conduct("each read counted", _PERFORMER, calm=True, watched=True),
        "endless": Conduct("which are passes of one iterator", _PERFORMER, calm=True),
        "stopped": Conduct(
            "which are passes of one iterator, a state taken after step {}", _PERFORMER, calm=True, details=AGAIN
        ),
        "launched": Conduct(
            "in a process that was started as rank 1 of 2",
            _PERFORMER,
            calm=True,
            details={"met": "and has joined torch's process group"},
        ),
    }
)
