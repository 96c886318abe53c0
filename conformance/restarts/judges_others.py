"""Chapter 9, another request: the judges of RESUME-10 and RESUME-11, on states that another request's loader is given.

Nothing is compared step by step here. All samples of the epoch that were not delivered before the restart must come
after it, once, over all ranks: but for what the claimed policy repeats or drops.
"""

from collections import Counter
from dataclasses import replace

from conformance.contract import Claims
from conformance.loader.judging import dropped_limit, ends, listed, remainder, show
from conformance.loader.scenario import Scenario
from conformance.restarts.judging import before, flat, ranks_at, resumes, steps_text, words_of
from conformance.restarts.scenario import ELASTIC, OF_OTHERS, resumed
from conformance.trace import Run, Trace
from conformance.trial.clause import Finding, Verdict, clause


@clause("RESUME-10", family="resume", applies=lambda claims: claims.elastic and remainder(claims), floor=4)
def elastic_restarts_cover_the_rest(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """With another number of ranks or workers what was not delivered yet comes, once."""
    if not words_of(scenario) & set(ELASTIC):
        return None
    run = trace.variant("resumed")
    refused = next((rank for rank in run.ranks if rank.failure), None) if run else None
    if refused is not None and refused.failure is not None:
        line = f"rank {refused.rank}: {refused.failure.sentence()}"
        return [Finding("refused", "the rest of the epoch", (line,), "elastic=True is claimed")]
    verdict = _covered(scenario, claims, trace)
    verdict = verdict or _next_is_whole(scenario, claims, run, verdict)
    return verdict or _covered_after_two(scenario, claims, trace) or verdict


@clause(
    "RESUME-11",
    family="resume",
    level="SHOULD",
    applies=lambda claims: resumes(claims) and remainder(claims),
    floor=4,
)
def what_does_not_fit_is_refused(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """A state of another request is refused, or what was not delivered yet comes, once."""
    if not words_of(scenario) & (set(OF_OTHERS) - set(ELASTIC if claims.elastic else ())):
        return None
    run = trace.variant("resumed")
    if run is not None and run.failed and not trace.main.failed:
        answered = all(rank.failure is None or rank.failure.kind == "raised" for rank in run.ranks)
        return [] if answered else ends(run, ())
    return _covered(scenario, claims, trace, refusable=True)


def _covered(scenario: Scenario, claims: Claims, trace: Trace, refusable: bool = False) -> Verdict:
    """Whether all that was not delivered before the restart comes after it, once."""
    run = trace.variant("resumed")
    heads = {index for rank in trace.main.ranks for index in flat(before(scenario, rank))} if run else set()
    left = set(range(scenario.samples)) - heads
    # A rank that had come to its end continues with the next epoch, or with an empty rest (RESUME-4).
    within = len(ranks_at(scenario, trace, "middle")) == scenario.world_size
    if run is None or run.failed or not within or not left:
        return None
    kind, note = _amiss(scenario, claims, run, heads, jobs=1)
    return [_finding(scenario, trace, run, f"{kind}-by-another", note, refusable)] if kind else []


def _covered_after_two(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """The same after a second restart, from a state that the other job took after its first step."""
    once, run = trace.variant("resumed"), trace.variant("resumed again")
    if once is None or run is None or once.failed or run.failed or "again" not in words_of(scenario):
        return None
    if any(len(rank.epochs[0].steps) < 2 for rank in once.ranks):
        return None
    first = {index for rank in once.ranks for index in rank.epochs[0].steps[0]}
    heads = first | {index for rank in trace.main.ranks for index in flat(before(scenario, rank))}
    kind, note = _amiss(scenario, claims, run, heads, jobs=2)
    if not kind:
        return []
    finding = _finding(scenario, trace, run, f"{kind}-by-the-second", note, refusable=False)
    between = show(tuple(replace(rank.epochs[0], steps=rank.epochs[0].steps[:1]) for rank in once.ranks), {}, "then, ")
    return [replace(finding, delivered=(finding.delivered[0], *between, *finding.delivered[1:]))]


def _amiss(scenario: Scenario, claims: Claims, run: Run, heads: set[int], jobs: int) -> tuple[str, str]:
    """What comes again or never, more than the first request and the other `jobs` may pad or drop; else "" twice."""
    others = [resumed(scenario)]
    if jobs == 2:
        others.append(resumed(others[0]) if "further" in scenario.words else others[0])
    after = Counter(index for rank in run.ranks for index in rank.epochs[0].samples)
    again = sorted(index for index, times in after.items() if index in heads or times > 1)
    repeats = sum(after[index] - (index not in heads) for index in again)
    # Each of the requests may pad a shard of its own.
    if repeats > sum(_padding(other, claims) for other in others) + (
        _padding(scenario, claims) if scenario.drop_last else 0
    ):
        return "repeated", f"{listed(again)} again"
    lost = sorted(set(range(scenario.samples)) - heads - set(after))
    # Each of them may drop a rest of its own.
    if len(lost) > sum(dropped_limit(each, claims) - 1 for each in (scenario, *others)):
        return "lost", f"{listed(lost)} never"
    return "", ""


def _next_is_whole(scenario: Scenario, claims: Claims, run: Run | None, verdict: Verdict) -> Verdict:
    """Whether the epoch after the rest has all samples, once, over all ranks."""
    if verdict is None or run is None:
        return verdict
    other, epochs = resumed(scenario), run.epoch(-1)
    counts = Counter(index for epoch in epochs for index in epoch.samples)
    lost = [index for index in range(other.samples) if index not in counts]
    again = sorted(index for index, times in counts.items() if times > 1)
    if len(lost) < dropped_limit(other, claims) and counts.total() - len(counts) <= _padding(other, claims):
        return []
    note = f"{listed(lost)} never" if len(lost) >= dropped_limit(other, claims) else f"{listed(again)} again"
    lines = show(epochs, {0: note}, "the next epoch, ")
    why = "what was skipped is skipped once, and in its own epoch"
    return [Finding("next-epoch-by-another", "the next epoch, whole", lines, why)]


def _padding(scenario: Scenario, claims: Claims) -> int:
    """The most samples that may be repeated so that all ranks have whole steps; or, dropping, equal shards (PART-4)."""
    if claims.policy(scenario.drop_last) != "pad":
        return 0
    return (1 if scenario.drop_last else scenario.combined_batch) * scenario.world_size - 1


def _finding(scenario: Scenario, trace: Trace, run: Run, kind: str, note: str, refusable: bool) -> Finding:
    heads = [f"rank {rank.rank}: {steps_text(before(scenario, rank), 'nothing')}" for rank in trace.main.ranks]
    tails = show(tuple(rank.epochs[0] for rank in run.ranks), {0: note}, "after it, ")
    expected = f"every sample that was not delivered yet, once{', or an error' if refusable else ''}"
    why = "a position that is counted in other steps, or in another order, is another position"
    return Finding(kind, expected, (f"before the restart, {'; '.join(heads)}", *tails), why)
