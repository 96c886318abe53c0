"""What was seen of a loop, epoch by epoch: the order that the loader was in, and the steps that were made."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from conformance.loops.scenario import LoopScenario
from conformance.trace import RankRun

# A gradient is a sum of a few fractions in double precision.
TOLERANCE = 1e-9


@dataclass
class Pass:
    """One pass over the loader, until the next one is begun."""

    number: int
    """The epoch that the loader was told, which its order follows from."""
    batches: int = 0
    """The micro-batches that were taken."""
    trained: int = 0
    """Those that the module was trained on."""
    steps: list[tuple[float, ...]] = field(default_factory=list)
    """The gradient of each step: what each sample counts."""


def passes_of(rank: RankRun) -> list[Pass]:
    """The passes in turn. Steps before the first one belong to none."""
    found: list[Pass] = []
    for value in rank.values:
        if value.name == "begun":
            found.append(Pass(int(value.numbers[0])))
        elif value.name == "batch" and found:
            found[-1].batches += 1
        elif value.name == "training" and found:
            found[-1].trained += 1
        elif value.name == "step" and found:
            found[-1].steps.append(value.numbers)
    # A loop that takes a batch to look at its shape, and then begins again, has begun no epoch.
    looks = [not (here.trained or here.steps) and here.number == there.number for here, there in pairwise(found)]
    return [each for each, look in zip(found, [*looks, False], strict=False) if not look]


def groups_of(scenario: LoopScenario, going: Pass) -> list[list[list[int]]]:
    """The micro-batches of each step of a pass; the last group may be smaller."""
    batches, size = scenario.batches(going.number), scenario.accumulation
    return [batches[start : start + size] for start in range(0, len(batches), size)]


def is_mean(gradient: Sequence[float], group: Sequence[Sequence[int]]) -> bool:
    """Whether a gradient is the mean over a group: of its batches, or of its samples where one batch is smaller."""
    of_batches = mean_of(group)
    of_samples = dict.fromkeys(of_batches, 1 / len(of_batches))
    return any(
        all(abs(share - owed.get(sample, 0.0)) < TOLERANCE for sample, share in enumerate(gradient))
        for owed in (of_batches, of_samples)
    )


def mean_of(group: Sequence[Sequence[int]]) -> dict[int, float]:
    """What each sample counts in the mean over a group's micro-batches."""
    return {sample: 1 / len(batch) / len(group) for batch in group for sample in batch}


def told(gradient: Sequence[float]) -> str:
    """A gradient in words: ``samples 1 4 5, 0.333 each``."""
    shares = {sample: share for sample, share in enumerate(gradient) if abs(share) > TOLERANCE}
    return ", ".join(_shares(shares)) or "nothing"


def told_group(group: Sequence[Sequence[int]]) -> str:
    """What a group's mean is, in the same words."""
    return ", ".join(_shares(mean_of(group)))


def _shares(shares: dict[int, float]) -> Iterator[str]:
    for share in dict.fromkeys(round(each, 6) for each in shares.values()):
        samples = [str(sample) for sample, each in sorted(shares.items()) if round(each, 6) == share]
        yield f"sample{'s' * (len(samples) > 1)} {' '.join(samples)} by {share:.3g}{' each' * (len(samples) > 1)}"
