"""The checks of chapter 11 for shuffled streams, and streams that are told of their epoch."""

from collections import Counter
from itertools import pairwise
from types import SimpleNamespace

from conformance.report.script.checks.common import epochs_of, failure_in, samples_of


def each_element_once(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """STREAM-4: an epoch has each element once over all workers and ranks, or once from each worker, as claimed."""
    if failure_in(runs["main"]):
        return f"the loader {failure_in(runs['main'])}"
    for epochs in epochs_of(runs["main"]):
        for share in [(epoch,) for epoch in epochs] if case.replicated else [epochs]:
            times = Counter(index for epoch in share for index in samples_of(epoch))
            again = [index for index in sorted(times) if times[index] > case.copies]
            lost = [index for index in range(case.samples) for _ in range(case.copies - times[index])]
            if again:
                return f"sample {again[0]} comes {times[again[0]]} times, and should come {case.copies}"
            if len(lost) > case.most_lost:
                return f"samples {lost[:8]} are missing: {len(lost)} in all, and {case.most_lost} may be dropped"
    return ""


def hears_of_epochs(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """STREAM-5: a dataset that has set_epoch hears of each epoch before it is read."""
    for position, rank in enumerate(runs["main"]):
        for epoch in rank.epochs:
            heard = [each.heard for each in rank.reads if each.epoch == epoch.number and hasattr(each, "heard")]
            if samples_of(epoch) and any(each != epoch.number for each in heard or [-1]):
                known = sorted({"none" if each < 0 else str(each) for each in heard})
                return f"in epoch {epoch.number} of rank {position} the dataset was read as epoch {', '.join(known)}"
    return ""


def shards_stay_whole(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """STREAM-6: the elements of a shard come together, in their own order."""
    shard_of = {index: at for at, shard in enumerate(case.shards) for index in shard}
    for epoch in (epoch for epochs in epochs_of(runs["main"]) for epoch in epochs):
        left: set[int] = set()
        for before, index in pairwise(index for index in samples_of(epoch) if index in shard_of):
            left |= {shard_of[before]} - {shard_of[index]}
            if shard_of[index] in left or (shard_of[before] == shard_of[index] and index < before):
                return f"{index} comes behind {before}, and its shard is {[*case.shards[shard_of[index]]]}"
    return ""
