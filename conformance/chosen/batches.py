"""What steps of chosen members may hold and lose: the arithmetic that the judges of GROUP-* share."""

from collections import Counter
from collections.abc import Callable

from conformance.chosen.judging import Epochs
from conformance.chosen.scenario import ChosenScenario, groups_of, sizes_of, too_large
from conformance.contract import Claims, Policy
from conformance.loader.judging import usable
from conformance.trace import Trace
from conformance.trial.words import count

# So many steps in one order: that they come so again has a chance below 10^-9 (13! is 6 * 10^9).
ENOUGH_STEPS = 13


def claims_batches(*names: str) -> Callable[[Claims], bool]:
    """Whether one of these ways to choose a step's members is claimed."""
    return lambda claims: bool({*names} & {*claims.batches})


def may_refuse(scenario: ChosenScenario, claims: Claims) -> bool:
    """Whether an error is a right answer to what no budget has room for."""
    return scenario.about == "budget" and bool(too_large(scenario)) and claims.oversized in (None, "refuse")


def is_judged(scenario: ChosenScenario, claims: Claims, trace: Trace, *about: str) -> bool:
    """Whether the run came to its end, and was about one of these ways."""
    return usable(trace.main) and scenario.about in about


def is_too_small(scenario: ChosenScenario, claims: Claims) -> bool:
    """Whether the loader may refuse a dataset as small as this."""
    return scenario.samples < claims.least_samples(scenario.world_size, scenario.combined_batch)


def parts_of(scenario: ChosenScenario) -> dict[str, list[int]]:
    """What is counted by itself: each group, or all that any step has room for."""
    if scenario.about != "grouped":
        large = too_large(scenario) if scenario.about == "budget" else []
        return {"the samples": [index for index in range(scenario.samples) if index not in large]}
    parts: dict[str, list[int]] = {}
    for index, group in enumerate(groups_of(scenario)):
        parts.setdefault(f"group {group}", []).append(index)
    return parts


def weight(scenario: ChosenScenario, samples: list[int]) -> int:
    """How much these samples are: so many, or so large."""
    sizes = sizes_of(scenario) if scenario.about != "grouped" else ()
    return sum(sizes[index] for index in samples) if sizes else len(samples)


def amount(scenario: ChosenScenario, number: int) -> str:
    """A number of samples or sizes, in words."""
    return count(number, "sample") if scenario.about == "grouped" else f"{number} in size"


def step_size(scenario: ChosenScenario) -> int:
    """The most that a step holds."""
    if scenario.about == "at_least":
        return scenario.budget + max(sizes_of(scenario), default=0) - 1
    return scenario.batch_size if scenario.about == "grouped" else scenario.budget


def most_lost(scenario: ChosenScenario, policy: Policy) -> int:
    """The most that may be lost of a part: in samples of a group, else in size."""
    dropped = scenario.world_size - 1 if policy == "drop" else 0
    if not scenario.drop_last:
        # The last step may hold a rest as well that is too small for a step of its own.
        rest = scenario.budget - 1 if scenario.about == "at_least" else 0
        return dropped * (step_size(scenario) + rest)
    if scenario.about == "grouped":
        return scenario.world_size * scenario.batch_size - 1
    return dropped * step_size(scenario) + scenario.world_size * (scenario.budget - 1)


def most_repeated(scenario: ChosenScenario, policy: Policy) -> int:
    """The most that may be repeated of a part: in samples of a group, else in size."""
    return scenario.world_size * step_size(scenario) - 1 if policy == "pad" else 0


def known(scenario: ChosenScenario, step: tuple[int, ...]) -> list[int]:
    """The samples of a step that are some; foreign ones are PART-5's matter."""
    return [index for index in step if 0 <= index < scenario.samples]


def counts_of(scenario: ChosenScenario, epochs: Epochs) -> Counter[int]:
    """How often each sample came, on all ranks."""
    return Counter(index for epoch in epochs for step in epoch.steps for index in known(scenario, step))
