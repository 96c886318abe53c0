"""Failures that no clause accuses: no run of them may pass in silence."""

from collections.abc import Mapping
from typing import Any

from conformance.contract import Claims
from conformance.trace import Trace
from conformance.trial.clause import Verdict
from conformance.trial.family import Family

# How a run may not end, whatever was asked for.
_NEVER_RIGHT = ("hung", "died", "endless")


def unowned_failure(family: Family[Any], claims: Claims, trace: Trace, verdicts: Mapping[str, Verdict]) -> str:
    """How a run failed, if one did and no clause says so; else "".

    A clause that accuses owns the failure. An error, but no hang and no death, is also owned by a clause that looked at
    the run and found it right, and by a scenario in which an error is allowed; in a run that is compared with the main
    one it is the comparing clause's.
    """
    is_slow = family.may_hang(trace.scenario)
    failures = [
        (run, rank.rank, rank.failure)
        for run in trace.runs
        for rank in run.ranks
        if rank.failure and not (is_slow and rank.failure.kind == "hung")
    ]
    dead = [each for each in failures if each[2].kind in _NEVER_RIGHT]
    of_main = [each for each in failures if each[0] is trace.main]
    if any(verdicts.values()) or not (dead or of_main):
        return ""
    if not dead and (
        any(verdict is not None for verdict in verdicts.values()) or family.may_fail(trace.scenario, claims)
    ):
        return ""
    run, rank, failure = (dead or of_main)[0]
    return f"rank {rank} {failure.sentence()}" + ("" if run is trace.main else f" in the run {run.name!r}")
