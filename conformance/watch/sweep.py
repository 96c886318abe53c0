"""The smallest set-up that shows a finding: decides in which order set-ups are tried, and how one is written down."""

import shlex
from collections.abc import Callable, Iterator
from dataclasses import replace

from conformance.watch.targets import SetUp, Unfit

# This many set-ups are tried for the ranks and workers, and this many lengths.
_MOST = 60
# The length by which it is seen whether a length has any hold.
_SHORT = 8
Shows = Callable[[SetUp], bool]


def smallest(shows: Shows, found: SetUp, choices: frozenset[str]) -> SetUp:
    """The first of the set-ups with less of all but samples that shows what `found` shows; `found` if none does.

    `choices` are what the target takes of num_workers and drop_last.
    """
    return next((setup for setup in _smaller(found, choices) if _tried(shows, setup)), found)


def shortest(shows: Shows, found: SetUp, length: int) -> SetUp:
    """The set-up with the least samples that still shows it, of `length` of them; `found` if it takes them all."""
    shorter = (replace(found, length=short) for short in _lengths(length))
    return next((setup for setup in shorter if _tried(shows, setup)), found)


def length_holds(samples: Callable[[SetUp], int], found: SetUp, length: int) -> bool:
    """Whether no more samples come than a set-up's length says; `samples` gives how many different ones come.

    A sampler may have a length of its own. What the target refuses, or is as short already, is no sign of that.
    """
    if length <= _SHORT:
        return True
    try:
        return samples(replace(found, length=_SHORT)) <= _SHORT
    except Unfit:
        return True


def _tried(shows: Shows, setup: SetUp) -> bool:
    try:
        return shows(setup)
    except Unfit:  # too small for the target itself: three shards for four ranks
        return False


def _smaller(found: SetUp, choices: frozenset[str]) -> Iterator[SetUp]:
    """Fewer ranks first, then fewer workers, then fewer epochs; with and without drop_last."""
    fixed = found.num_workers is None or "num_workers" not in choices
    workers = [found.num_workers] if found.num_workers is None or fixed else range(found.num_workers + 1)
    drops = [found.drop_last] if "drop_last" not in choices or found.drop_last is not None else [None, True, False]
    tried = 0
    for ranks in range(1, found.world_size + 1):
        for number in workers:
            for epochs in range(1, found.epochs + 1):
                for drop in drops:
                    tried += 1
                    if tried <= _MOST:
                        setup = replace(found, world_size=ranks, num_workers=number, epochs=epochs, drop_last=drop)
                        yield setup


def _lengths(most: int) -> Iterator[int]:
    """1 to 8, then half as many again each time."""
    length = 1
    while length < most:
        yield length
        length = length + 1 if length < 8 else length * 3 // 2


def command(target: str, setup: SetUp, more: list[str]) -> str:
    """The command that shows a set-up again."""
    words = ["loaderspec", "check", target, f"--world-size={setup.world_size}", f"--epochs={setup.epochs}"]
    for name in ("num_workers", "batch_size", "seed", "length"):
        value = getattr(setup, name)
        if value is not None:
            words.append(f"--{name.replace('_', '-')}={value}")
    if setup.drop_last is not None:
        words.append("--drop-last" if setup.drop_last else "--no-drop-last")
    words += [f"--set={name}={value}" for name, value in setup.values.items()]
    return shlex.join([*words, *more])
