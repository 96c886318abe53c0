"""The lines below a finding over samples: decides what of an epoch shows it best."""

from collections.abc import Mapping

from conformance.audit.epochs import EpochView
from conformance.audit.repeats import Rows
from conformance.audit.summary import HEAD_SAMPLES, RankSeen
from conformance.audit.view import View
from conformance.audit.words import head, listed

_DELIVERIES, _STEPS = 4, 2  # of one sample: so many are listed, and the steps of so many are shown
_BEFORE, _ROOM = 3, 70  # so many samples of a long step come before the one that is meant, in so many columns with it


def heads(epoch: EpochView, most: int = 3) -> tuple[str, ...]:
    """How the epoch begins on some ranks."""
    return heads_of(epoch, epoch.ranks, most)


def heads_of(epoch: EpochView, ranks: Mapping[int, RankSeen], most: int = 3) -> tuple[str, ...]:
    """How the epoch begins on some of these ranks."""
    texts = epoch.view.summary.texts
    lines = [f"{epoch.view.who(rank)}: {head(seen, texts)}" for rank, seen in list(ranks.items())[:most]]
    return (*lines, *_how_to_name(epoch.view))


def which_again(epoch: EpochView) -> str:
    """The names of what came more than once: all of them, or the first three."""
    names = epoch.names_again(3)
    return listed(names, 3) if epoch.again < 4 else f"{', '.join(names)}, ..."


def first_again(epoch: EpochView) -> tuple[str, ...]:
    """Where the first sample went that came more than once, and the steps in which it came; how the epoch begins if
    that is not known.
    """
    first = [*epoch.came_again(1), *epoch.repeats.first(1)][:1]
    return steps_of(epoch, first[0]) if first else heads(epoch)


def steps_of(epoch: EpochView, id: int) -> tuple[str, ...]:
    """Where a sample went, and the steps in which it came, as far as that is kept; how the epoch begins if not."""
    rows = epoch.view.group.witnesses.of(epoch.key, id)
    if not rows:
        return heads(epoch)
    told = [f"{_reader(epoch.view, rank, worker)}, step {step}" for rank, worker, step in rows]
    more = f", and {len(rows) - _DELIVERIES} more" if len(rows) > _DELIVERIES else ""
    lines = [f"sample {epoch.view.named(id)}: {'; '.join(told[:_DELIVERIES])}{more}"]
    if epoch.view.group.witnesses.keeps_all:
        kept = epoch.view.group.witnesses.of_epoch(epoch.key)
        steps = dict.fromkeys(zip(rows, told, strict=True))
        lines += [f"{where}: {_step(epoch.view, kept, row, id)}" for row, where in list(steps)[:_STEPS]]
    return (*lines, *_how_to_name(epoch.view))


def _step(view: View, kept: Rows, at: tuple[int, ...], id: int) -> str:
    """The samples of one step in their order, those around one of them if they are many, or their names are long."""
    rows = kept[(kept[:, 3:6] == at).all(axis=1)]
    ids = rows[rows[:, 6].argsort(), 0].tolist()
    meant = start = ids.index(id)
    room = _ROOM - len(view.named(id))
    least = max(0, min(meant - _BEFORE, len(ids) - HEAD_SAMPLES))
    while start > least and room > len(view.named(ids[start - 1])):
        start -= 1
        room -= len(view.named(ids[start])) + 1
    shown = " ".join(view.named(each) for each in ids[start : start + HEAD_SAMPLES])
    return f"{'... ' if start else ''}{shown}{' ...' if start + HEAD_SAMPLES < len(ids) else ''}"


def _reader(view: View, rank: int, worker: int) -> str:
    return f"{view.who(rank)}, worker {worker}" if worker >= 0 else view.who(rank)


def _how_to_name(view: View) -> tuple[str, ...]:
    if not view.by_content:
        return ()
    named = "ids= of record()" if view.facts.get("kind") == "wrapped" else "--id-field F"
    return (f"(hashes of contents: {named} shows a field instead)",)
