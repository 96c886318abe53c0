"""The title of a loader: decides what is said of its size, of its readers and of its epochs."""

from itertools import groupby

from conformance.audit.epochs import EpochView, epochs_of, joined
from conformance.audit.resumed import first_parts
from conformance.audit.summary import EpochKey
from conformance.audit.unions import union_of
from conformance.audit.view import View
from conformance.trial.words import count


def title(view: View) -> str:
    """``DataLoader   10 samples, 2 ranks x 2 workers, 2 epochs seen whole``."""
    name = str(view.facts.get("class", "loader"))
    over = " over an iterable dataset" if view.iterable else ""
    return f"{name}{over}   {', '.join([*_size(view), _readers(view), *_epochs(view)])}"


def by_epoch(view: View) -> dict[EpochKey, list[EpochView]]:
    """The epochs of the job, each with its parts: one that a restart took up or began again has several."""
    first = first_parts(view.group)
    parts: dict[EpochKey, list[EpochView]] = {}
    for epoch in epochs_of(view):
        parts.setdefault(first.get(epoch.key, epoch.key), []).append(epoch)
    return parts


def _size(view: View) -> list[str]:
    if view.expected is not None and not view.by_content and not _parts_differ(view):
        return [count(view.expected, "sample") if view.expected < 1000 else f"{view.expected:,} samples"]
    # The parts of an epoch before and after a restart are one.
    most = max((joined(view, some).came for some in by_epoch(view).values()), default=0)
    union = None if view.by_content else union_of(view)
    most = max(most, union.samples) if union is not None and union.exact else most
    different = "different sample" if most == 1 else "different samples"
    return [f"{most:,} {different}"] if most else []


def _parts_differ(view: View) -> bool:
    """Whether ranks have different subsets, so that the first one's size is not that of all."""
    return len({view.group.loaders.get(rank, {}).get("subset_print") for rank in view.ranks}) > 1


def _readers(view: View) -> str:
    word = "rank" if view.ranks[0] >= 0 or len(view.ranks) > 1 else "process"
    # A job may go on with another number of ranks.
    many = [len(view.ranks_in(start)) for start in sorted({start for start, _ in view.group.epochs})] or [0]
    many = [number for number, _ in groupby(many)] if view.worlds else [len(view.ranks)]
    first, *others = (count(number, word).replace("processs", "processes") for number in many)
    workers = max(view.workers, view.facts.get("num_workers") or 0)
    return ", then ".join([f"{first} x {count(workers, 'worker')}" if workers else first, *others])


def _epochs(view: View) -> list[str]:
    """``2 epochs seen whole``, ``1 over a restart``, ``1 in part``."""
    epochs = list(by_epoch(view).values())
    if not epochs:
        return ["no epoch"]
    empty = sum(len(parts) == 1 and parts[0].epoch.whole and not parts[0].rows for parts in epochs)
    whole = sum(len(parts) == 1 and parts[0].epoch.whole for parts in epochs) - empty
    over = sum(len(parts) > 1 for parts in epochs)
    several = "a restart" if max(map(len, epochs)) < 3 else "restarts"
    part = len(epochs) - whole - over - empty
    kinds = ((whole, "seen whole"), (over, f"over {several}"), (part, "in part"), (empty, "without a sample"))
    told = [(number, words) for number, words in kinds if number]
    (number, words), *others = told
    seen = "seen " if words == "in part" else ""
    starts = len({epoch.key[0] for parts in epochs for epoch in parts})
    # That there was a restart is not said yet where it came between two epochs.
    first = f"{count(number, 'epoch')} {seen}{words}" + (f" in {starts} starts" if starts > 1 and not over else "")
    return [first, *(f"{number} {words}" for number, words in others)]
