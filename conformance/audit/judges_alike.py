"""Some ranks with the very same samples in the very same order: decides why, by which ranks these are."""

from collections.abc import Iterator
from itertools import pairwise

from conformance.audit.epochs import EpochView
from conformance.audit.excerpts import heads_of
from conformance.audit.finding import Finding
from conformance.audit.in_a_row import repeats_by_name
from conformance.audit.words import listed, samples

_ADVICE = "look at what the sampler is given: rank= is RANK, and not LOCAL_RANK; num_replicas= is WORLD_SIZE"
_LEAST = 2  # samples of a rank: what makes ranks equal may be one that another one has as well
Ranks = tuple[int, ...]


def judge(epoch: EpochView) -> Iterator[Finding]:
    """A finding where ranks, but not all of them, got one stream; a note where that is likely to be meant."""
    found = _groups(epoch)
    if not found or epoch.view.by_content:
        return
    if epoch.view.facts.get("ids", "index") != "index" and epoch.repeats.within_a_rank:
        return  # names that several samples have: streams of them may be equal by chance
    right = _right(epoch, found)
    lost = epoch.histogram.get(0, 0) if epoch.whole else 0
    never = f", and {lost:,} to none" if lost else ""
    text = f"{_who(found)}: {samples(epoch.again)} came to several ranks{never}"
    text += f"; right {right}, else each counts {_times(found)}" if right else ""
    text += _cause(epoch, found, bool(right))
    if right and (epoch.evaluation or repeats_by_name(epoch.view)):
        yield epoch.at_loop("note", "same-part", text)
        return
    clause = "WORK-3" if epoch.view.iterable else "PART-1"
    excerpt = heads_of(epoch, {rank: epoch.ranks[rank] for rank in found[0]}, 2)
    yield epoch.view.at_loader(
        clause, "same-part", text, excerpt=excerpt, advice=_ADVICE, epochs=(epoch.key,), worst=7 if right else 9
    )


def _groups(epoch: EpochView) -> list[Ranks]:
    """The ranks that got one stream, of each such stream; [] if it is that of all ranks, or if there is none."""
    kinds: dict[tuple[int, int, int, str], list[int]] = {}
    for rank, seen in epoch.ranks.items():
        if rank >= 0 and seen.rows >= _LEAST and seen.steps in seen.prefixes:
            kinds.setdefault((seen.steps, seen.rows, seen.mixed, seen.prefixes[seen.steps]), []).append(rank)
    found = [tuple(ranks) for ranks in kinds.values() if len(ranks) > 1]
    return [] if found and len(found[0]) == len(epoch.ranks) else found


def _who(found: list[Ranks]) -> str:
    others = f", and so did ranks {' and '.join(f'{listed(each, 4)}' for each in found[1:2])}" if found[1:] else ""
    if len(found) > 2:
        others = f", and so did the ranks of {len(found) - 1} other groups"
    return f"ranks {listed(found[0], 4)} got the same samples in the same order{others}"


def _cause(epoch: EpochView, found: list[Ranks], may_be_right: bool) -> str:
    """That ranks with one stream have one LOCAL_RANK, if they have; or else what is to be looked at."""
    told = {each.rank: each.facts.get("local_rank") for each in epoch.view.summary.processes}
    local = [{told.get(rank) for rank in ranks} for ranks in found]
    if all(len(each) == 1 and None not in each for each in local) and len(set(map(frozenset, local))) == len(local):
        return "; such ranks have one LOCAL_RANK, and the sampler's rank= is to be RANK"
    return "" if may_be_right else ": look at the sampler's rank= (RANK, and not LOCAL_RANK) and num_replicas="


def _times(found: list[Ranks]) -> str:
    most = max(map(len, found))
    return "twice" if most == 2 else f"{most} times"


def _right(epoch: EpochView, found: list[Ranks]) -> str:
    """In which case it is right; "" if it can't be.

    Ranks side by side may be one replica of a model, or may be given copies of a sample in a row. Others are one
    replica only if what came of the dataset is not as much as all ranks were to share.
    """
    side_by_side = all(other == one + 1 for ranks in found for one, other in pairwise(ranks))
    slack = len(epoch.ranks) * epoch.full_batch
    shared = epoch.whole and bool(epoch.histogram.get(0)) and abs(epoch.rows - (epoch.view.expected or 0)) <= slack
    if shared:
        return "if the sampler repeats each sample in a row (repeated augmentation)" if side_by_side else ""
    groups = " ".join(f"--same-data {','.join(map(str, ranks))}" for ranks in found[:4])
    return f"under model parallelism ({groups}{' ...' if len(found) > 4 else ''})"
