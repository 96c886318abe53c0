"""Chapter 10, what is left behind: the judges of LEAK-*, on scenarios in which something goes wrong, or nothing."""

from conformance.contract import Claims
from conformance.faults.judges import fault_of
from conformance.loader import patience
from conformance.loader.conducts import FAULTS
from conformance.loader.judging import refuses_the_type
from conformance.loader.kinds import OF_ORDERS, OF_SAMPLES
from conformance.loader.scenario import Scenario
from conformance.trace import Topic, Trace
from conformance.trial.clause import Finding, Verdict, clause


@clause("LEAK-1", family="life", dataset="any", floor=20)
def no_process_is_left(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """No child process is left."""
    return _nothing_left(scenario, trace, "process", "what starts a process ends it")


@clause("LEAK-2", family="life", dataset="any", floor=20)
def no_descriptor_is_left(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """No open file, socket or pipe is left."""
    return _nothing_left(scenario, trace, "descriptor", "a process may hold a thousand or so, then everything fails")


@clause("LEAK-3", family="life", dataset="any", floor=20)
def no_file_is_left(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """No shared-memory segment and no temporary file is left, but for what a worker had made that died at once."""
    if scenario.kills_a_worker:
        return None
    return _nothing_left(scenario, trace, "file", "they outlive the process, and fill the machine's memory")


@clause("LEAK-4", family="life", dataset="any", floor=20)
def no_thread_is_left(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """No thread is left."""
    return _nothing_left(
        scenario, trace, "thread", "a thread keeps its loader's memory, and may keep the process from ending"
    )


def _nothing_left(scenario: Scenario, trace: Trace, topic: Topic, why: str) -> Verdict:
    (rank,) = trace.main.ranks
    if not scenario.is_troubled or (rank.failure and rank.failure.kind in ("hung", "died")):
        return None
    if scenario.raises_base and scenario.num_workers:
        # A worker that ends by itself does so while others start or send: what is left is another thing each time.
        return None
    told = rank.remark(topic)
    if told:
        after = FAULTS[fault_of(scenario)].split("{}")[0].strip() if scenario.fault else "the loader is gone"
        line = f"rank {rank.rank}: {told}, after a second round as after the first"
        return [
            Finding(
                f"left-{topic}",
                f"nothing left behind ({after} ...)" if scenario.fault else "nothing left behind",
                (line,),
                why,
            )
        ]
    return []


@clause("LEAK-5", family="samples", dataset="any", floor=1)
def memory_does_not_grow(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Many epochs later the processes hold as much memory as before."""
    (rank,) = trace.main.ranks
    orders = scenario.conduct == "orders"
    if scenario.kind != "large" and not orders:
        return None
    if rank.failure:
        return [] if refuses_the_type(rank) else None
    growth = OF_ORDERS if orders else OF_SAMPLES
    if int(rank.remark("memory")) <= growth.most:
        return []
    epochs = "of which a step was read" if orders else f"of {scenario.samples // 16} MiB each"
    times = {3: "three", 6: "six"}[growth.windows]
    more = f"more than {growth.most // 2**20} MiB more with every {growth.more} epochs {epochs}, {times} times"
    line = f"rank {rank.rank}: {more}"
    return [
        Finding(
            "memory-grows",
            "as much memory after many epochs as after a few",
            (line,),
            "what an epoch needed is released after it",
        )
    ]


@clause("LEAK-6", family="killed", dataset="any", applies=lambda claims: claims.workers or claims.asynchronous, floor=1)
def no_process_outlives_its_reader(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Where the process that reads is killed, those of its loader end."""
    (rank,) = trace.main.ranks
    if not any(about == "orphans" for about, _ in rank.remarks):
        return None
    told = rank.remark("orphans")
    if not told:
        return []
    line = f"rank {rank.rank}: {patience.ORPHANS_END:g} s after its process was killed, {told} left"
    why = "what is killed can't end its workers: each must see by itself that nobody reads any more"
    return [Finding("orphans", "no process of the loader lives on", (line,), why)]
