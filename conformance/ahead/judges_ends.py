"""Chapter 5, the end: the judge of ASYNC-8, on loaders that are closed, dropped, left, interrupted or outlived."""

from conformance.ahead.judges import ahead, conduct_of
from conformance.contract import Claims
from conformance.loader.conducts import CONDUCTS, DEADLY
from conformance.loader.scenario import Scenario
from conformance.trace import RankRun, Topic, Trace
from conformance.trial.clause import Finding, Verdict, clause

_ENDS = ("dropped", "unread", "forgotten", "leave", "ended", "interrupt", "quit")


@clause("ASYNC-8", family="async", dataset="any", applies=ahead(), floor=12)
def ends_with_its_loader(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """However a loader ends, nothing of it is left; an interrupt comes out of next()."""
    (rank, *_) = trace.main.ranks
    conduct = conduct_of(scenario)
    if not (scenario.conduct or scenario.fault):
        return None
    if rank.failure:
        return _failed(conduct, rank)
    if conduct in ("interrupt", "quit") and not _came_to_it(rank):
        return None
    came = rank.remark("interrupted")
    if came and not came.startswith("KeyboardInterrupt"):
        line = f"interrupted while it waited in next(), the consumer got {came}"
        why = "Ctrl-C means stop, and whatever else Python does then depends on the exception"
        return [Finding("interrupt-lost", "KeyboardInterrupt from next()", (line,), why)]
    if rank.remark("after-end"):
        why = "an iterator that has raised StopIteration goes on raising it (Python's iterator protocol)"
        return [Finding("revived", "StopIteration every time", (rank.remark("after-end"),), why)]
    if rank.remark("quit"):
        line = f"a process that reads a step and ends without closing: {rank.remark('quit')}"
        return [Finding("process-stays", "the process ends", (line,), "a finished job must not block its machine")]
    return _left(scenario, rank)


def _came_to_it(rank: RankRun) -> bool:
    # The read that interrupts, or the step after which the process ends, may not have come.
    return any(about in ("interrupted", "quit") for about, _ in rank.remarks)


def _failed(conduct: str, rank: RankRun) -> Verdict:
    """A failure is found here where the way to end is this clause's own; else another clause names it."""
    if conduct not in _ENDS:
        return None
    assert rank.failure is not None
    expected = f"no error ({CONDUCTS[conduct].text.format('...')})"
    why = "ending a loader must not depend on how far it has read ahead"
    return [Finding("fails-at-its-end", expected, (f"rank {rank.rank}: {rank.failure.sentence()}",), why)]


def _left(scenario: Scenario, rank: RankRun) -> list[Finding]:
    topics: tuple[Topic, ...] = ("process", "thread", "descriptor", "file")
    for topic in topics:
        # What a process had made that died at once is nobody's any more (LEAK-3).
        if rank.remark(topic) and not (topic == "file" and scenario.fault.partition("@")[0] in DEADLY):
            line = f"rank {rank.rank}: {rank.remark(topic)}, after a second round as after the first"
            return [Finding(f"left-{topic}", "nothing left behind", (line,), "what a loader starts, it ends")]
    return []
