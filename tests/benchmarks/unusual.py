"""Is an unusual loader that is right ever accused? Judges all of the museum's, at a tier, and says who was.

    python -m tests.benchmarks.unusual --tier gate InThreads BySpawn

Without names, all of them. The exit code is 1 if anything is held against one, or a clause had no chance.
"""

import argparse
import sys
import time
from typing import Any

from conformance.trial.tiers import TIERS
from tests.museum.judged import judged
from tests.museum.unusual import ALL_UNUSUAL


def held_against(loader: type[Any], tier: str) -> list[str]:
    """The clauses that are not green, each with its case or the reason."""
    outcomes = judged(loader, tier).outcomes
    return [each.case.id if each.case else f"{each.clause}: {each.note}" for each in outcomes if each.fails(True)]


def main(words: list[str]) -> int:
    """Judge those that are named, or all. The exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--tier", choices=sorted(TIERS), default="gate", help="how much is tried (default gate)")
    parser.add_argument("names", nargs="*", help="the loaders (default all)")
    given = parser.parse_args(words)
    accused = 0
    for loader in [each for each in ALL_UNUSUAL if not given.names or each.__name__ in given.names]:
        start = time.monotonic()
        told = held_against(loader, given.tier)
        accused += bool(told)
        print(f"{loader.__name__:<24} {time.monotonic() - start:6.1f} s  {'; '.join(told) or 'green'}", flush=True)
    print(f"{accused} of the unusual loaders accused at the tier {given.tier}")
    return 1 if accused else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
