"""Chapter 4, workers: the judges of WORK-1, 2 and 7 to 11, on what was delivered and what was seen of each read."""

from collections import Counter
from collections.abc import Callable
from itertools import combinations

from conformance.contract import Claims
from conformance.loader.judging import as_assigned, ends, show, usable
from conformance.loader.scenario import Scenario
from conformance.trace import RankRun, Read, Run, Trace
from conformance.trial.clause import Finding, Verdict, clause
from conformance.trial.words import count

# A worker of an epoch of a rank, and the numbers that it drew, in order: (library, number).
StreamKey = tuple[int, int, int]
Streams = dict[StreamKey, list[tuple[int, int]]]


def _workers(claims: Claims) -> bool:
    return claims.workers


@clause("WORK-1", family="workers", applies=_workers, floor=4, twin=True)
def same_samples_with_workers(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Each rank delivers the samples that it delivers without workers, and comes to its end as well."""
    without, again = trace.variant("workers"), trace.variant("again")
    failed = next((run for run in (trace.main, again, trace.variant("random-state")) if run and run.failed), None)
    if failed and scenario.samples >= claims.least_samples(scenario.world_size, scenario.combined_batch):
        # What fails without workers too is named by COUNT-6 and COUNT-7.
        return None if without is not None and without.failed else ends(failed, ())
    others = {"none": without, "again": again}
    compared = {label: run for label, run in others.items() if run and usable(run) and usable(trace.main)}
    found = (_other_samples(scenario, claims, trace.main, run, label) for label, run in compared.items())
    return next((finding for finding in found if finding), []) if compared else None


def _other_samples(scenario: Scenario, claims: Claims, main: Run, again: Run, label: str) -> list[Finding]:
    for position in range(scenario.epochs):
        both = (as_assigned(claims, run.epoch(position)) for run in (main, again))
        pairs = zip(*both, strict=True)
        for rank, (one, other) in enumerate(pairs):
            if sorted(one.samples) != sorted(other.samples):
                workers = count(scenario.num_workers, "worker")
                lines = (*show((one,), label=f"{workers}, as "), *show((other,), label=f"{label}, as "))
                why = "the number of workers must not change what is delivered"
                return [Finding("samples-differ", f"rank {rank}: the same samples both times", lines, why)]
    return []


@clause("WORK-2", family="workers", applies=_workers, floor=8)
def reads_once(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """No sample is read more often than it is delivered; one that is dropped may be read once an epoch.

    One sample more may be read by a loader, to learn what samples are like.
    """
    if not usable(trace.main):
        return None
    for rank in trace.main.ranks:
        reads = Counter(read.index for read in rank.reads)
        delivered = Counter(index for epoch in rank.epochs for index in epoch.samples)
        allowed = {index: max(delivered[index], scenario.epochs if scenario.drop_last else 0) for index in reads}
        if sum(max(0, reads[index] - allowed[index]) for index in reads) <= 1:
            continue
        for index, times in sorted(reads.items()):
            if times > allowed[index]:
                told = f"was read {count(times, 'time')}, delivered {count(delivered[index], 'time')}"
                why = "a read costs, and draws random numbers: one too many is waste, and shifts every later draw"
                lines = (f"rank {rank.rank}: sample {index} {told}",)
                return [Finding("read-more", "no more reads of a sample than deliveries", lines, why)]
    return []


@clause("WORK-7", family="workers", applies=_workers, floor=6)
def worker_information(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """`get_worker_info()` is right in every worker, and None in the main process."""
    # A loader whose worker processes are its own, and not torch's, promises no worker info.
    judged = [run for run in trace.runs if usable(run)]
    ranks = [rank for run in judged for rank in run.ranks if any(read.worker for read in rank.reads)]
    for rank in ranks:
        wrong = next((told for read in rank.reads if (told := _wrong_information(read, rank, scenario))), "")
        if wrong:
            workers = scenario.workers_of(rank.rank)
            expected = f"ids 0 to {workers - 1} of {count(workers, 'worker')}, each its own seed"
            why = "a dataset splits itself by what get_worker_info() says"
            return [Finding("worker-info", expected, (f"rank {rank.rank}: {wrong}",), why)]
    return [] if ranks or usable(trace.main) else None


def _wrong_information(read: Read, rank: RankRun, scenario: Scenario) -> str:
    if read.worker is None:
        return f"a worker process reads sample {read.index} without worker info" if read.process else ""
    identity, workers, seed, own = read.worker
    if read.process == 0:
        return f"the main process has the worker info of worker {identity}"
    if not 0 <= identity < workers or workers != scenario.workers_of(rank.rank):
        return f"worker {identity} of {workers}"
    if not own:
        return f"worker {identity}: its worker info names another dataset than the one it reads"
    twins = (
        other for other in rank.reads if other.epoch == read.epoch and other.worker and other.process != read.process
    )
    for other in twins:
        if other.worker is not None and identity == other.worker[0]:
            return f"two processes are worker {identity}"
        if other.worker is not None and seed == other.worker[2]:
            return f"workers {identity} and {other.worker[0]} have the same seed"
    return ""


@clause("WORK-8", family="workers", applies=_workers, floor=4)
def draws_differ_between_workers(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Two workers of a rank draw other numbers."""
    return _draws(trace, lambda one, other: one[:2] == other[:2], "two workers of a rank", "differ between workers")


@clause("WORK-9", family="workers", applies=_workers, floor=3, needs=("ranks",))
def draws_differ_between_ranks(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """The workers of two ranks draw other numbers, though the caller's generators were alike."""
    alike = lambda one, other: one[0] != other[0] and one[1] == other[1]  # noqa: E731
    return _draws(trace, alike, "the workers of two ranks", "differ between ranks")


@clause("WORK-10", family="workers", applies=_workers, floor=4)
def draws_differ_between_epochs(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """In another epoch the workers of a rank draw other numbers, each of them than any of them."""
    alike = lambda one, other: one[0] == other[0] and one[1] != other[1]  # noqa: E731
    return _draws(trace, alike, "two epochs", "differ between epochs")


def _draws(trace: Trace, compared: Callable[[StreamKey, StreamKey], bool], whose: str, rule: str) -> Verdict:
    if not usable(trace.main):
        return None
    streams = _streams(trace.main)
    exercised = False
    for one, other in combinations(sorted(streams), 2):
        if not compared(one, other):
            continue
        exercised = True
        common = set(streams[one]) & set(streams[other])
        if common:
            library, number = min(common)
            lines = tuple(
                f"rank {rank}, epoch {epoch}, {_called(worker)}: drew {number}" for rank, epoch, worker in (one, other)
            )
            why = f"random draws {rule}, or augmentation repeats itself; chance meets once in 2^53 draws"
            return [Finding(f"same-draws-{_LIBRARIES[library]}", f"{whose} draw other numbers", lines, why)]
    return [] if exercised or _without_processes(trace) else None


_LIBRARIES = ("random", "numpy", "torch")


def _called(worker: int) -> str:
    return f"worker {worker}"


@clause("WORK-11", family="workers", applies=_workers, floor=3)
def draws_repeat(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """The same seed, epoch, rank and worker, or sample, draw the same numbers in another process."""
    again = trace.variant("again")
    if again is None or not usable(trace.main) or not usable(again):
        return None
    # Where draws are a sample's own, whichever worker is free may read it.
    here, there = _drawn_for_samples(trace.main), _drawn_for_samples(again)
    if here and here == there:
        return []
    first, second = _streams(trace.main), _streams(again)
    for key in sorted(first.keys() & second.keys()):
        for (library, one), (_, other) in zip(first[key], second[key], strict=False):
            if one != other:
                rank, epoch, worker = key
                where = f"rank {rank}, epoch {epoch}, {_called(worker)}"
                lines = (f"{where}, first: drew {one}", f"{where}, again: drew {other}")
                why = "seed, epoch, rank, worker and the caller's generators are the same"
                return [Finding(f"draws-differ-{_LIBRARIES[library]}", "the same numbers both times", lines, why)]
    return [] if first.keys() & second.keys() or _without_processes(trace) else None


def _without_processes(trace: Trace) -> bool:
    """Whether no worker process read anything: a loader that reads by threads, or from files that `load` has written.

    Nothing can then be wrong with its worker processes.
    """
    delivered = any(epoch.samples for rank in trace.main.ranks for epoch in rank.epochs)
    by_workers = any(read.process for rank in trace.main.ranks for read in rank.reads)
    return usable(trace.main) and delivered and not by_workers


def _drawn_for_samples(run: Run) -> dict[StreamKey, list[tuple[int, ...]]]:
    """What was drawn in workers, by rank, epoch and sample."""
    found: dict[StreamKey, list[tuple[int, ...]]] = {}
    for rank in run.ranks:
        for read in rank.reads:
            if read.process and read.draws:
                found.setdefault((rank.rank, read.epoch, read.index), []).append(read.draws)
    return found


def _streams(run: Run) -> Streams:
    streams: Streams = {}
    for rank in run.ranks:
        for read in rank.reads:
            # Reads of the main process draw from the caller's own generators.
            if read.process and read.draws:
                worker = read.worker[0] if read.worker else read.process - 1
                streams.setdefault((rank.rank, read.epoch, worker), []).extend(enumerate(read.draws))
    return streams
