"""What comes after Hypothesis has shrunk a case: decides which simpler scenarios are tried, and in which order."""

from collections.abc import Callable

from conformance.loader.scenario import Scenario, simpler
from conformance.subjects import joined, key_of
from conformance.trial.words import place_of


def simplified(scenario: Scenario, violates: Callable[[Scenario], bool]) -> Scenario:
    """The scenario with each number in turn as small as it still fails.

    Hypothesis shrinks what was drawn: not a scenario that was tried without drawing it, nor two draws that make up one
    number together.
    """
    scenario = _usual(_in_fewer_words(scenario, violates), violates)
    for field_name in ("samples", "world_size", "batch_size", "num_workers", "epochs"):
        least = place_of(scenario.fault) + 1 if scenario.fault and field_name == "samples" else 1
        least = 2 if scenario.saves and field_name == "epochs" else least
        for value in range(least, getattr(scenario, field_name)):
            smaller = simpler(scenario, **{field_name: value})
            if violates(smaller):
                scenario = smaller
                break
    return scenario


def _in_fewer_words(scenario: Scenario, violates: Callable[[Scenario], bool]) -> Scenario:
    """The scenario without the words that it fails without, beginning with the last."""
    for word in reversed(scenario.details.split("+") if scenario.details else []):
        words = {*scenario.details.split("+")} - {word}
        fewer = simpler(scenario, details=joined(key_of(scenario.subject, scenario.conduct), words))
        scenario = fewer if violates(fewer) else scenario
    return scenario


def has_options(scenario: Scenario) -> bool:
    """Whether it reads ahead, is of a pipeline, or of a restart."""
    return scenario.asynchronous or scenario.saves or scenario.subject == "pipeline"


def _usual(scenario: Scenario, violates: Callable[[Scenario], bool]) -> Scenario:
    """A scenario of many options with as few of them, and things as early, as it still fails."""
    if not has_options(scenario):
        return scenario
    groups: list[list[dict[str, object]]] = [
        [dict(asynchronous=False)] if scenario.saves else [],
        [dict(seed=0, epochs=2), dict(seed=0)] if scenario.saves else [],
        [dict(drop_last=False)] if scenario.saves else [],
        [dict(num_workers=0, persistent_workers=False)],
        [dict(persistent_workers=False)],
        [dict(shuffle=False)],
        [dict(early_preload=False)],
        [dict(load_indefinitely=True)],
        [dict(buffer_size=size) for size in range(scenario.buffer_size)],
    ]
    for name in ("conduct", "fault"):
        what, at, place = getattr(scenario, name).partition("@")
        groups.append([{name: f"{what}@{earlier}"} for earlier in range(int(place))] if at else [])
        # All steps of a smaller dataset, where it takes all of this one.
        steps = range(1, int(place)) if at and name == "conduct" else ()
        groups.append([dict(samples=each, batch_size=1, conduct=f"{what}@{each}") for each in steps])
    for group in groups:
        smaller = [simpler(scenario, **change) for change in group]
        scenario = next((each for each in smaller if each != scenario and violates(each)), scenario)
    return scenario
