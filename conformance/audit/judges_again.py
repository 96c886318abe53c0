"""What came more than once, where nothing explains it: decides how it is said who got it."""

from collections.abc import Iterator

from conformance.audit import judges_contents, oversampled
from conformance.audit.endless import passes
from conformance.audit.epochs import EpochView
from conformance.audit.excerpts import first_again, which_again
from conformance.audit.finding import Finding
from conformance.audit.words import listed, samples

_SAMPLER = "look at the sampler (one that draws with replacement says it by replacement = True), or at the shards"
_WORKERS = "let each worker take its part in __iter__, by get_worker_info(): no shard may be read by two of them"


def judge(epoch: EpochView) -> Iterator[Finding]:
    """A finding, or a note where it may be right: an endless stream, equal contents, processes that are no ranks."""
    if not epoch.again:
        return
    endless = passes(epoch)
    if endless is not None:
        text = f"an endless stream: {endless:.1f} passes, and no sample came again before all had come"
        yield epoch.at_loop("note", "endless", text)
        return
    if epoch.view.by_content:
        yield judges_contents.judge(epoch)
        return
    given = list(oversampled.judge(epoch))
    if given:
        yield from given
        return
    if len(epoch.ranks) > 1 and min(epoch.ranks) < 0 and not epoch.repeats.within_a_rank:
        text = f"{samples(epoch.again)} came to several processes: right if they are no ranks"
        yield epoch.at_loop("note", "again", text)
        return
    which = which_again(epoch) + oversampled.of_copies(epoch)
    yield epoch.view.at_loader(
        "WORK-3" if epoch.view.iterable else "PART-1",
        "again",
        f"{samples(epoch.again)} of {epoch.came:,} came {who_got_them(epoch)}: {which}",
        excerpt=first_again(epoch),
        advice=_WORKERS if epoch.repeats.between_workers and not epoch.repeats.between_ranks else _SAMPLER,
        epochs=(epoch.key,),
        worst=8,
    )


def who_got_them(epoch: EpochView) -> str:
    """``to more than one rank``, ``from more than one worker (0 and 1)``, ``more than once``, or how many of each.

    It is counted over all of those of which it is known; that these are not all is said.
    """
    found = epoch.repeats
    kinds = [
        (found.between_ranks, "to more than one rank"),
        (found.between_workers, f"from more than one worker{_workers(epoch)}"),
        (found.alone, "from one reader again"),
    ]
    there = [(number, words) for number, words in kinds if number]
    of_them = "" if found.known == epoch.again else f", as far as is known ({found.known:,} of them)"
    if not there:
        return "more than once"
    if found.alone == found.known:
        return f"{_alone(epoch)}{of_them}"
    if len(there) == 1:
        return f"{there[0][1]}{of_them}"
    return f"more than once, {listed([f'{number:,} {words}' for number, words in there])}{of_them}"


def _workers(epoch: EpochView) -> str:
    """`` (0 and 1)``; of several ranks `` of a rank (0 and 1 on both ranks)``."""
    by_rank = epoch.repeats.workers
    kinds = list(dict.fromkeys(by_rank.values()))
    if len(epoch.ranks) == 1:
        return f" ({listed(kinds[0])})" if kinds else ""
    if len(kinds) == 1 and set(by_rank) == set(epoch.ranks):
        return f" of a rank ({listed(kinds[0])} on {'both ranks' if len(by_rank) == 2 else 'each rank'})"
    where = [f"{listed(workers)} on {epoch.view.who(rank)}" for rank, workers in by_rank.items()]
    return f" of a rank ({', '.join(where[:3])}{', ...' if len(where) > 3 else ''})"


def _alone(epoch: EpochView) -> str:
    """``more than once``, and by whom, where there is another reader."""
    readers = epoch.repeats.readers_alone
    workers = epoch.view.iterable and epoch.view.workers > 1
    if not readers or not (workers or len(epoch.ranks) > 1):
        return "more than once"
    if len(readers) > 1:
        return f"more than once, each {'from one worker' if workers else 'to one rank'}"
    rank, worker = readers[0]
    who = epoch.view.who(rank)
    if not workers or worker < 0:
        return f"more than once to {who}"
    return f"more than once from worker {worker}" + (f" of {who}" if len(epoch.ranks) > 1 else "")
