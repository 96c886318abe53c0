"""Verdicts as vectors: what was asked for, what was claimed, what was delivered, and which clauses fire.

The deliveries are right ones, made here by a few lines that are not the reference's, each as it is and with one fault.
A clause that could not have failed in a case is named neither under `fires` nor under `holds`.
"""

from collections.abc import Iterator
from dataclasses import asdict
from itertools import product
from typing import Any

from conformance.clauses import CLAUSES, FAMILIES
from conformance.contract import Claims, parse_claims
from conformance.loader.scenario import Scenario
from conformance.trace import Epoch, Failure, RankRun, Run, Trace
from conformance.vectors import deliveries, edges, edges_reach, readings, readings_reach, stated, unseen
from conformance.vectors.deliveries import FAULTS, Delivered

_REQUESTS = ((5, 2, 2), (7, 2, 2), (10, 2, 4), (8, 3, 2), (9, 2, 1), (1, 1, 4), (4, 1, 3), (9, 2, 3))
_POLICIES = ("drop", "pad", "uneven")
_LAYOUTS = ("contiguous", "strided")


def cases() -> Iterator[dict[str, Any]]:
    """All of them: shards of each policy and layout with each fault, then those of other kinds."""
    yield from _shards()
    yield from _others()


def _shards() -> Iterator[dict[str, Any]]:
    combinations = list(product(_POLICIES, _LAYOUTS, (True, False), FAULTS))
    for at, (policy, layout, drop_last, fault) in enumerate(combinations):
        claims = {"when_dropping": policy, "when_keeping": policy, "layout": layout}
        # Each with the next request in which the fault can be seen.
        for turn in range(len(_REQUESTS)):
            samples, step, ranks = _REQUESTS[(at + turn) % len(_REQUESTS)]
            right = deliveries.shards(samples, step, ranks, drop_last, policy, layout)
            wrong = FAULTS[fault](right, samples)
            if wrong != right or not fault:
                request = Scenario(samples, ranks, step, drop_last=drop_last)
                yield verdict(request, claims, [[steps] for steps in wrong], fault or "right")
                break


def _others() -> Iterator[dict[str, Any]]:
    apart = (*readings.readings(), *readings_reach.readings(), *unseen.unseen(), *stated.stated())
    for name, scenario, claims, delivered, more in (*deliveries.others(), *edges.edges(), *edges_reach.edges(), *apart):
        yield verdict(scenario, claims, delivered, name, **more)


def verdict(
    request: Scenario,
    claims: dict[str, Any],
    delivered: Delivered,
    name: str,
    lengths: list[int] | None = None,
    failed: dict[str, str] | None = None,
    unshuffled: Delivered | None = None,
) -> dict[str, Any]:
    """A case: `delivered` holds, for each rank and epoch, the steps. `failed`: how each rank ended before its time."""
    runs = [Run("main", _ranks(delivered, lengths, failed))]
    runs += [Run("unshuffled", _ranks(unshuffled, None, None))] if unshuffled is not None else []
    found = judged(
        Trace(request, tuple(runs), doubted=frozenset(_families_of(request, parse_claims(claims)))),
        parse_claims(claims),
    )
    more = {"lengths": lengths, "failed": failed, "unshuffled": unshuffled}
    return {
        "name": name,
        "request": _fields(request),
        "claims": claims,
        "delivered": delivered,
        **{key: value for key, value in more.items() if value is not None},
        "fires": [clause for clause, fires in found.items() if fires],
        "holds": [clause for clause, fires in found.items() if not fires],
    }


def judged(trace: Trace, claims: Claims) -> dict[str, bool]:
    """The clauses that this delivery could have violated, and whether it did."""
    found = {}
    families = _families_of(trace.scenario, claims)
    for clause in sorted(CLAUSES.values(), key=lambda clause: clause.number):
        mine = clause.family in families and clause.applies(claims)
        if mine and trace.main.failed and FAMILIES[clause.family].of_failed_runs:
            mine = clause.id in FAMILIES[clause.family].of_failed_runs
        verdict = clause.judge(trace.scenario, claims, trace) if mine else None
        if verdict is not None:
            found[clause.id] = bool(verdict)
    return found


def _families_of(request: Scenario, claims: Claims) -> tuple[str, ...]:
    """The kinds of case that a request is of; of equal steps it is judged beside what else is said of its dataset."""
    if request.refusal:
        return ("refusals",)
    if claims.is_endless:
        return ("endless",)
    if request.conduct.startswith("sharded"):
        return ("equal",)
    usual = "statistics" if request.epochs == deliveries.MANY else "map"
    plain = "iterable" if request.dataset == "iterable" else usual
    return (plain, "equal") if claims.equal_steps else (plain,)


def _fields(request: Scenario) -> dict[str, Any]:
    """What a case asks for, without what is as usual."""
    usual = asdict(Scenario(0))
    needed = ("samples", "world_size", "batch_size", "drop_last")
    asked = {name: value for name, value in asdict(request).items() if name in needed or value != usual[name]}
    return asked | {name: list(value) for name, value in request.conducted.asks(request).items()}


def _ranks(delivered: Delivered, lengths: list[int] | None, failed: dict[str, str] | None) -> tuple[RankRun, ...]:
    failure = Failure(failed["kind"], failed["where"], "") if failed else None  # type: ignore[arg-type]  # two words
    return tuple(
        RankRun(
            rank,
            tuple(
                Epoch(number, tuple(map(tuple, steps)), lengths[rank] if lengths else None)
                for number, steps in enumerate(epochs)
            ),
            failure,
        )
        for rank, epochs in enumerate(delivered)
    )
