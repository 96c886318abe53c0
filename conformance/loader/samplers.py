"""A sampler, and a batch sampler, of the user's own: what each of their passes gives, and which epoch follows it.

Each pass over one has an order of its own, with samples that come twice and samples that don't come: a loader that
keeps the first, draws for itself, or cuts batches otherwise is seen. Passes are counted by files, since a loader may
iterate a sampler in another process.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import count as numbers
from itertools import islice

from conformance.loader.interrupts import first, said
from conformance.loader.scenario import Scenario
from conformance.trace import Epoch

HOOKS = {"sampler": "sampler", "batches": "batch_sampler"}
"""The hook that each word of a scenario asks for."""
_SIZES = (2, 1, 3)
_SHOWN = 3  # passes


def order_of(samples: int, number: int) -> list[int]:
    """The indices of one pass, drawn with replacement: fewer than there are samples, or more than twice as many."""
    drawn = random.Random(f"pass {number} over {samples}")
    length = max(1, samples - 2) if samples % 2 else 2 * samples + bool(samples)
    return [drawn.randrange(samples) for _ in range(length)]


def batches_of(samples: int, number: int) -> list[list[int]]:
    """The batches of one pass, of several sizes."""
    return _cut(order_of(samples, number))


def _cut(indices: Iterable[int]) -> list[list[int]]:
    order, sizes = iter(indices), (_SIZES[at % len(_SIZES)] for at in numbers())
    return list(iter(lambda: list(islice(order, next(sizes))), []))


class PassingSampler:
    """A sampler: one index after the other."""

    def __init__(self, folder: str, samples: int) -> None:
        self.folder = folder
        self.samples = samples

    def __len__(self) -> int:
        return len(order_of(self.samples, 0))

    def __iter__(self) -> Iterator[int]:
        return iter(order_of(self.samples, _begun(self.folder)))


class PassingBatches(PassingSampler):
    """A batch sampler: one batch after the other."""

    def __len__(self) -> int:
        return len(batches_of(self.samples, 0))

    def __iter__(self) -> Iterator[list[int]]:  # type: ignore[override]
        return iter(batches_of(self.samples, _begun(self.folder)))


class SteadySampler:
    """A sampler whose passes are all alike, in any process: drawn with replacement."""

    def __init__(self, samples: int) -> None:
        self.order = order_of(samples, 0)

    def __len__(self) -> int:
        return len(self.order)

    def __iter__(self) -> Iterator[int]:
        return iter(self.order)


class SteadyBatches:
    """A batch sampler whose passes are all alike, in any process: each sample once, in batches of several sizes."""

    def __init__(self, samples: int) -> None:
        self.samples = samples

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[list[int]]:
        return iter(_cut(range(self.samples)))


def _begun(folder: str) -> int:
    return next(number for number in numbers() if first(folder, f"pass{number}"))


def not_followed(folder: str, scenario: Scenario, epochs: Sequence[Epoch]) -> str:
    """An epoch that is no pass of the scenario's sampler, beginning with its name; "" if each is one of its own."""
    name = next(hook for word, hook in HOOKS.items() if word in scenario.words)
    passes = list(range(next(number for number in numbers() if not said(folder, f"pass{number}"))))
    after = 0
    for epoch in epochs:
        given = [list(step) for step in epoch.steps]
        if epoch.failure and not given:
            continue  # what was refused is no pass
        over = not (epoch.left or epoch.failure)
        # A loader that counts indices, or reads ahead, begins a pass that is no epoch. And nobody can say of what would
        # have come alike that it was not asked for.
        possible = dict.fromkeys([*passes[after:], after])
        after = next((each + 1 for each in possible if _begins(_steps(scenario, each), given, over)), 0)
        if not after:
            seen = f"epoch {epoch.number} came as {_told(given)}"
            theirs = [f"pass {each} gave {_told(_steps(scenario, each))}" for each in passes[:_SHOWN]]
            told = [seen, *theirs] if passes else [seen, "it was not asked"]
            return f"{name}: " + "; ".join(told)
    return ""


def _begins(steps: list[list[int]], given: list[list[int]], over: bool) -> bool:
    """Whether a pass has these steps; of an epoch that was not over, as its first ones."""
    return (steps if over else steps[: len(given)]) == given


def _steps(scenario: Scenario, number: int) -> list[list[int]]:
    if "batches" in scenario.words:
        return batches_of(scenario.samples, number)
    order, size = order_of(scenario.samples, number), scenario.batch_size
    steps = [order[start : start + size] for start in range(0, len(order), size)]
    return steps[:-1] if scenario.drop_last and steps and len(steps[-1]) < size else steps


def _told(steps: Sequence[Sequence[int]]) -> str:
    return " | ".join(" ".join(map(str, step)) for step in steps) or "nothing"
