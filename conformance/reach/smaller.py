"""How a scenario of chapter 11 is made smaller: a plain dataset, no workers, and its conduct at an earlier place."""

from collections.abc import Callable

from conformance.loader.scenario import Scenario
from conformance.loader.simpler import simplified
from conformance.trial.smallest import Changes, earlier, first_that_violates


def smaller(scenario: Scenario, violates: Callable[[Scenario], bool]) -> Scenario:
    """The scenario with each number in turn as small as it still fails, after all else is as simple as it can be."""
    return simplified(_simplest(simplified(_simplest(scenario, violates), violates), violates), violates)


def _simplest(scenario: Scenario, violates: Callable[[Scenario], bool]) -> Scenario:
    groups: list[list[Changes]] = [
        [dict(conduct="")],
        [dict(dataset="map", num_workers=0), dict(dataset="map")],
        [dict(num_workers=0)],
        [dict(shuffle=False, seed=0), dict(seed=0)],
        [dict(seeds=1), dict(seeds=2)],
        [dict(variant="none")],
        [dict(drop_last=False)],
        [each for each in earlier(scenario.conduct, "", "samples")[0] if not each["conduct"].endswith("@0")],
    ]
    return first_that_violates(scenario, groups, violates)
