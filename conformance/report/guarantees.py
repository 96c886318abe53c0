"""The line of plain guarantees: decides what a report entitles its reader to rely on.

Every guarantee follows from clauses that HOLD in this very report. A clause that was violated, not claimed or not
exercised entitles to nothing. Weakest first: what is lost or repeated stands before what is promised in full.
"""

from collections.abc import Iterator

from conformance.clauses import CLAUSES
from conformance.contract import Claims, Policy
from conformance.trial.outcome import Report


def guarantees(report: Report) -> tuple[str, ...]:
    """What holds, in plain words, weakest first; empty if nothing that was judged entitles to a promise."""
    # That a clause holds in the one case that was replayed says nothing of all others.
    if report.replayed:
        return ()
    held = frozenset(outcome.clause for outcome in report.outcomes if outcome.status == "HOLDS")
    return (
        *_delivery(report, held),
        *_steps(report, held),
        *_endings(held),
        *_order(report, held),
        *_updates(held),
        *_pipelines(held),
        *_restarts(report, held),
    )


def guarantee_line(report: Report) -> str:
    """The guarantees as one sentence without a full stop."""
    found = guarantees(report)
    if found:
        return "; ".join(found)
    judged = [outcome.clause for outcome in report.outcomes if outcome.status not in ("NOT CLAIMED", "INVALID")]
    if judged and report.replayed:
        return f"only one case of {judged[0]} was replayed: no guarantee is given"
    if judged and len(report.outcomes) < len(CLAUSES):
        return f"only {_named(judged)} judged: no guarantee is given"
    return "nothing is guaranteed: no clause that was judged entitles to it"


def _named(clauses: list[str]) -> str:
    """The subject and verb of a sentence about some of the clauses."""
    if len(clauses) == 1:
        return f"{clauses[0]} was"
    return f"{' and '.join(clauses)} were" if len(clauses) == 2 else f"{len(clauses)} of {len(CLAUSES)} clauses were"


def _delivery(report: Report, held: frozenset[str]) -> list[str]:
    # PART clauses are judged on unshuffled epochs; ORDER-3 and ORDER-4 carry them over to shuffled ones.
    scope = "" if {"ORDER-3", "ORDER-4"} <= held else "unshuffled, "
    keeping = list(_delivered_when_keeping(report.claims.when_keeping, held))
    dropping = list(_delivered_when_dropping(report.claims.when_dropping, held))
    # Nobody must read the one promise as one for both.
    found = [(strength, f"{scope}without drop_last {words}") for strength, words in keeping]
    found += [(strength, f"{scope}with drop_last {words}") for strength, words in dropping]
    iterable = [f"iterable: {words}" for words in _delivered_of_iterables(report.claims, held)]
    return [*(words for _, words in sorted(found, key=lambda pair: pair[0])), *iterable]


def _delivered_when_keeping(policy: Policy | None, held: frozenset[str]) -> Iterator[tuple[int, str]]:
    if policy == "pad" and {"PART-2", "PART-4"} <= held:
        yield 0, "delivers at least once (pads up to world size - 1 samples, or to full last steps)"
    elif policy == "drop" and {"PART-1", "PART-3"} <= held:
        yield 1, "delivers at most once (drops up to world size - 1 samples)"
    elif policy == "uneven" and {"PART-1", "PART-2"} <= held:
        yield 2, "delivers exactly once"
    elif policy in ("pad", "uneven") and "PART-2" in held:
        yield 0, "delivers at least once"
    elif policy in ("drop", "uneven") and "PART-1" in held:
        yield 1, "delivers at most once"


def _delivered_when_dropping(policy: Policy | None, held: frozenset[str]) -> Iterator[tuple[int, str]]:
    # Under "pad" a sample may come twice and another one not at all: neither once at least nor once at most.
    if policy in ("drop", "uneven") and "PART-1" in held:
        bound = " (drops less than one step of all ranks)" if "PART-3" in held else ""
        yield 1, f"delivers at most once{bound}"
    elif policy is not None and "PART-3" in held:
        yield 0, "drops less than one step of all ranks"


def _delivered_of_iterables(claims: Claims, held: frozenset[str]) -> Iterator[str]:
    splits = claims.iterable_workers == "split"
    if "WORK-4" in held:
        yield "every element once from each worker"
    elif "WORK-3" in held:
        # WORK-3 lets drop_last lose what it likes, and WORK-5 bounds that.
        if "WORK-5" in held:
            yield f"with drop_last at most once ({'each worker ' if splits else ''}drops less than one step)"
        # Who does not claim "split" is asked for one rank without workers only.
        where = "over workers and ranks" if splits else "on one rank without workers"
        yield f"without drop_last every element exactly once {where}"


def _steps(report: Report, held: frozenset[str]) -> Iterator[str]:
    # COUNT-5 is judged only where ranks are to be equal.
    policies = {"with drop_last": report.claims.when_dropping, "without drop_last": report.claims.when_keeping}
    equal = {name: policy in ("drop", "pad") for name, policy in policies.items()}
    if "COUNT-5" in held and any(equal.values()):
        where = "" if all(equal.values()) else f" {next(name for name in equal if equal[name])}"
        yield f"equal steps on every rank{where}"
    if "PART-6" in held and report.claims.when_keeping == "uneven":
        yield "without drop_last ranks differ by at most one sample"


def _endings(held: frozenset[str]) -> Iterator[str]:
    if {"COUNT-6", "COUNT-7"} <= held:
        yield "every epoch ends"


def _updates(held: frozenset[str]) -> Iterator[str]:
    if {"DEVICE-3", "DEVICE-4"} <= held:
        yield f"an update is that of its joined batch{' over all ranks' if 'DEVICE-13' in held else ''}"


def _pipelines(held: frozenset[str]) -> Iterator[str]:
    if {"PIPE-1", "PIPE-3"} <= held:
        loses = ", and ranks end together (drops up to world size - 1 elements)" if "PIPE-11" in held else ""
        yield f"pipelines: each element at most once over workers and ranks{loses}"
    if {"PIPE-5", "PIPE-7", "PIPE-9"} <= held:
        yield "pipelines: deterministic per (seed, epoch), whatever the number of workers"


def _restarts(report: Report, held: frozenset[str]) -> Iterator[str]:
    if {f"RESUME-{number}" for number in (1, 2, 3, 4, 5, 8)} <= held:
        shuffled = " if it is unshuffled" if report.claims.resume == "unshuffled" else ""
        others = ", with other ranks and workers too" if "RESUME-10" in held else ""
        yield f"goes on with a stopped epoch{shuffled}, as often as it is stopped{others}"


def _order(report: Report, held: frozenset[str]) -> Iterator[str]:
    if {"PART-7", "ORDER-5", "ORDER-9"} <= held:
        yield "deterministic per (seed, epoch)"
    elif "PART-7" in held:
        yield "the same unshuffled shard every time"
    if "ORDER-8" in held:
        yield "whatever the number of workers"
    if {"ORDER-12", "ORDER-13"} <= held:
        yield "shuffled uniformly over all ranks"
