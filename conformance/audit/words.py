"""Words of the verdict: decides what epochs, samples and lists of them are called."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from conformance.audit.resumed import number_of
from conformance.audit.summary import HEAD_SAMPLES, EpochKey, Group, RankSeen
from conformance.trial.words import count

_HASH = 8  # letters of a digest that are shown


def epoch_name(group: Group, key: EpochKey) -> str:
    """``epoch 1``, or ``epoch 2 after restart 1``: the job's number where a sampler tells one that grows.

    Elsewhere it is the number within that start.
    """
    if not key[0]:
        return f"epoch {key[1]}"
    numbers = [number_of(group.epochs[each]) for each in sorted(group.epochs) if each[0] == key[0]]
    grows = all(one is not None and other is not None and one < other for one, other in pairwise(numbers))
    told = number_of(group.epochs[key]) if grows and key in group.epochs else None
    return f"epoch {key[1] if told is None else told} after restart {key[0]}"


def head(seen: RankSeen, texts: Mapping[str, str]) -> str:
    """The first samples of the first steps: ``0 1 2 3 | 4 5 6 7 | ...``; of digests their texts if known."""
    more = " ..." if max(seen.sizes, default=0) > HEAD_SAMPLES else ""
    named = [[id_name(each, texts) for each in step] for step in seen.head[:3]]
    steps = " | ".join(" ".join(step) + more * (len(step) == HEAD_SAMPLES) for step in named)
    return steps + (" | ..." if seen.steps > 3 else "")


def id_name(id: int | str, texts: Mapping[str, str]) -> str:
    """A number as it is; of a digest, which is given by its first bytes, what it was made of, or a hash."""
    return str(id) if isinstance(id, int) else texts.get(id, id[:_HASH])


def ascending(seen: RankSeen) -> bool:
    """Whether a rank's first samples are in the order of the dataset."""
    first = [each for step in seen.head for each in step if isinstance(each, int)]
    return len(first) > 1 and all(one < other for one, other in pairwise(first))


def by_rule(seen: RankSeen) -> bool:
    """Whether a rank's first samples are in an order that no shuffle gives: the dataset's, or in lanes, where each step
    is the one before it moved on (truncated backpropagation reads so).
    """
    steps = [[each for each in step if isinstance(each, int)] for step in seen.head]
    moved = {other - one for before, after in pairwise(steps) for one, other in zip(before, after, strict=False)}
    in_lanes = len(steps) > 2 and min(map(len, steps)) > 1 and len(moved) == 1
    return ascending(seen) or in_lanes


def listed(numbers: Sequence[object], most: int = 6) -> str:
    """``3``, ``3 and 5``, ``3, 5, 7 and 9 more``."""
    shown = [str(number) for number in numbers[:most]]
    if len(numbers) > most:
        return f"{', '.join(shown)} and {len(numbers) - most} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)


def samples(number: int) -> str:
    """``1 sample``, ``2,345 samples``."""
    return count(number, "sample") if number < 1000 else f"{number:,} samples"
