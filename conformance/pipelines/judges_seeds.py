"""Chapter 8, what is random: decides whether a shuffle is one where it must be, and another where it must be."""

from itertools import combinations

from conformance.contract import Claims
from conformance.loader.judging import listed
from conformance.pipelines.judges import elements, pipe, plain, rows, shown, uneven
from conformance.pipelines.scenario import PipelineScenario
from conformance.trace import Trace
from conformance.trial.clause import Finding, Verdict

# From this many on, two orders are alike by chance once in 10^18.
_MANY = 20


@pipe("PIPE-3", "workers", "ranks", floor=3)
def one_order_before_sharding(scenario: PipelineScenario, claims: Claims, trace: Trace) -> Verdict:
    if not plain(scenario) or not scenario.shuffle or scenario.parts == 1 or scenario.elements % scenario.parts:
        return None
    for epoch in range(scenario.epochs):
        steps = [step for rank in trace.main.ranks for step in rank.epochs[epoch].steps]
        columns = (
            list(zip(*steps, strict=True)) if "zip" in scenario.asked else [[each for step in steps for each in step]]
        )
        for column in columns:
            twice, never = uneven(list(column), scenario.elements)
            if twice or never:
                lost = [
                    f"{name}: {listed(each).replace('sample', 'element')}"
                    for name, each in (("twice", twice), ("never", never))
                    if each
                ]
                why = "a shuffle before sharding gives one order in all workers and ranks"
                return [Finding("orders", "each element once", (*rows(trace, epoch), ", ".join(lost)), why)]
    return []


@pipe("PIPE-4", "workers", "ranks", floor=1)
def each_worker_shuffles_by_itself(scenario: PipelineScenario, claims: Claims, trace: Trace) -> Verdict:
    if (
        "late" not in scenario.asked
        or scenario.shuffle
        or scenario.parts == 1
        or scenario.elements < _MANY * scenario.parts
    ):
        return None
    orders: dict[str, list[int]] = {}
    for rank in trace.main.ranks:
        for process in sorted({read.process for read in rank.reads}):
            mine = [read.index for read in rank.reads if read.process == process and read.epoch == 0]
            place = {element: at for at, element in enumerate(sorted(mine))}
            name = f"rank {rank.rank}" + (f", worker process {process}" if scenario.workers else "")
            orders[name] = [place[element] for element in mine]
    for first, second in combinations(orders, 2):
        if orders[first] == orders[second] and len(orders[first]) >= _MANY // 2:
            told = tuple(f"{name}: {shown(orders[name])}" for name in (first, second))
            return [Finding("alike", "two orders", told, "positions in the shard; each worker draws for itself")]
    return []


@pipe("PIPE-5", floor=1)
def a_seed_fixes_the_epochs(scenario: PipelineScenario, claims: Claims, trace: Trace) -> Verdict:
    if "reseed" not in scenario.asked or not scenario.shuffle or scenario.elements < _MANY:
        return None
    times = scenario.epochs
    found = [[elements(rank, epoch) for rank in trace.main.ranks] for epoch in range(2 * times + 1)]

    def told(first: int, second: int) -> tuple[str, ...]:
        return tuple(f"epoch {each}: {shown(found[each][0])}" for each in (first, second))

    for first, second in combinations(range(times), 2):
        if found[first] == found[second]:
            return [Finding("repeated", "another order in each epoch", told(first, second), "seed() was called once")]
    for epoch in range(times):
        if found[epoch] != found[times + epoch]:
            why = f"seed() was called again before epoch {times}, with the same seed"
            return [Finding("forgotten", "the same order again", told(epoch, times + epoch), why)]
    if found[2 * times] == found[0]:
        why = f"another seed was set before epoch {2 * times}"
        return [Finding("ignored", "another order", told(0, 2 * times), why)]
    return []


@pipe("PIPE-6", floor=1)
def epochs_differ_without_a_seed(scenario: PipelineScenario, claims: Claims, trace: Trace) -> Verdict:
    if "unseeded" not in scenario.asked or not scenario.shuffle or scenario.epochs < 2 or scenario.elements < _MANY:
        return None
    for rank in trace.main.ranks:
        # Of an epoch that was left, as many as came of it.
        first = elements(rank, 0)
        if first == elements(rank, 1)[: len(first)] and len(first) >= _MANY // 2:
            told = tuple(f"epoch {epoch}: {shown(elements(rank, epoch))}" for epoch in range(2))
            return [Finding("repeated", "two orders", told, "seed() was not called, and nothing was drawn in between")]
    return []


@pipe("PIPE-7", "workers", "ranks", floor=1)
def the_order_is_that_of_one_process(scenario: PipelineScenario, claims: Claims, trace: Trace) -> Verdict:
    alone = trace.variant("alone")
    if (
        not plain(scenario)
        or not scenario.shuffle
        or alone is None
        or "own" in scenario.asked
        or "zip" in scenario.asked
    ):
        return None
    if scenario.batch_size > 1 or scenario.elements % scenario.parts or scenario.elements < 2:
        return None
    ranks = scenario.ranks
    for epoch in range(scenario.epochs):
        whole = elements(alone.ranks[0], epoch)
        for rank in trace.main.ranks:
            # Which elements a rank has is judged by PIPE-2.
            came = elements(rank, epoch)
            right = [element for element in whole if element in came]
            if came != right:
                told = (f"rank {rank.rank}: {shown(came)}", f"one process: {shown(whole)}")
                why = f"epoch {epoch} with the same seed, dealt out among {ranks} rank{'s' * (ranks > 1)}"
                return [Finding("order", f"rank {rank.rank}: {shown(right)}", told, why)]
    return []


@pipe("PIPE-8", floor=1)
def a_seed_has_bounds(scenario: PipelineScenario, claims: Claims, trace: Trace) -> Verdict:
    if "bounds" not in scenario.asked:
        return None
    rank = trace.main.ranks[0]
    why = "seeds are 0 to 2^64 - 1"
    if accepted := rank.remark("accepted"):
        return [Finding("accepted", "an error", (accepted,), why)]
    if refused := rank.remark("refused"):
        return [Finding("refused", "no error", (refused,), why)]
    return []
