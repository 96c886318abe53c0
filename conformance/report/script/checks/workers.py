"""The checks of chapter 4, WORK-1 to WORK-11: what worker processes may change, and what the probe saw of each read."""

from bisect import bisect_right
from collections import Counter
from itertools import combinations
from types import SimpleNamespace
from typing import Any

from conformance.report.script.checks.common import epochs_of, failure_in, missing_from, samples_of, times_of
from conformance.report.script.judge import give_up


def same_samples_with_workers(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """WORK-1: each rank delivers the samples that it delivers without workers."""
    if failure_in(runs["workers"]):
        give_up(f"without workers the loader {failure_in(runs['workers'])}")
    if failure_in(runs["main"]):
        return f"with workers the loader {failure_in(runs['main'])}, and without it does not"
    for position, (with_workers, without) in enumerate(zip(runs["main"], runs["workers"], strict=True)):
        for here, there in zip(with_workers.epochs, without.epochs, strict=True):
            if sorted(samples_of(here)) != sorted(samples_of(there)):
                return f"in epoch {here.number}, rank {position} gets other samples with workers than without"
    return ""


def reads_once(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """WORK-2: each sample is read once for each time that it is delivered."""
    for position, rank in enumerate(runs["main"]):
        if not rank.reads and any(samples_of(epoch) for epoch in rank.epochs):
            give_up("nothing is read from the dataset during the epochs")
        read = Counter(each.index for each in rank.reads)
        delivered = Counter(index for epoch in rank.epochs for index in samples_of(epoch))
        if sum(max(0, read[index] - delivered[index]) for index in range(case.samples)) <= 1:
            continue
        for index in range(case.samples):
            if read[index] > delivered[index]:
                times = f"{read[index]} times, and delivered {delivered[index]} times"
                return f"on rank {position}, sample {index} is read {times}"
    return ""


def split_over_workers(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """WORK-3: over all workers and ranks each element comes once; some may be dropped under drop_last (WORK-5)."""
    if failure_in(runs["main"]):
        return f"the loader {failure_in(runs['main'])}"
    for epochs in epochs_of(runs["main"]):
        times = times_of(case, epochs)
        again = case.evens and case.policy == "pad"
        for index in range(case.samples):
            # What ranks with equal steps lose or repeat is EQUAL-2's matter.
            if (times[index] > 1 and not again) or (times[index] == 0 and not case.drop_last and not case.evens):
                return f"element {index} comes {times[index]} times"
    return ""


def replicated_over_workers(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """WORK-4: each element comes once from each worker of each rank; fewer times under drop_last."""
    if failure_in(runs["main"]):
        return f"the loader {failure_in(runs['main'])}"
    copies = case.world_size * max(1, case.num_workers)
    for epochs in epochs_of(runs["main"]):
        times = times_of(case, epochs)
        for index in range(case.samples):
            if times[index] > copies or (times[index] < copies and not case.drop_last):
                return f"element {index} comes {times[index]} times, and there are {copies} workers in all"
    return ""


def bounded_loss(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """WORK-5: under drop_last each worker drops fewer than one step of its elements."""
    workers = case.world_size * max(1, case.num_workers)
    limit = workers * (case.combined_batch - 1)
    for epochs in epochs_of(runs["main"]):
        lost = len(missing_from(case, epochs))
        if case.iterable_workers == "replicated":
            lost = case.samples * workers - times_of(case, epochs).total()
        if lost > limit:
            return f"{lost} elements are dropped, and {workers} workers may drop {limit}"
    return ""


def order_within_a_worker(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """WORK-6: elements that one worker reads arrive in the order in which it read them."""
    pads = case.evens and case.policy == "pad"
    for position, rank in enumerate(runs["main"]):
        for at, epoch in enumerate(rank.epochs):
            # What fills a rank up stands where it ends, whenever it was read.
            times = times_of(case, tuple(each.epochs[at] for each in runs["main"] if at < len(each.epochs)))
            once = [index for index in samples_of(epoch) if times[index] < 2 or not pads]
            reads = [read for read in rank.reads if read.epoch == epoch.number]
            readers = Counter(read.index for read in reads)
            for process in sorted({read.process for read in reads}):
                # An element that several workers read can't be traced to one of them.
                mine = [read.index for read in reads if read.process == process and readers[read.index] == 1]
                came = [index for index in once if index in mine]
                if came != [index for index in mine if index in came]:
                    return f"in epoch {epoch.number} of rank {position} a worker reads {mine}, and {came} comes"
            if least_runs(once) > max(1, case.num_workers):
                return f"in epoch {epoch.number}, rank {position} delivers what no {case.num_workers} workers read"
    return ""


def least_runs(samples: list[int]) -> int:
    """Into how many ascending runs a delivery can be dealt out, at least."""
    # The last element of each run, largest first; each element goes after the largest that is smaller.
    ends: list[int] = []
    for index in samples:
        at = bisect_right(ends, -index)
        ends[at : at + 1] = [-index]
    return len(ends)


def worker_information(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """WORK-7: get_worker_info() is right in every worker, and None in the main process."""
    if not any(read.torch for rank in runs["main"] for read in rank.reads):
        give_up("torch is not loaded where samples are read, so that nobody can ask")
    for rank in runs["main"]:
        for read in rank.reads:
            wrong = wrong_information(case, read, [other for other in rank.reads if other.epoch == read.epoch])
            if wrong:
                return f"at a read of sample {read.index}, {wrong}"
    return ""


def wrong_information(case: SimpleNamespace, read: SimpleNamespace, reads: list[SimpleNamespace]) -> str:
    """What is wrong with the answer at one read, given all reads of the epoch."""
    told = read.worker
    if told is None:
        return "" if read.main or not read.torch else "a worker process is told None"
    if read.main:
        return f"the main process is told that it is worker {told.id}"
    if not 0 <= told.id < case.num_workers or told.workers != case.num_workers:
        return f"a process is told that it is worker {told.id} of {told.workers}"
    if not told.own and case.dataset == "map":
        return f"worker {told.id} is told of another dataset than the one that is read"
    others = [other.worker for other in reads if other.process != read.process and other.worker]
    if any(told.id == other.id for other in others):
        return f"two processes are told that they are worker {told.id}"
    if any(told.seed == other.seed for other in others):
        return f"worker {told.id} is told the seed of another worker"
    return ""


def workers_draw_differently(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """WORK-8: two workers of a rank draw different numbers."""
    pairs = combinations(sorted(streams_of(runs["main"]).items()), 2)
    return drawn_by_both([(one, other) for one, other in pairs if one[0][:2] == other[0][:2]])


def ranks_draw_differently(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """WORK-9: the workers of two ranks draw different numbers in an epoch."""
    pairs = combinations(sorted(streams_of(runs["main"]).items()), 2)
    return drawn_by_both([(a, b) for a, b in pairs if a[0][0] != b[0][0] and a[0][1] == b[0][1]])


def epochs_draw_differently(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """WORK-10: a worker draws different numbers in another epoch."""
    pairs = combinations(sorted(streams_of(runs["main"]).items()), 2)
    return drawn_by_both([(a, b) for a, b in pairs if a[0][::2] == b[0][::2]])


def draws_repeat(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """WORK-11: the same seed, epoch, rank and worker, or sample, draw the same numbers again."""
    main, again = streams_of(runs["main"]), streams_of(runs["again"])
    if not main.keys() & again.keys():
        give_up("no worker reads anything in both runs")
    for place in sorted(main.keys() & again.keys()):
        for here, there in zip(main[place], again[place], strict=False):
            for library, one, other in zip(("random", "numpy", "torch"), here, there, strict=False):
                if one != other:
                    rank, epoch, worker = place
                    return f"{library} draws {one} and {other} in worker {worker} of rank {rank}, epoch {epoch}"
    return ""


def drawn_by_both(pairs: list[Any]) -> str:
    """Which number of a library both workers of a pair drew."""
    if not pairs:
        give_up("no two workers read anything")
    for (one, first), (other, second) in pairs:
        for at, library in enumerate(("random", "numpy", "torch")):
            common = {draws[at] for draws in first if draws[at:]} & {draws[at] for draws in second if draws[at:]}
            if common:
                places = (f"rank {rank}, epoch {epoch}, worker {worker}" for rank, epoch, worker in (one, other))
                return f"{library} draws {min(common)} in {' and in '.join(places)}"
    return ""


def streams_of(ranks: list[SimpleNamespace]) -> dict[tuple[int, int, int], list[list[int]]]:
    """By rank, epoch and worker, what it drew. One without worker info has its place by what it read first."""
    streams: dict[tuple[int, int, int], list[list[int]]] = {}
    for position, rank in enumerate(ranks):
        # Reads of the main process draw from the caller's own generators.
        reads = [read for read in rank.reads if not read.main]
        for number in {read.epoch for read in reads}:
            firsts = {read.process: read.index for read in reversed(reads) if read.epoch == number}
            places = sorted(firsts, key=lambda process: firsts[process])
            for read in [read for read in reads if read.epoch == number]:
                worker = read.worker.id if read.worker else places.index(read.process)
                streams.setdefault((position, number, worker), []).append(read.draws)
    return streams
