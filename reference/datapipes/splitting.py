"""Decides which part of a random split an element belongs to.

Each element is drawn a part, with the chances of what each part still lacks; so parts get as many as they should. One
seed gives one split, the same in every epoch, and the one that torchdata gave.
"""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from torch.utils.data import IterDataPipe, functional_datapipe

from ..rules.checks import check_integer, show


@dataclass
class _Split:
    """What the parts share; a new seed for one of them is new for all."""

    weights: dict[Any, float]
    total: int
    seed: Any

    def draws(self) -> Iterator[Any]:
        """The part of each element."""
        generator, parts = random.Random(self.seed), list(self.weights)
        lacking = list(self.weights.values())
        for left in range(self.total - 1, -1, -1):
            (part,) = generator.choices(parts, lacking)
            at = parts.index(part)
            lacking[at] -= 1
            if lacking[at] < 0:
                lacking[at] = 0
                share = sum(lacking)
                lacking = [each * left / share for each in lacking] if share else lacking
            yield part


class SplitPart(IterDataPipe[Any]):
    """The elements of one part. Each part reads the source for itself, so they are read one after the other."""

    def __init__(self, source_datapipe: IterDataPipe[Any], split: _Split, target: Any) -> None:
        super().__init__()
        self.source_datapipe, self.split, self.target = source_datapipe, split, target

    def override_seed(self, seed: Any) -> "SplitPart":
        """Split by another seed from the next iteration on: this part and the others."""
        self.split.seed = seed
        return self

    def __iter__(self) -> Iterator[Any]:
        draws = self.split.draws()
        for number, element in enumerate(self.source_datapipe):
            part = next(draws, draws)
            if part is draws:
                raise ValueError(
                    f"random_split was told total_length={self.split.total}, but there is an element {number}: give "
                    f"the number of elements."
                )
            if part == self.target:
                yield element

    def __len__(self) -> int:
        if not all(float(weight).is_integer() for weight in self.split.weights.values()):
            raise TypeError(
                "How many elements a part has is not known before: give weights that are the numbers of elements, or "
                "call set_length on the part."
            )
        return int(self.split.weights[self.target])


@functional_datapipe("random_split")
class RandomSplitter(IterDataPipe[Any]):
    """Makes a list of pipes, one for each key of `weights`, or the one of the key `target`."""

    def __new__(
        cls,
        source_datapipe: IterDataPipe[Any],
        weights: Mapping[Any, float],
        seed: Any,
        total_length: int | None = None,
        target: Any = None,
    ) -> Any:
        """The parts."""
        if total_length is None:
            try:
                total_length = len(source_datapipe)
            except TypeError as error:
                raise TypeError(f"{source_datapipe} has no length: give random_split a total_length.") from error
        total, whole = check_integer("total_length", total_length, least=0), sum(weights.values())
        if not whole > 0 or min(weights.values()) < 0:
            raise ValueError(f"weights is {show(weights)}, but must be numbers of at least 0, and not all of them 0.")
        split = _Split({key: float(weight) * total / whole for key, weight in weights.items()}, total, seed)
        if target is None:
            return [SplitPart(source_datapipe, split, key) for key in weights]
        if target not in weights:
            raise KeyError(f"target is {show(target)}, but must be one of {', '.join(map(show, weights))}.")
        return SplitPart(source_datapipe, split, target)
