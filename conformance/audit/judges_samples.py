"""What came again and what never came: the judges over the samples of one epoch of all ranks."""

from collections.abc import Iterator

from conformance.audit import (
    drawn,
    fillers,
    in_a_row,
    judges_again,
    judges_alike,
    judges_contents,
    judges_datasets,
    judges_replicas,
    judges_seeds,
    judges_subsets,
)
from conformance.audit.epochs import EpochView
from conformance.audit.excerpts import first_again, heads
from conformance.audit.finding import Finding
from conformance.audit.judges_datasets import asked_of
from conformance.audit.looks import ahead, looked_at
from conformance.audit.orderings import dealt, reordered
from conformance.audit.summary import RankSeen
from conformance.audit.words import listed, samples
from conformance.trial.words import count

_TWICE = "in an evaluation they count twice"


def judge(epoch: EpochView) -> Iterator[Finding]:
    """Findings of one epoch; what is only told has the id "note"."""
    found = list(_judged(epoch)) if epoch.came else []
    wrong = [each for each in found if each.id != "note"]
    if wrong and (looked_at(epoch.view) or ahead(epoch)):
        yield _too_little(epoch, wrong[0]) if looked_at(epoch.view) else _ahead(epoch, wrong[0])
        found = [each for each in found if each.id == "note"]
    yield from found


def _too_little(epoch: EpochView, wrong: Finding) -> Finding:
    """A batch that is looked at before training may be the same on all ranks: nothing is learnt from it."""
    steps = max(seen.steps for seen in epoch.ranks.values())
    told = f"too little was seen to judge it, as the loop left it after {count(steps, 'step')}"
    return _note(epoch, "looked-at", f"{told}. It is wrong if that is trained on: {wrong.sentence}")


def _ahead(epoch: EpochView, wrong: Finding) -> Finding:
    """A rank that looks at a batch first is an epoch ahead, as far as a record tells."""
    who = listed([epoch.view.who(rank) for rank in ahead(epoch)], 3)
    told = f"{who} looked at a batch first, so that ranks can't be compared epoch by epoch"
    return _note(epoch, "out-of-step", f"{told}. It is wrong if they had this one together: {wrong.sentence}")


def _judged(epoch: EpochView) -> Iterator[Finding]:
    apart = list(judges_replicas.judge(epoch))
    if apart:  # then they can't be counted as one
        yield from apart
        return
    reads_by_index = epoch.view.facts.get("ids", "index") == "index"
    if epoch.view.has_own_datasets or (reads_by_index and dealt(epoch) and reordered(epoch.view)):
        yield from judges_datasets.judge(epoch)
        return
    if epoch.view.facts.get("replacement"):
        if twins(list(epoch.ranks.values())):
            yield from _everything(epoch)
        elif epoch.again:
            yield _note(
                epoch, "replacement", f"{samples(epoch.again)} came more than once: the sampler draws with replacement"
            )
        return
    explained = list(_everything(epoch))
    if not explained and not _apart_from_each_other(epoch):
        explained = list(judges_subsets.judge(epoch)) or list(_twice_sharded(epoch)) or list(fillers.judge(epoch))
        explained = explained or list(_padding(epoch)) or list(judges_alike.judge(epoch))
        explained = explained or list(in_a_row.judge(epoch)) or list(drawn.judge(epoch))
        explained = explained or list(judges_seeds.judge(epoch))
    yield from explained
    if not explained:
        yield from judges_again.judge(epoch)
        yield from _lost(epoch)


def _apart_from_each_other(epoch: EpochView) -> bool:
    """Whether several processes did not tell their ranks, so that they may have nothing to do with each other."""
    return len(epoch.ranks) > 1 and min(epoch.ranks) < 0


def _note(epoch: EpochView, key: str, sentence: str) -> Finding:
    return epoch.at_loop("note", key, sentence)


def _clause(epoch: EpochView) -> str:
    return "WORK-3" if epoch.view.iterable else "PART-1"


def same_set(seen: list[RankSeen]) -> bool:
    """Whether several ranks got the same samples, in whatever order."""
    return len(seen) > 1 and len({(each.rows, each.mixed) for each in seen}) == 1 and seen[0].rows > 0


def twins(seen: list[RankSeen]) -> bool:
    """Whether several ranks got the same samples step by step, as far as all of them went."""
    if len(seen) < 2:
        return False
    common = set.intersection(*(set(each.prefixes) for each in seen))
    step = max(common, default=0)
    return step > 0 and len({each.prefixes[step] for each in seen}) == 1


def _workers_alike(seen: RankSeen) -> int:
    """How many workers of a rank gave the same samples; 0 if they did not."""
    gave = [each for worker, each in seen.workers.items() if worker >= 0 and each.rows]
    alike = len(gave) > 1 and len({(each.rows, each.mixed) for each in gave}) == 1
    return len(gave) if alike else 0


def _everything(epoch: EpochView) -> Iterator[Finding]:
    """All ranks or all workers read all of it."""
    seen = list(epoch.ranks.values())
    alike = {_workers_alike(each) for each in seen}
    workers = alike.pop() if len(alike) == 1 else 0
    ranks = len(seen) if same_set(seen) or (len(seen) > 1 and not epoch.epoch.whole and twins(seen)) else 0
    if not workers and not ranks:
        return
    times = max(1, workers) * max(1, ranks)
    if epoch.view.by_content and (epoch.came < 2 or max(epoch.histogram) > times):
        # A reader has equal contents among its own: then readers may have them in common as well.
        yield judges_contents.judge(epoch)
        return
    if workers:
        who = "every worker of every rank" if ranks else f"every worker{' of a rank' if len(seen) > 1 else ''}"
        yield epoch.view.at_dataset(
            "WORK-3",
            "all-read-all",
            f"each sample came {count(times, 'time')}: {who} read all of them",
            excerpt=heads(epoch) if epoch.view.hashed else first_again(epoch),
            advice="let each worker take its part: reference.split(...), or get_worker_info() and the rank",
            epochs=(epoch.key,),
            worst=9,
        )
        return
    if _apart_from_each_other(epoch):
        who = listed([epoch.view.who(rank) for rank in epoch.ranks], 3)
        yield _note(epoch, "twins", f"{who} read the same samples: right if they are no ranks of one job")
    elif twins(seen):
        yield _twins(epoch, ranks)
    else:
        text = f"each sample came {count(ranks, 'time')}: every rank read all of them, each in its own order"
        yield _at(epoch, "all-read-all", text, 9)


def _twins(epoch: EpochView, ranks: int) -> Finding:
    """The same batches in the same order: one finding, with both readings."""
    groups = "--same-data " + ",".join(map(str, epoch.ranks))
    text = f"ranks {listed(list(epoch.ranks))} got the same batches in the same order: right under model parallelism"
    if epoch.evaluation:
        return _note(epoch, "twins", f"{text} ({groups}), else the metric counts each sample once a rank")
    if in_a_row.repeats_by_name(epoch.view):
        return _note(epoch, "twins", f"{text}, or if each sample is to be augmented {count(ranks, 'time')}")
    many = "twice" if ranks == 2 else f"{ranks} times"
    return _at(epoch, "twins", f"{text} ({groups}), else each sample counts {many}", 7)


def _at(epoch: EpochView, key: str, text: str, worst: int) -> Finding:
    advice = "give the loader a sampler over ranks (torch's DistributedSampler)"
    if epoch.view.iterable:
        advice = "let each rank take its part of the dataset"
    at = epoch.view.at_dataset if epoch.view.iterable else epoch.view.at_loader
    return at(_clause(epoch), key, text, excerpt=heads(epoch), advice=advice, epochs=(epoch.key,), worst=worst)


def _twice_sharded(epoch: EpochView) -> Iterator[Finding]:
    """Only a share of a share came."""
    expected, size = epoch.view.expected, epoch.batch_size or 1
    if expected is None or not epoch.whole or epoch.again:
        return
    ranks, workers = len(epoch.ranks), max(1, epoch.view.workers)
    for parts, who in ((ranks, "ranks"), (workers if epoch.view.iterable else 1, "workers")):
        # A remainder of each reader, dropped, is not a shard.
        slack = ranks * workers * (size if epoch.made_with("drop_last") else 1)
        if parts > 1 and abs(epoch.came * parts - expected) <= slack * parts and epoch.came + slack < expected:
            share = f"1 of {parts} samples came ({epoch.came:,} of {expected:,})"
            text = f"{share}: what {who} share was shared out among {who} once more"
            yield epoch.view.at_loader(
                "PART-2",
                "sharded-twice",
                text,
                excerpt=heads(epoch),
                advice="shard once: in the sampler, in the dataset, or by a library's prepare()",
                epochs=(epoch.key,),
                worst=9,
            )
            return


def _padding(epoch: EpochView) -> Iterator[Finding]:
    """Some samples came twice so that ranks have equally many."""
    seen = list(epoch.ranks.values())
    extra = epoch.rows - epoch.came
    # Of batches that are repeated, the last one may be short.
    equal = len({each.rows for each in seen}) == 1 or _equal_batches(epoch)
    most = len(seen) * epoch.full_batch
    if epoch.view.by_content or len(seen) < 2 or not epoch.again or not equal or not extra < most:
        return
    if not epoch.whole or epoch.histogram.get(0, 0):
        return
    # A rank's own repeats make no ranks equal, but where all fill their last batches from the first samples. Ranks that
    # are equal already need none.
    gathered = _gathered(epoch)
    if (epoch.repeats.within_a_rank and not gathered) or not (_equal_batches(epoch) or _is_needed(epoch)):
        return
    text = f"{samples(extra)} came twice, so that all ranks have equally many"
    if gathered or not epoch.evaluation:
        told = "gather_for_metrics cuts them off" if "cut" in gathered else f"{_TWICE}, unless what was gathered is cut"
        yield _note(epoch, "padding", f"{text}: {told}" if gathered else text)
        return
    yield epoch.at_loop(
        "PART-1",
        "padded-evaluation",
        f"{text}: {_TWICE}",
        excerpt=first_again(epoch),
        advice="evaluate without padding (each rank its own part, uneven), or drop the repeats before the metric",
        worst=6,
    )


def _gathered(epoch: EpochView) -> set[str]:
    """How the ranks of an evaluation gathered what came of it; nothing if not all of them did."""
    each = [set(seen.facts.get("gathered", ())) for seen in epoch.ranks.values()]
    return set.intersection(*each) if epoch.evaluation else set()


def _is_needed(epoch: EpochView) -> bool:
    """Whether ranks have no more than equal shares of what came, or full steps of it."""
    each = epoch.rows // len(epoch.ranks)
    return each == -(-epoch.came // len(epoch.ranks)) or each % epoch.full_batch == 0


def _equal_batches(epoch: EpochView) -> bool:
    """Whether a batch sampler of the user's own gave all ranks equally many batches."""
    steps = {seen.steps for seen in epoch.ranks.values()}
    return epoch.view.own_batches and len(epoch.ranks) > 1 and len(steps) == 1


def _lost(epoch: EpochView) -> Iterator[Finding]:
    """What did not come in an epoch that all ranks read to its end."""
    lost, expected = epoch.histogram.get(0, 0), epoch.view.expected
    if not lost or not epoch.whole or expected is None:
        return
    asked = sum(asked_of(epoch, rank) for rank in epoch.ranks)
    drops = bool(epoch.made_with("drop_last"))
    readers = len(epoch.ranks) * (max(1, epoch.view.workers) if epoch.view.iterable else 1)
    tail = readers * epoch.full_batch if drops or _equal_batches(epoch) else len(epoch.ranks)
    told = f"{samples(lost)} of {expected:,} never came"
    if asked and asked + tail <= expected:
        yield _note(epoch, "subset", f"{told}: the samplers ask for {asked:,}")
    elif lost < tail and epoch.evaluation:
        text = (
            f"{told}: drop_last in an evaluation" if drops else f"{told}: dropped to make ranks equal, in an evaluation"
        )
        yield _missing(epoch, "PART-2", "dropped-in-evaluation", text, "evaluate with drop_last=False", 6)
    elif lost < tail and (drops or len(epoch.ranks) > 1):
        yield _note(epoch, "dropped", f"{told}: dropped {'by drop_last' if drops else 'to make ranks equal'}")
    else:
        clause = "WORK-3" if epoch.view.iterable else "PART-2"
        yield _missing(epoch, clause, "lost", told, "look at the sampler, or at how the dataset is cut into shards", 8)


def _missing(epoch: EpochView, clause: str, key: str, text: str, advice: str, worst: int) -> Finding:
    some = (
        epoch.epoch.counts.first(0, 0, 6) if epoch.epoch.counts.total and epoch.view.facts.get("subset") is None else []
    )
    excerpt = (f"not on any rank: {', '.join(map(str, some))}{', ...' if len(some) == 6 else ''}",) if some else ()
    return epoch.view.at_loader(clause, key, text, excerpt=excerpt, advice=advice, epochs=(epoch.key,), worst=worst)
