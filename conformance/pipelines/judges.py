"""Chapter 8, who gets what: decides whether every element goes to one worker of one rank, in its place."""

from collections import Counter
from collections.abc import Callable

from conformance.contract import Claims
from conformance.loader.judging import listed
from conformance.pipelines.scenario import BRANCHES, GRAPHS, HALTED, PipelineScenario
from conformance.trace import RankRun, Trace
from conformance.trial.clause import Finding, Judge, Verdict, clause

# Which clause reports the failure of a valid request, by what the scenario is about; the first that fits counts.
_OWNERS = (
    ("wrong", "PIPE-20"),
    ("twice", "PIPE-18"),
    ("limit", "PIPE-19"),
    ("pause", "PIPE-19"),
    ("begun", "PIPE-19"),
    ("bounds", "PIPE-8"),
    ("unseeded", "PIPE-6"),
    ("reseed", "PIPE-5"),
    ("late", "PIPE-4"),
)


def pipe(clause_id: str, *parts: str, floor: int) -> Callable[[Judge], Judge]:
    """Register a judge of chapter 8, owed where one of these parts of `pipelines` is claimed, or any if none is named.

    A run that fails where it could be met is the finding of one clause (`owner`), and judged by no other.
    """

    def owed(claims: Claims) -> bool:
        return any(part in claims.pipelines for part in parts) or bool(claims.pipelines and not parts)

    def register(judge: Judge) -> Judge:
        def judged(scenario: PipelineScenario, claims: Claims, trace: Trace) -> Verdict:
            if not must_fail(scenario) and (finding := failure_of(trace)) is not None:
                return [finding] if owner(scenario) == clause_id else None
            return judge(scenario, claims, trace)

        # The report tells where the judge is.
        judged.__wrapped__ = judge  # type: ignore[attr-defined]
        clause(clause_id, family="pipeline", applies=owed, floor=floor, dataset="none")(judged)
        return judge

    return register


def owner(scenario: PipelineScenario) -> str:
    """The clause that names a failure which nobody asked for, and a hang in any case."""
    if scenario.fault:
        return "PIPE-12" if scenario.ranks > 1 else "PIPE-15" if scenario.workers else "PIPE-17"
    if scenario.asked & HALTED:
        return "PIPE-19"
    conduct = scenario.conduct.partition("@")[0]
    if conduct in ("leave", "two"):
        return "PIPE-14"
    if conduct in ("shut", "dropped"):
        return "PIPE-17"
    named = next((clause_id for word, clause_id in _OWNERS if word in scenario.asked), None)
    if named:
        return named
    if scenario.filters:
        return "PIPE-11" if scenario.ranks > 1 else "PIPE-13"
    if scenario.asked & BRANCHES:
        return "PIPE-18"
    if "dispatch" in scenario.asked and scenario.workers:
        return "PIPE-10"
    if scenario.shuffle and scenario.parts > 1:
        return "PIPE-7" if scenario.variant == "alone" else "PIPE-3"
    return "PIPE-1"


def must_fail(scenario: PipelineScenario) -> bool:
    """Whether an error is what is asked for."""
    return bool(scenario.fault) or "wrong" in scenario.asked or "twice" in scenario.asked


def failure_of(trace: Trace) -> Finding | None:
    """The first failure of a run, as a finding."""
    for run in trace.runs:
        for rank in run.ranks:
            if rank.failure:
                where = f"rank {rank.rank}: " if len(run.ranks) > 1 else ""
                # What was being tried is told by the case.
                return Finding(rank.failure.kind, "no failure", (f"{where}{rank.failure.sentence()}",), "it can be met")
    return None


def plain(scenario: PipelineScenario) -> bool:
    """Whether the graph is read whole, epoch after epoch, and nothing is filtered out."""
    return not scenario.fault and not scenario.conduct and scenario.asked <= GRAPHS


def unshuffled(scenario: PipelineScenario) -> bool:
    """Whether it is plain, and in the order of the source."""
    return plain(scenario) and not scenario.shuffle and not scenario.asked & BRANCHES


def elements(rank: RankRun, epoch: int = 0) -> list[int]:
    """What a rank got in an epoch, in order."""
    return [sample for step in rank.epochs[epoch].steps for sample in step] if len(rank.epochs) > epoch else []


def rows(trace: Trace, epoch: int = 0) -> tuple[str, ...]:
    """The delivery of each rank as a line."""
    return tuple(f"rank {rank.rank}: {shown(elements(rank, epoch))}" for rank in trace.main.ranks[:4])


def shown(numbers: list[int]) -> str:
    """``0 2 4``, and dots for what is too much."""
    told = " ".join(map(str, numbers[:16]))
    return f"{told} ..." if len(numbers) > 16 else told or "(nothing)"


def uneven(delivered: list[int], samples: int) -> tuple[list[int], list[int]]:
    """The elements that came more than once, and those that did not come."""
    counts = Counter(delivered)
    return sorted(each for each, times in counts.items() if times > 1), [
        each for each in range(samples) if each not in counts
    ]


@pipe("PIPE-1", floor=5)
def shards_are_exclusive_and_exhaustive(scenario: PipelineScenario, claims: Claims, trace: Trace) -> Verdict:
    if not unshuffled(scenario):
        return None
    for epoch in range(scenario.epochs):
        delivered = [element for rank in trace.main.ranks for element in elements(rank, epoch)]
        foreign = [element for element in delivered if not 0 <= element < scenario.elements]
        twice, never = uneven(delivered, scenario.elements)
        if foreign or twice:
            what = f"{listed(foreign or twice).replace('sample', 'element')}{' is none of the source' * bool(foreign)}"
            why = "each worker of each rank has a shard of its own"
            return [Finding("twice", "each element once", (*rows(trace, epoch), f"twice: {what}"), why)]
        # What ranks lose when they end together is judged by PIPE-11, or by PIPE-2.
        if never and (scenario.ranks == 1 or scenario.elements % scenario.parts == 0):
            told = (*rows(trace, epoch), f"never: {listed(never).replace('sample', 'element')}")
            return [Finding("never", "each element once", told, "all shards together are the whole")]
    return []


@pipe("PIPE-2", "workers", "ranks", floor=4)
def a_rank_is_the_same_with_any_workers(scenario: PipelineScenario, claims: Claims, trace: Trace) -> Verdict:
    if not unshuffled(scenario) or scenario.parts == 1 or scenario.elements < 2:
        return None
    ranks = scenario.ranks
    for rank in trace.main.ranks:
        foreign = [element for element in elements(rank) if element % ranks != rank.rank]
        if foreign:
            right = list(range(rank.rank, scenario.elements, ranks))
            why = f"element i is rank i mod {ranks}'s, whatever the number of workers"
            return [Finding("rank", f"rank {rank.rank}: only {shown(right)}", rows(trace), why)]
        for read in rank.reads if "dispatch" not in scenario.asked else ():
            owed = (read.index // ranks) % max(1, scenario.workers)
            if read.worker is not None and read.worker[1] == scenario.workers and read.worker[0] != owed:
                told = (f"rank {rank.rank}: element {read.index} is in worker {read.worker[0]}",)
                why = f"element i is worker (i div {ranks}) mod {scenario.workers}'s"
                return [Finding("worker", f"element {read.index} in worker {owed}", told, why)]
    return []


@pipe("PIPE-9", "workers", floor=4)
def the_merged_order_is_that_of_one_process(scenario: PipelineScenario, claims: Claims, trace: Trace) -> Verdict:
    if not unshuffled(scenario) or not scenario.workers or scenario.batch_size > 1 or scenario.elements < 2:
        return None
    for epoch in range(scenario.epochs):
        for rank in trace.main.ranks:
            came = elements(rank, epoch)
            if came != sorted(came):
                told = (f"rank {rank.rank}: {shown(came)}",)
                why = "one of worker 0, one of worker 1, ..., and one that has no more is skipped"
                return [Finding("order", f"rank {rank.rank}: {shown(sorted(came))}", told, why)]
    return []


@pipe("PIPE-10", "dispatch", floor=3)
def one_process_runs_what_is_dispatched(scenario: PipelineScenario, claims: Claims, trace: Trace) -> Verdict:
    if not unshuffled(scenario) or "dispatch" not in scenario.asked or not scenario.workers or not scenario.elements:
        return None
    ranks, workers = scenario.ranks, scenario.workers
    for rank in trace.main.ranks:
        for epoch in range(scenario.epochs):
            value = rank.value(f"source {epoch}")
            read = value.numbers if value is not None else ()
            times, processes = len(read) // 2, len(set(read[::2]))
            if processes > 1 or times > scenario.elements:
                told = (f"rank {rank.rank}: {times} reads by {processes} process{'es' * (processes > 1)}",)
                owed = f"{scenario.elements} reads by one process"
                return [Finding("source", owed, told, "what stands before a dispatch runs once")]
        for read_by in rank.reads:
            position = read_by.index // ranks
            if read_by.worker is not None and read_by.worker[0] != position % workers:
                told = (f"rank {rank.rank}: element {position} of the dispatch is in worker {read_by.worker[0]}",)
                why = f"element j is worker j mod {workers}'s"
                return [Finding("worker", f"in worker {position % workers}", told, why)]
    return []


@pipe("PIPE-11", "ranks", floor=8)
def ranks_end_together(scenario: PipelineScenario, claims: Claims, trace: Trace) -> Verdict:
    if scenario.ranks == 1 or not (plain(scenario) or scenario.filters):
        return None
    for epoch in range(scenario.epochs):
        counts = [len(rank.epochs[epoch].steps) for rank in trace.main.ranks]
        told = tuple(f"rank {rank}: {count} elements" for rank, count in enumerate(counts))
        if len(set(counts)) > 1:
            return [Finding("uneven", "as many on every rank", told, "the rank with the fewest decides for all")]
        # With workers batches follow from who gets what; and elements of another rank are judged by PIPE-2.
        owed = min(_available(scenario, rank) for rank in range(scenario.ranks))
        counted = scenario.workers == 0 or (unshuffled(scenario) and scenario.batch_size == 1 and _at_home(trace))
        if counted and counts[0] != owed:
            why = "no rank is cut by more than it has beyond the rank with the fewest"
            return [Finding("lost", f"{owed} on every rank", told, why)]
    return []


def _at_home(trace: Trace) -> bool:
    """Whether each rank has elements of its own only."""
    ranks = trace.main.ranks
    return all(each % len(ranks) == rank.rank for rank in ranks for each in elements(rank))


def _available(scenario: PipelineScenario, rank: int) -> int:
    """How many elements of the pipeline a rank without workers has for itself."""
    mine = range(rank, scenario.elements, scenario.ranks)
    let_through = sum(map(scenario.lets_through, mine))
    return -(-let_through // scenario.batch_size)


@pipe("PIPE-13", "workers", floor=3)
def workers_may_end_at_different_times(scenario: PipelineScenario, claims: Claims, trace: Trace) -> Verdict:
    if scenario.ranks > 1 or scenario.workers < 2 or not scenario.filters:
        return None
    rank = trace.main.ranks[0]
    right = [each for each in range(scenario.elements) if scenario.lets_through(each)]
    for epoch in range(scenario.epochs):
        came = elements(rank, epoch)
        if sorted(came) != right:
            why = "a worker that has no more, or nothing, is left out"
            return [Finding("lost", f"{shown(right)} in some order", (shown(came),), why)]
    after = rank.remark("after-end")
    if after:
        return [Finding("after", "StopIteration every time", (after,), "the epoch ends once")]
    return []
