"""Is a loader whole again after an interrupt at any instruction, and after a second one at any other?

    python -m tests.benchmarks.interrupts --pairs 2000

First one life of an asynchronous loader for each check for signals in it, then pairs of checks that are drawn: the
second one comes while the first is dealt with. After each the loader is iterated again and ended, and what is left is
counted. The exit code is 1 if anything was.
"""

import argparse
import random
import sys
from collections.abc import Iterator, Sequence

from tests.reference.ahead.interrupting import outlives

_NEAR = 250  # checks within which the first interrupt is dealt with


def lives(pairs: int, every: int, total: int, seed: int) -> Iterator[tuple[int, ...]]:
    """At which checks each life is interrupted."""
    yield from ((at,) for at in range(1, total + 1, every))
    drawn = random.Random(seed)
    for _ in range(pairs):
        first = drawn.randint(1, total)
        yield first, first + drawn.randint(1, _NEAR)


def main(words: Sequence[str] | None = None) -> int:
    """Run, and say what was seen. The exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=2000, help="lives with two interrupts (default 2000)")
    parser.add_argument("--every", type=int, default=1, help="one check of so many has a life of its own (default 1)")
    parser.add_argument("--workers", type=int, default=0, help="of the loader (default 0)")
    parser.add_argument("--early-preload", action="store_true", help="load before the loader is iterated")
    parser.add_argument("--seed", type=int, default=0, help="another seed draws other pairs (default 0)")
    asked = parser.parse_args(words)
    count, places, wrong = 0, set(), []
    total = outlives((), asked.workers, asked.early_preload).count
    for at in lives(asked.pairs, asked.every, total, asked.seed):
        count += 1
        try:
            places.update(outlives(at, asked.workers, asked.early_preload).hit)
        except Exception as error:
            wrong.append(f"at {at}: {type(error).__name__}: {error}")
            print(wrong[-1], flush=True)
    print(f"{total} checks in a life; {count} lives, interrupted in {len(places)} lines; {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
