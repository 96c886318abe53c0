"""How a scenario of a loader is made smaller: which fields are tried, in which order, and what is simplest."""

from collections.abc import Callable, Sequence

from conformance.loader.scenario import Scenario, simpler
from conformance.trial.smallest import Changes, earlier, first_that_violates, in_fewer_words, smallest_numbers
from conformance.trial.words import joined, place_of

_NUMBERS = ("samples", "world_size", "batch_size", "num_workers", "epochs")


def simplified(scenario: Scenario, violates: Callable[[Scenario], bool]) -> Scenario:
    """The scenario with each number in turn as small as it still fails."""
    simplest = _once(scenario, violates)
    # A smaller step, or fewer ranks, may need fewer samples, which were tried with more.
    return _once(simplest, violates) if _has_options(simplest) else simplest


def _once(scenario: Scenario, violates: Callable[[Scenario], bool]) -> Scenario:
    scenario = in_fewer_words(scenario, scenario.words, _without, violates)
    if scenario.is_slow:
        sooner = scenario.fault.replace("long", "slow")
        scenario = first_that_violates(scenario, [[dict(fault=sooner)]], violates)
    if _has_options(scenario):
        scenario = first_that_violates(scenario, _options(scenario), violates)
    return smallest_numbers(scenario, _NUMBERS, violates, _least)


def _without(scenario: Scenario, word: str) -> Scenario:
    if scenario.conduct == "lives" and word != "failed" and len(scenario.words) > 1:
        # One thing less is lived through, and the others stay in their order.
        at = len(scenario.words) - 1 - scenario.words[::-1].index(word)
        fewer = [*scenario.words[:at], *scenario.words[at + 1 :]]
        return simpler(scenario, details="+".join(fewer), epochs=len(fewer) + 1)
    return simpler(scenario, details=joined({*scenario.words} - {word}, scenario.conducted.details))


def _has_options(scenario: Scenario) -> bool:
    return scenario.asynchronous or scenario.saves


def _least(scenario: Scenario, field: str) -> int:
    if scenario.fault and field == "samples":
        return place_of(scenario.fault) + 1
    if field == "epochs" and scenario.conducted.fails_in:
        return len(scenario.words) + 1
    if field == "epochs":
        return 2 if scenario.saves else scenario.faulty_epoch + 1 if scenario.fault else 1
    return 1


def _options(scenario: Scenario) -> list[Sequence[Changes]]:
    """What may be asked for in fewer options, and happen earlier."""
    return [
        [dict(asynchronous=False)] if scenario.saves else [],
        [dict(seed=0, epochs=2), dict(seed=0)] if scenario.saves else [],
        [dict(drop_last=False)] if scenario.saves else [],
        [dict(num_workers=0, persistent_workers=False)],
        [dict(persistent_workers=False)],
        [dict(shuffle=False)],
        [dict(early_preload=False)],
        [dict(load_indefinitely=True)],
        [dict(buffer_size=size) for size in range(scenario.buffer_size)],
        *earlier(scenario.conduct, scenario.fault, "samples"),
    ]
