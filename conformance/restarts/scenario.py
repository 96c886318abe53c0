"""A state that is taken: the words that say what is done with it, and the request that resumes from it."""

from collections.abc import Callable, Mapping
from typing import Any

from conformance.loader.conducts import CONDUCTS, Conduct
from conformance.loader.scenario import Scenario, simpler

# What is done with the state other than giving it to a new loader of the same request.
SAVE = {
    "unbegun": "before iter()",
    "inside": "loaded after set_epoch()",
    "broken": "the epoch before it left after a step",
    "batches": "of a batch sampler of the user's own",
    "collated": "with a collate function of the user's own",
    "generator": "with a generator of the user's own",
    "failed": "when the next step had raised an error",
    "asked": "len() and repr() asked for before it, set_epoch() called once more after it",
    "twice": "and once more at once",
    "watched": "and after each later one",
    "held": "kept by the loader while it goes on",
    "shared": "given to two loaders",
    "mended": "where no sample fails any more",
    "used": "loaded into the loader that gave it",
    "relayed": "taken again at once",
    "again": "taken again a step later",
    "often": "and so on, in a new process each time",
    "left": "the rest left a step later",
    "further": "and the second one resumed with as many more or less",
    "onward": "taken again in the next epoch, after a step",
    "unset": "set_epoch() never called",
    "anew": "taken again after iter(), before its first step",
    "amid": "loaded into a loader that has read a step",
    "begun": "loaded between iter() and the first step",
    "wider": "resumed on one rank more",
    "narrower": "resumed on one rank less",
    "staffed": "resumed with one worker more",
    "unstaffed": "resumed with one worker less",
    "larger": "resumed with micro-batches larger by one",
    "grown": "resumed with two samples more",
    "reseeded": "resumed with another seed",
}
CONDUCTS.update(
    {"save": Conduct("a state taken after step {} of epoch {before}", "conformance.restarts.conduct", details=SAVE)}
)

# How the request differs that resumes from the state, by the word of the details.
_OTHERS: Mapping[str, Callable[[Scenario], Mapping[str, Any]]] = {
    "wider": lambda asked: {"world_size": asked.world_size + 1},
    "narrower": lambda asked: {"world_size": max(1, asked.world_size - 1)},
    "staffed": lambda asked: {"num_workers": asked.num_workers + 1},
    "unstaffed": lambda asked: {"num_workers": max(0, asked.num_workers - 1)},
    "larger": lambda asked: {"batch_size": asked.batch_size + 1},
    "grown": lambda asked: {"samples": asked.samples + 2},
    "reseeded": lambda asked: {"seed": asked.seed + 1},
}
# The words that say that it is another one.
OF_OTHERS = tuple(_OTHERS)
# What an elastic loader continues with.
ELASTIC = ("wider", "narrower", "staffed", "unstaffed")


def resumed(scenario: Scenario) -> Scenario:
    """The request that resumes from the state which a scenario takes."""
    scenario = simpler(scenario, fault="") if "mended" in scenario.words else scenario
    for word in scenario.words:
        if word in _OTHERS:
            scenario = simpler(scenario, **_OTHERS[word](scenario))
    return scenario
