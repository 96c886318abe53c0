"""Starts that begin at the same place: decides whether a job that is restarted again and again gets any further."""

from collections.abc import Iterator

from conformance.audit.epochs import EpochView, epochs_of
from conformance.audit.finding import Finding
from conformance.audit.looks import looked_at
from conformance.audit.orders import alike
from conformance.audit.view import View
from conformance.audit.words import listed
from conformance.trial.words import count

# Two may be a restart that reads again what it had, and goes on from there.
_STARTS = 3


def judge(view: View) -> Iterator[Finding]:
    """Notes: starts of which nothing came, and those that delivered the same steps."""
    silent = [epoch for epoch in epochs_of(view) if of_nothing(epoch)]
    if silent:
        which = f"restart{'s' if len(silent) > 1 else ''} {listed([epoch.key[0] for epoch in silent])}"
        text = f"nothing was recorded of {which}: a second of batches is lost with a process that is killed"
        yield silent[0].at_loop("note", "silent", text)
    again = in_place(view)
    if again:
        yield again[-1].at_loop("note", "in-place", _said(view, again))


def of_nothing(epoch: EpochView) -> bool:
    """Whether a restart began an epoch, and its record ends before the first batch of it."""
    ends = {seen.how for seen in epoch.epoch.ranks.values()}
    return bool(epoch.key[0]) and not epoch.rows and ends == {""} and not any(x.unread for x in epoch.ranks.values())


def in_place(view: View) -> list[EpochView]:
    """The last starts, if each of them had the same first steps of one epoch, and none came to its end; else none."""
    found: list[EpochView] = []
    starts: dict[int, list[EpochView]] = {}
    for epoch in epochs_of(view):
        if epoch.rows:
            starts.setdefault(epoch.key[0], []).append(epoch)
    for epochs in reversed(starts.values()):
        (first, *more) = epochs
        restored = any(seen.facts.get("restored") or seen.facts.get("skipped") for seen in first.ranks.values())
        limited = any(seen.how == "steps" for seen in first.ranks.values())  # watched for so many steps, and no longer
        if more or first.epoch.whole or limited or restored or (found and not alike(first, found[0])):
            break
        found.insert(0, first)
    evaluates = any(epoch.evaluation for epoch in found)
    return [] if len(found) < _STARTS or evaluates or looked_at(view) else found


def _said(view: View, again: list[EpochView]) -> str:
    steps = [max(seen.steps for seen in epoch.ranks.values()) for epoch in again]
    told = f"the same first {count(steps[0], 'step')}"
    if len(set(steps)) > 1:
        told = f"the same first steps ({listed(steps)} of them)"
    loaded = all(any(seen.facts.get("loaded") for seen in epoch.ranks.values()) for epoch in again[1:])
    why = "the job gets no further, or the loader's state is not loaded"
    if loaded:
        why = "a checkpoint was loaded, and the loader began at its start, so that what lies behind is never trained on"
    text = f"{len(again)} starts delivered {told}, and none came to the end of the epoch: {why}"
    return f"{text}; right if each is a run of its own"
