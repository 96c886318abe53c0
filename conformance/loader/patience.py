"""How long is waited for a loader: for what it leaves behind, for what it must read, and for a run of both."""

from conformance.loader.scenario import Scenario

GRACE = 5.0  # seconds in which a closed loader's processes, files and threads may still be ending
SHORT_GRACE = 1.0  # the same after the first round: what is left then is looked for in a second one
A_SAMPLE = 0.001  # the seconds that a loader may take over one: who reads many of them is slow, and does not hang
LONGEST = 8.0  # seconds that are waited for reads which must come: starting a process may take long

STARTED = 30.0  # the same where workers may be new interpreters
JOB_ENDS = 10.0  # seconds in which what a launcher has started is gone once it has ended
ORPHANS_END = 10.0  # seconds in which a process ends whose reader was killed: torch's workers look for it every five


def patience_with(scenario: Scenario, usual: float) -> float:
    """The seconds that a run of a scenario may take, if one in which nothing special happens may take `usual`."""
    if scenario.conduct.startswith("killed"):
        return usual + STARTED + ORPHANS_END
    if scenario.conduct and scenario.asynchronous:
        return usual + 3 * (GRACE + LONGEST)
    if scenario.conduct in ("head", "orders"):
        return 4 * usual  # a million samples are put in order, or a hundred thousand many times
    if scenario.is_slow:
        return 2 * usual
    # The rounds, what a time-out takes, and the grace in which things may end.
    more = 3 * GRACE if scenario.is_troubled else 0.0
    return usual + more + A_SAMPLE * scenario.samples * scenario.epochs
