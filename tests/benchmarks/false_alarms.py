"""Is a loader that is right ever accused? Runs an implementation through as many scenarios as are asked for.

    python -m tests.benchmarks.false_alarms --scenarios 200000 --impl reference

Each round draws the scenarios of the map family anew, with the next seed, and judges each by all clauses of chapters 1
to 3 that bind; scenarios that came before are not counted again. The last line says how many were seen, how often a
clause could have failed, and which were violated; the exit code is 1 if any was. With the same arguments the same
scenarios come, so a long run can be parted: `--first-seed` goes on where another ended.
"""

import argparse
import sys
import time
from typing import Any

import conformance.clauses  # noqa: F401  (fills the table of families)
from conformance.processes.fleet import Fleet
from conformance.processes.sources import SpawnedSource
from conformance.trial.campaign import Campaign
from conformance.trial.tiers import TIERS

FAMILY = "map"
A_ROUND = 10_000  # scenarios that one seed draws


def main(words: list[str]) -> int:
    """Run rounds until there were enough scenarios. The exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--scenarios", type=int, default=200_000, help="how many at least (default 200000)")
    parser.add_argument("--impl", default="reference", help="what is judged, as for --impl of the suite")
    parser.add_argument("--first-seed", type=int, default=0, help="seed of the first round (default 0)")
    given = parser.parse_args(words)
    seen: set[Any] = set()
    exercised, violated = 0, []
    seed, start = given.first_seed, time.monotonic()
    with Fleet(SpawnedSource(given.impl)) as fleet:
        while len(seen) < given.scenarios:
            examples = min(A_ROUND, max(given.scenarios - len(seen), 100))
            campaign = Campaign(fleet, fleet.claims, FAMILY, TIERS["gate"], seed, examples)
            result = campaign.run()
            seen |= campaign.scenarios
            exercised += sum(result.exercised.values())
            violated += [case.id for case in result.cases.values()]
            violated += [f"{clause}-{case.code} (once)" for clause, case in result.unconfirmed.items()]
            print(f"seed {seed}: {len(seen):,} scenarios, {len(violated)} violations", flush=True)
            seed += 1
    told = f"{', '.join(violated)} violated" if violated else "no clause violated"
    rate = len(seen) / (time.monotonic() - start)
    print(
        f"{given.impl}: {len(seen):,} scenarios, {exercised:,} times a clause could have failed, {told} ({rate:.0f}/s)"
    )
    return 1 if violated else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
