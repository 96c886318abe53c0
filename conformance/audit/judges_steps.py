"""Steps, sizes and ends: the judges over how many batches came, how large they were, and how an epoch ended."""

import re
from collections.abc import Iterator
from math import ceil

from conformance.audit import uneven
from conformance.audit.endless import passes
from conformance.audit.epochs import EpochView, epochs_of
from conformance.audit.finding import Finding
from conformance.audit.judges_left import how_far
from conformance.audit.judges_names import by_field, in_both
from conformance.audit.looks import looked_at
from conformance.audit.resumed import begun
from conformance.audit.summary import RankSeen
from conformance.audit.uneven import ranks_of
from conformance.audit.view import View
from conformance.audit.words import listed, samples
from conformance.trial.words import count

# What torch says of an exception in a worker, which it raises again.
_RAISED = re.compile(r"Caught \w+ in DataLoader worker process (\d+)")
# The line of a traceback that says what was raised.
_NAMED = re.compile(r"[A-Za-z_][\w.]*(: |$)")
_MOST = 300
# One batch may be kept to be looked at, and nobody minds.
_NO_ACCIDENT = 2


def judge(epoch: EpochView) -> Iterator[Finding]:
    """Findings of one epoch; what is only told has the id "note"."""
    yield from uneven.judge(epoch)
    yield from _length(epoch)
    yield from _sizes(epoch)
    yield from _lacking(epoch)
    yield from _written_over(epoch)
    yield from _ends(epoch)


def _length(epoch: EpochView) -> Iterator[Finding]:
    """len() said another number of steps than came."""
    for rank, seen in () if epoch.resumed else epoch.ranks.items():
        said = seen.facts.get("steps", epoch.view.group.loaders.get(rank, {}).get("steps"))
        if seen.whole and isinstance(said, int) and said != seen.steps:
            many = " on each rank" if len(epoch.ranks) > 1 and _all_lie(epoch) else ""
            text = f"len() said {count(said, 'step')}, and {seen.steps} came"
            yield epoch.view.at_loader(
                "COUNT-4",
                "length",
                text + (many or (f" on {epoch.view.who(rank)}" if len(epoch.ranks) > 1 else "")),
                advice="a schedule that is made from len() ends at the wrong step; correct __len__, or leave it out",
                epochs=(epoch.key,),
                worst=5,
            )
            return


def _written_over(epoch: EpochView) -> Iterator[Finding]:
    """The loop still had batches when later ones were written into their memory."""
    for rank, seen in epoch.ranks.items():
        steps = seen.facts.get("written_over") or []
        if len(steps) >= _NO_ACCIDENT:
            one, other = steps[0]
            where = f" on {epoch.view.who(rank)}" if len(epoch.ranks) > 1 else ""
            text = f"step {other} was written into the memory of step {one}, which the loop still had"
            yield epoch.view.at_loader(
                "WORK-16",
                "written-over",
                f"{text}; so it went with {len(steps)} of {count(seen.steps, 'step')}{where}",
                advice="give each batch memory of its own, or let the loop copy what it keeps (clone())",
                epochs=(epoch.key,),
                worst=8,
            )
            return


def _all_lie(epoch: EpochView) -> bool:
    return all(one.facts.get("steps") != one.steps for one in epoch.ranks.values())


def _sizes(epoch: EpochView) -> Iterator[Finding]:
    """Batches that are larger than was said, or smaller where they must be full."""
    size = epoch.batch_size
    if size is None:
        return
    for rank, seen in epoch.ranks.items():
        larger = {each: number for each, number in seen.sizes.items() if each > size}
        smaller = {each: number for each, number in seen.sizes.items() if 0 < each < size}
        # Each pass of an endless stream may end with a smaller one.
        allowed = 0 if epoch.made_with("drop_last") else _last_ones(epoch, seen) * max(1, ceil(_passes(epoch)))
        if larger:
            yield _size(epoch, rank, "BATCH-1", larger, size, "and no batch may hold more")
            return
        if sum(smaller.values()) > allowed:
            if epoch.view.facts.get("kind") == "map":
                # A batch sampler of the user's own may end each of its buckets.
                yield epoch.at_loop("note", "sizes", f"{sum(smaller.values())} batches have fewer than {size} samples")
                return
            why = (
                "and drop_last was asked for"
                if not allowed
                else f"and at most {count(allowed, 'batch')} may be smaller"
            )
            yield _size(epoch, rank, "BATCH-2", smaller, size, why)
            return


def _passes(epoch: EpochView) -> float:
    """How many passes of an endless stream came; 0 if it is none, or if nothing came again."""
    return (passes(epoch) or 0) if epoch.again else 0


def _last_ones(epoch: EpochView, seen: RankSeen) -> int:
    """How many batches may be smaller: the last one, of each worker where workers batch by themselves."""
    workers = sum(worker >= 0 and one.batches > 0 for worker, one in seen.workers.items())
    return max(1, workers) if epoch.view.iterable else 1


def _size(epoch: EpochView, rank: int, clause: str, sizes: dict[int, int], size: int, why: str) -> Finding:
    shown = listed([f"{number} of {each}" for each, number in sorted(sizes.items())], 3)
    who = f" on {epoch.view.who(rank)}" if len(epoch.ranks) > 1 else ""
    text = f"batches of {size} were asked for{who}; {shown} came, {why}"
    return epoch.view.at_loader(clause, "sizes", text, epochs=(epoch.key,), worst=4)


def _lacking(epoch: EpochView) -> Iterator[Finding]:
    """Samples were drawn and asked of the dataset, and their batches have no rows for them."""
    if lacking := sum(seen.facts.get("lacking", 0) for seen in epoch.ranks.values()):
        of = sum(seen.rows for seen in epoch.ranks.values())
        text = f"no row came for {lacking} of {samples(of)} that were drawn: does the collate function leave some out?"
        yield epoch.at_loop("note", "lacking", text)


def _ends(epoch: EpochView) -> Iterator[Finding]:
    """Epochs that did not come to their end: an error of the loader, a worker that died, a loop that was left."""
    died = [one for one in epoch.view.group.died if (one["attempt"], one["epoch"]) == epoch.key]
    for one in died:
        worker = f"worker {one['worker']} of " if isinstance(one.get("worker"), int) else "a worker of "
        yield _died(epoch, worker + epoch.view.who(one["rank"]), one["step"], str(one.get("why") or ""))
    failed = {rank: seen for rank, seen in epoch.epoch.ranks.items() if seen.how.startswith("error")}
    for rank, seen in list(failed.items())[:1]:
        text = seen.how.removeprefix("error: ")
        raised = _RAISED.search(text)
        if raised:
            yield _failed(epoch, f"worker {raised[1]} of {epoch.view.who(rank)} raised", seen.steps, text)
        elif "DataLoader worker" in text:
            if not died:
                yield _died(epoch, f"a worker of {epoch.view.who(rank)}", seen.steps, text)
        else:
            yield _failed(epoch, f"the loader of {epoch.view.who(rank)} raised", seen.steps, text)
    yield from _crashed(epoch)
    yield from _not_to_the_end(epoch)


def _failed(epoch: EpochView, who: str, steps: int, text: str) -> Finding:
    """What was raised stands at the end of a traceback; where, in the lines before it, of which those of libraries come
    last.
    """
    reason = _reason(text)
    where = [line.strip() for line in text.splitlines() if line.startswith('  File "')]
    own = [line for line in where if "-packages" not in line] or where
    more = (own[-1],) if own else ()
    return epoch.at_loop(
        "COUNT-7", "failed", f"{who} after {count(steps, 'step')}: {reason[:_MOST]}", excerpt=more, worst=7
    )


def _reason(text: str) -> str:
    """The line that names the exception, of a traceback or of its words alone."""
    lines = [line for line in text.splitlines() if line.strip()]
    named = [line for line in lines if _NAMED.match(line)]
    return (named or lines or ["an exception without a word"])[-1].strip()


def _died(epoch: EpochView, who: str, step: int, why: str) -> Finding:
    text = f"{who} died after {count(step, 'step')}" + (f": {why[:_MOST]}" if why else "")
    return epoch.at_loop("COUNT-7", "worker-died", text, advice="look at its memory, and at what it imports", worst=8)


def _crashed(epoch: EpochView) -> Iterator[Finding]:
    """The job's own exception is no fault of the loader's, and why the epoch has no end."""
    crashed = [rank for rank, seen in epoch.epoch.ranks.items() if seen.how.startswith("crash")]
    if not crashed:
        return
    # What comes later is, on other ranks, that this one is gone.
    first, *others = sorted(crashed, key=lambda rank: epoch.epoch.ranks[rank].facts.get("crashed", 0))
    seen = epoch.epoch.ranks[first]
    why = _reason(seen.how.removeprefix("crash: "))[:_MOST]
    who = f" on {ranks_of(epoch, [first])}" if epoch.view.where(first) else ""
    who += f" (then on {ranks_of(epoch, sorted(others))})" if others else ""
    told = f"the job ended with an exception after {count(seen.steps, 'step')}{who}: {why}"
    rest = _what_of_the_rest(epoch)
    yield epoch.at_loop("note", "crash", f"{told}. {rest[0].upper()}{rest[1:]}")


def _what_of_the_rest(epoch: EpochView) -> str:
    """How what did not come of an epoch is judged."""
    if epoch.key in begun(epoch.view.group).values():
        return "a restart took it up again"
    return "what did not come is not judged"


def _not_to_the_end(epoch: EpochView) -> Iterator[Finding]:
    words = {
        "left": "left by the loop",
        "steps": "cut by the limit of the run",
        "": "not at its end when the record ends",
    }
    for how, told in words.items():
        ranks = {rank: seen for rank, seen in epoch.epoch.ranks.items() if seen.how == how}
        if ranks and not all(seen.facts.get("sanity") for seen in ranks.values()):
            span = how_far(epoch.view, ranks)
            who = "" if len(ranks) == len(epoch.epoch.ranks) else f" on {ranks_of(epoch, list(ranks))}"
            rest = _what_of_the_rest(epoch)
            if how == "left" and _passes(epoch):
                taken_up = epoch.key in begun(epoch.view.group).values()
                told, rest = "the loop stopped", rest if taken_up else "the stream has no end of its own"
            yield epoch.at_loop("note", f"not-whole-{how}", f"{told} after {span}{who}: {rest}")
    unread = [seen for seen in epoch.epoch.ranks.values() if seen.unread]
    if unread:
        number = sum(seen.unread for seen in unread)
        text = (
            f"{count(number, 'batch')} came whose samples are not known ({unread[0].why_unread or 'no file has them'})"
        )
        yield epoch.at_loop("note", "unread", text)


def judge_view(view: View) -> Iterator[Finding]:
    """What is told of a loader over all its epochs."""
    if not view.group.epochs:
        yield view.at_loader("note", "never-iterated", "never iterated")
        return
    if not view.everywhere and view.came > set(view.ranks) and not view.facts.get("dispatched"):
        who = _names(view)
        yield view.at_loader("note", "few-ranks", f"only {who} of {view.world_size} ranks iterated it")
    yield from _overlap(view)
    idle = _idle(view)
    if idle:
        yield view.at_loader("note", "idle-workers", idle)


def _overlap(view: View) -> Iterator[Finding]:
    """Samples that are in this loader and in one that is an evaluation, or the other way round."""
    for file, line, number, shared, same, some in view.facts.get("overlap") or ():
        other = view.summary.groups.get((file, line, number))
        if other is None or not other.epochs:
            continue
        them = View((file, line, number), other, view.summary, view.same)
        if (file, line) != view.key[:2] and view.is_of_another_fold(them):
            continue
        if view.key < them.key and them.lists(view):
            continue  # it is told there
        names = in_both(view, them)
        by, some, shared = (by_field(view), names[:3], len(names)) if names else ("", some or [], shared)
        which = ", ".join(map(str, some)) + (", ..." if shared > len(some) else "")
        where = f"that of line {line}" if (file, line) != view.key[:2] else "an earlier one of this line"
        text = f"{samples(shared)}{by} are in this loader and in {where}: {which}"
        is_no_split = same or view.evaluates == them.evaluates or looked_at(view) or looked_at(them)
        if is_no_split or _is_meant(*((view, them) if view.evaluates else (them, view)), shared):
            yield view.at_loader("note", "overlap", text)
        else:
            advice = "split the indices once, into parts that have none in common"
            yield view.at_loader(
                "SPLIT", "overlap", f"{text}; one is trained on, the other evaluates", advice=advice, worst=8
            )


def _is_meant(evaluates: View, trains: View, shared: int) -> bool:
    """Whether all of an evaluation is trained on, and another one has none of that: it asks how well it was learnt."""
    held_out = (
        other.evaluates
        and other.group.epochs
        and not other.is_of_another_fold(evaluates)
        and not other.shares_indices(trains)
        and not looked_at(other)
        for other in evaluates.all_loaders()
    )
    return shared == evaluates.expected and any(held_out)


def _names(view: View) -> str:
    return listed([view.who(rank) for rank in view.ranks], 4)


def _idle(view: View) -> str:
    """Workers that gave nothing in an epoch that was read to its end."""
    asked = view.facts.get("num_workers")
    if not isinstance(asked, int) or asked < 2 or not view.iterable:
        return ""
    for epoch in epochs_of(view):
        for rank, seen in epoch.epoch.ranks.items():
            gave = {worker for worker, one in seen.workers.items() if worker >= 0 and one.rows}
            idle = sorted(set(range(asked)) - gave)
            if seen.whole and seen.rows and idle:
                workers = f"worker{'s' if len(idle) > 1 else ''} {listed(idle)}"
                return f"{workers} of {asked} gave nothing on {view.who(rank)}: fewer shards than workers?"
    return ""
