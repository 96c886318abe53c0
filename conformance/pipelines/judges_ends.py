"""Chapter 8, how epochs and loaders end: decides what an error, an early exit and a shutdown must lead to."""

from conformance.contract import Claims
from conformance.pipelines.judges import elements, failure_of, pipe, plain, rows, shown
from conformance.pipelines.scenario import BRANCHES, HALTED, LIMIT, PAUSE, PipelineScenario
from conformance.trace import Failure, RankRun, Trace
from conformance.trial.clause import Finding, Verdict
from conformance.trial.words import place_of

_ENDS = ("kill", "exit", "init")


def _failure(rank: RankRun) -> Failure | None:
    return rank.failure or next((epoch.failure for epoch in rank.epochs if epoch.failure), None)


def _is_named(rank: RankRun, number: int) -> bool:
    return any(str(number) in text.split() for about, text in rank.remarks if about == "named")


def _fired(trace: Trace) -> bool:
    return any(rank.remark("fired") for rank in trace.main.ranks) or trace.hung or _died(trace)


def _died(trace: Trace) -> bool:
    return any(rank.failure and rank.failure.kind == "died" for rank in trace.main.ranks)


def _told(rank: RankRun) -> str:
    failure = _failure(rank)
    return f"rank {rank.rank}: {failure.sentence() if failure else f'no error; {shown(elements(rank))}'}"


@pipe("PIPE-12", "ranks", floor=2)
def all_ranks_fail_with_one(scenario: PipelineScenario, claims: Claims, trace: Trace) -> Verdict:
    if not scenario.fault or scenario.ranks == 1 or not _fired(trace):
        return None
    kind, place = scenario.fault.partition("@")[0], place_of(scenario.fault)
    owed = scenario.ranks - 1 if kind == "init" else place % scenario.ranks
    # Who gets what is judged by PIPE-2.
    failing = next((rank.rank for rank in trace.main.ranks if rank.remark("fired")), owed)
    told = tuple(map(_told, trace.main.ranks))
    for rank in trace.main.ranks:
        failure = _failure(rank)
        if failure is None:
            return [Finding("quiet", "an error on every rank", told, f"rank {failing} has failed")]
        if failure.kind != "raised":
            return [Finding(failure.kind, "an error on every rank, soon", told, f"rank {failing} has failed")]
    for rank in trace.main.ranks:
        if rank.rank != failing and not _is_named(rank, failing):
            return [Finding("unnamed", f"an error that names rank {failing}", (_told(rank),), "it tells where to look")]
    counts = [len(rank.epochs[0].steps) if rank.epochs else 0 for rank in trace.main.ranks]
    before = place // scenario.ranks
    if kind == "raise" and failing == owed and set(counts) != {before}:
        why = f"element {place} raises on rank {failing}, as its number {before}"
        return [Finding("place", f"{before} elements before it on every rank", rows(trace), why)]
    return []


@pipe("PIPE-15", "workers", floor=3)
def a_worker_that_dies_is_an_error(scenario: PipelineScenario, claims: Claims, trace: Trace) -> Verdict:
    kind = scenario.fault.partition("@")[0]
    if kind not in _ENDS or scenario.ranks > 1 or not scenario.workers or not _fired(trace):
        return None
    (rank,), place = trace.main.ranks, place_of(scenario.fault)
    failure, came = _failure(rank), elements(rank)
    # Who gets what is judged by PIPE-2.
    here = [read.worker[0] for read in rank.reads if read.index == place and read.worker is not None]
    worker = here[0] if here and kind != "init" else place % scenario.workers
    who = "the dispatching process" if "front" in scenario.asked else f"worker {worker}"
    if failure is None or failure.kind != "raised":
        found = failure.kind if failure else "quiet"
        return [Finding(found, f"an error that names {who}", (_told(rank),), f"{who} has ended")]
    if "front" not in scenario.asked and not _is_named(rank, worker):
        return [Finding("unnamed", f"an error that names {who}", (_told(rank),), f"{who} has ended")]
    if came != list(range(len(came))) or (kind != "init" and len(came) > place):
        return [Finding("before", "the first elements, then the error", (shown(came),), f"{who} has ended")]
    return []


@pipe("PIPE-14", floor=4)
def the_next_epoch_is_whole(scenario: PipelineScenario, claims: Claims, trace: Trace) -> Verdict:
    if scenario.conduct.partition("@")[0] not in ("leave", "two") or scenario.elements % scenario.ranks:
        return None
    if scenario.asked & HALTED:
        # What follows a pause is PIPE-19's matter.
        return None
    last = len(trace.main.ranks[0].epochs) - 1
    came = [element for rank in trace.main.ranks for element in elements(rank, last)]
    if sorted(came) == list(range(scenario.elements)):
        return []
    begun = "another iterator was made" if scenario.conduct.startswith("two") else "the epoch before was left"
    why = f"{begun} after {place_of(scenario.conduct)} elements"
    return [Finding("torn", "each element once", rows(trace, last), why)]


@pipe("PIPE-16", floor=2)
def an_older_iterator_raises(scenario: PipelineScenario, claims: Claims, trace: Trace) -> Verdict:
    if not scenario.conduct.startswith("two"):
        return None
    is_halted = bool(scenario.asked & HALTED)
    if _may_have_ended(scenario):
        return None
    asked = [rank.remark("older") for rank in trace.main.ranks if rank.remark("older")]
    wrong = [text for text in asked if text != "raised"]
    if wrong:
        told = f"the older iterator{', which was paused,' if is_halted else ''} {wrong[0]}"
        return [Finding(wrong[0].split()[0], "an error", (told,), "a newer one was made")]
    return [] if asked else None


@pipe("PIPE-17", floor=6)
def nothing_goes_on_and_nothing_is_left(scenario: PipelineScenario, claims: Claims, trace: Trace) -> Verdict:
    if not scenario.conduct and not scenario.fault:
        return None
    if scenario.ranks > 1 and not scenario.conduct.startswith("shut"):
        return None
    if scenario.fault.startswith("raise") and _fired(trace):
        failure = _failure(trace.main.ranks[0])
        if failure is None or failure.kind != "raised":
            found = failure.kind if failure else "quiet"
            why = "an element that raises is an error in the loop, and neither its end nor a wait"
            return [Finding(found, "an error", (_told(trace.main.ranks[0]),), why)]
    if scenario.fault and failure_of(trace) is not None:
        return None
    for rank in trace.main.ranks:
        if scenario.conduct.startswith("shut") and not _may_have_ended(scenario):
            for about, text in rank.remarks:
                if about == "after-end" and not text.endswith("raised"):
                    return [Finding("used", "an error", (text,), "the loader has been shut down")]
        for about, text in rank.remarks:
            if about in ("process", "thread"):
                return [Finding(about, "nothing is left", (text,), _ending(scenario))]
    return []


def _may_have_ended(scenario: PipelineScenario) -> bool:
    """Whether an iterator was paused after its last element, which may be its end."""
    return bool(scenario.asked & HALTED) and place_of(scenario.conduct) >= scenario.elements // scenario.ranks


def _ending(scenario: PipelineScenario) -> str:
    return "the loader was dropped" if scenario.conduct == "dropped" else "the loader has been shut down"


@pipe("PIPE-18", floor=2)
def sharding_twice_is_an_error(scenario: PipelineScenario, claims: Claims, trace: Trace) -> Verdict:
    if "twice" not in scenario.asked:
        # One filter in each branch, or one before or after them, is none too many.
        return [] if scenario.asked & BRANCHES and plain(scenario) and not scenario.shuffle else None
    for rank in trace.main.ranks:
        failure = _failure(rank)
        if failure is None or failure.kind != "raised":
            found = failure.kind if failure else "accepted"
            return [Finding(found, "an error, and no element", (_told(rank),), "two filters on one path lose elements")]
        if elements(rank):
            return [Finding("late", "no element", (shown(elements(rank)),), "it can be seen before anything is read")]
    return []


@pipe("PIPE-19", "pause", floor=2)
def pauses_lose_nothing(scenario: PipelineScenario, claims: Claims, trace: Trace) -> Verdict:
    if "begun" in scenario.asked:
        return _begun_in_its_place(scenario, trace)
    if "limit" not in scenario.asked and "pause" not in scenario.asked:
        return None
    for rank in trace.main.ranks:
        pieces = [[each for step in epoch.steps for each in step] for epoch in rank.epochs]
        right = list(range(rank.rank, scenario.elements, scenario.ranks))
        read = pieces if "limit" in scenario.asked else pieces[:2]
        told = tuple(f"rank {rank.rank}: {shown(piece)}" for piece in pieces[:4])
        if not _is_whole(scenario, [each for piece in read for each in piece], right):
            return [Finding("torn", _owed(scenario, right), told, "a pause loses and repeats nothing")]
        first = LIMIT if "limit" in scenario.asked else PAUSE
        if any(len(piece) > LIMIT for piece in read if "limit" in scenario.asked) or len(read[0]) > first:
            return [Finding("unheard", f"a pause after {first} elements", told, "that is what was asked for")]
        if "pause" in scenario.asked and not _is_whole(scenario, pieces[-1], right):
            return [Finding("paused", _owed(scenario, right), told[-1:], "a new iterator is not paused")]
    return []


def _is_whole(scenario: PipelineScenario, came: list[int], right: list[int]) -> bool:
    """Whether a rank has its elements; shuffled, as many, and none twice: which of them are its own is drawn."""
    return len(came) == len({*came}) == len(right) if scenario.shuffle else came == right


def _owed(scenario: PipelineScenario, right: list[int]) -> str:
    return f"{len(right)} elements, each once" if scenario.shuffle else shown(right)


def _begun_in_its_place(scenario: PipelineScenario, trace: Trace) -> Verdict:
    """An epoch that was paused has given what comes first, and the one that was begun in its place gives all."""
    for rank in trace.main.ranks:
        right = list(range(rank.rank, scenario.elements, scenario.ranks))
        for at, epoch in enumerate(rank.epochs):
            came, owed = elements(rank, at), right
            if epoch.left:
                # Which come first is asked of an order that is known, and how many of none.
                owed = right[: len(came)]
            if not _is_whole(scenario, came, owed):
                told = (f"rank {rank.rank}: {shown(came)}",)
                what = "an epoch that is paused" if epoch.left else "a new iterator of a paused loader"
                return [Finding("begun", _owed(scenario, owed), told, f"{what} has its own elements, each once")]
    return []


@pipe("PIPE-20", "services", floor=1)
def the_wrong_order_is_refused(scenario: PipelineScenario, claims: Claims, trace: Trace) -> Verdict:
    if "wrong" not in scenario.asked:
        return None
    for rank in trace.main.ranks:
        if rank.failure is None or rank.failure.kind != "raised":
            found = rank.failure.kind if rank.failure else "accepted"
            told = f"rank {rank.rank}: {rank.failure.sentence() if rank.failure else 'no error'}"
            return [Finding(found, "an error", (told,), "workers would start before they know their rank")]
    return []
