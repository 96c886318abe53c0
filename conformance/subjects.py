"""What a scenario is about if not a loader: decides the words that say what is asked of a model, and how they read.

Such a scenario uses the fields of a loader's with other meanings, so that a case is short, can be replayed and shrinks
as all others do. Of a model, `samples` are those of one call on one rank, `epochs` the calls, `seed` that of the
weights and of the data. Of a launch, `samples` are the replicas, `world_size` the instances, and `seed` is the exit
code of the one that fails. What has no field there is a word of `details`, joined by "+": `with=adam+sum`.
"""

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from conformance.device.request import Mode
from conformance.pipelines.scenario import PIPELINE, pipeline_told

if TYPE_CHECKING:
    from conformance.loader.scenario import Scenario

Subject = Literal["", "device", "launch", "pipeline"]

# The words of each subject, and how they read; of words that exclude each other, those in front go first.
DEVICE = {
    "infer": "inference",
    "momentum": "SGD with momentum",
    "adam": "Adam",
    "deep": "two layers",
    "sum": "gradients added",
    "times": "with the learning rate times the count",
    "all": "outputs of all",
    "final": "outputs of the last",
    "every": "outputs of every second",
    "total": "outputs added",
    "synthetic": "synthetic data",
    "apart": "ranks begin with other weights",
}
# The words that ask for an output mode, and the mode's name in the request.
MODES: Mapping[str, Mode] = {"all": "all", "final": "final", "every": "every_n", "total": "sum"}
# Of a launch: what becomes of its instances.
LAUNCH = {
    "fails": "the last instance ends with exit code {code}",
    "first": "the first one instead",
    "killed": "the last instance is killed",
    "term": "the launcher gets SIGTERM",
    "int": "the launcher gets SIGINT",
    "lines": "each instance writes lines",
    "child": "each instance leaves a child",
    "apart": "in a session of its own",
}
# Of a state that is taken: what is done with it other than giving it to a new loader of the same request.
SAVE = {
    "unbegun": "before iter()",
    "inside": "loaded after set_epoch()",
    "broken": "the epoch before it left after a step",
    "watched": "and after each one behind it",
    "held": "kept by the loader while it goes on",
    "shared": "given to two loaders",
    "used": "loaded into the loader that gave it",
    "relayed": "taken again at once",
    "again": "taken again a step later",
    "left": "the rest left a step later",
    "onward": "taken again in the next epoch, after a step",
    "wider": "resumed on one rank more",
    "narrower": "resumed on one rank less",
    "staffed": "resumed with one worker more",
    "larger": "resumed with micro-batches larger by one",
    "grown": "resumed with two samples more",
    "reseeded": "resumed with another seed",
}
WORDS: Mapping[str, Mapping[str, str]] = {"device": DEVICE, "launch": LAUNCH, "pipeline": PIPELINE, "save": SAVE}


def key_of(subject: str = "", conduct: str = "", **_: object) -> str:
    """Whose words the details are: those of the subject, or of what is done with a loader."""
    return subject or conduct.partition("@")[0]


def joined(key: str, words: set[str]) -> str:
    """The details that these words make, in their order."""
    return "+".join(word for word in WORDS.get(key, {}) if word in words)


def added(scenario: "Scenario") -> list[str]:
    """What the details add to the words of a loader's scenario."""
    return [WORDS[key_of(conduct=scenario.conduct)][word] for word in scenario.details.split("+") if word]


def check_details(key: str, details: str, code: str) -> None:
    """ValueError unless all words of the details are those of the `key_of` their scenario."""
    for word in details.split("+") if details else []:
        if word not in WORDS.get(key, {}):
            known = ", ".join(WORDS.get(key, {})) or "none"
            raise ValueError(f"{word!r} in the case {code!r} is no word of its subject; the words are {known}")


def told(scenario: "Scenario", count: Callable[[int, str], str]) -> list[str]:
    """The scenario in the words of a report."""
    tellers = {"device": _device_told, "launch": _launch_told, "pipeline": pipeline_told}
    return tellers[scenario.subject](scenario, count)


def _launch_told(scenario: "Scenario", count: Callable[[int, str], str]) -> list[str]:
    """``4 replicas, 2 instances, the launcher gets SIGTERM``."""
    words = [count(scenario.samples, "replica"), count(scenario.world_size, "instance")]
    return words + [LAUNCH[word].format(code=scenario.seed) for word in scenario.details.split("+") if word]


def _device_told(scenario: "Scenario", count: Callable[[int, str], str]) -> list[str]:
    words = [
        count(scenario.epochs, "call"),
        f"{count(scenario.samples, 'sample')} each",
        *([count(scenario.world_size, "rank")] if scenario.world_size > 1 else []),
        f"micro-batch {scenario.batch_size}",
    ]
    return [*words, *scenario.factors_told(), *(DEVICE[word] for word in scenario.details.split("+") if word)]


def singly(scenario: "Scenario") -> "Scenario":
    """The same samples and updates with one device iteration a call, in so many calls more."""
    times = scenario.device_iterations
    samples, calls = scenario.samples // times, scenario.epochs * times
    return dataclasses.replace(scenario, device_iterations=1, samples=samples, epochs=calls)


def mean(scenario: "Scenario") -> "Scenario":
    """The same updates by averaged gradients, with the learning rate times the count of what was added."""
    words = {*scenario.details.split("+"), "times"} - {"sum"}
    return dataclasses.replace(scenario, details=joined(scenario.subject, words))


# How a request differs with which a state is gone on with, by the word of the details.
_OTHERS: Mapping[str, Callable[["Scenario"], Mapping[str, int]]] = {
    "wider": lambda asked: {"world_size": asked.world_size + 1},
    "narrower": lambda asked: {"world_size": max(1, asked.world_size - 1)},
    "staffed": lambda asked: {"num_workers": asked.num_workers + 1},
    "larger": lambda asked: {"batch_size": asked.batch_size + 1},
    "grown": lambda asked: {"samples": asked.samples + 2},
    "reseeded": lambda asked: {"seed": asked.seed + 1},
}
# The words that say that it is another one.
OF_OTHERS = tuple(_OTHERS)


def resumed(scenario: "Scenario") -> "Scenario":
    """The request that goes on from the state which a scenario takes."""
    for word in scenario.details.split("+"):
        if word in _OTHERS:
            changes: Mapping[str, Any] = _OTHERS[word](scenario)
            scenario = dataclasses.replace(scenario, **changes)
    return scenario
