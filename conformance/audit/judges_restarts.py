"""Restarts: the judges over what one start of a job left over and the next one took up."""

from collections.abc import Iterator

from conformance.audit.counts import Counts
from conformance.audit.resumed import joints, number_of
from conformance.audit.view import EpochView, Finding, View, samples
from conformance.trial.words import count


def judge(view: View) -> Iterator[Finding]:
    """Findings over the starts of a run; what is only told has the id "note"."""
    epochs = {epoch.key: epoch for epoch in view.epochs()}
    for before, after in joints(view.group):
        yield from _joint(view, epochs[before], epochs[after])
    yield from _begun_elsewhere(list(epochs.values()))


def _begun_elsewhere(epochs: list[EpochView]) -> Iterator[Finding]:
    """The rest of an epoch whose first part is not in the record."""
    for epoch in epochs:
        attempt, number = epoch.key
        if epoch.resumed and (number or not attempt):
            text = f"{epoch.name} may have been resumed: {epoch.resumed}. Too little was seen to tell what was skipped:"
            yield epoch.at_loop("note", "resumed", f"{text} record both starts into one folder (--into DIR)")


def _joint(view: View, before: EpochView, after: EpochView) -> Iterator[Finding]:
    """The epoch in which the job ended, and the first one of the next start."""
    if before.epoch.whole:
        said, now = number_of(before.epoch), number_of(after.epoch)
        if said is not None and said == now:
            yield after.at_loop("note", "again", f"the restart read epoch {now} again, which had come to its end")
        return
    number = number_of(before.epoch)
    called = f"epoch {before.key[1] if number is None else number}"
    if view.by_content or view.expected is None or not (before.epoch.counts.total and after.epoch.counts.total):
        yield after.at_loop(
            "note", "restart", f"the restart in {called} can't be judged: how many samples it has is not known"
        )
        return
    if not after.epoch.whole or set(after.ranks) != set(before.ranks):
        yield after.at_loop("note", "restart", f"too little seen to tell what the restart in {called} skipped")
        return
    if number is not None and number_of(after.epoch) not in (None, number):
        lost = view.expected - before.came
        yield _skipped(
            after,
            f"the restart went on with epoch {number_of(after.epoch)}: {samples(lost)} of {called} never came",
            before,
        )
        return
    both = Counts()
    both.merge(before.epoch.counts)
    both.merge(after.epoch.counts)
    came = sum(many for times, many in both.histogram().items() if times)
    lost, twice = view.expected - came, before.came + after.came - came
    slack = len(after.ranks) * (view.batch_size or 1) if view.facts.get("drop_last") else 0
    if after.came + slack >= view.expected:
        yield after.at_loop("note", "restart", f"the restart began {called} again: {samples(twice)} came a second time")
    elif lost > slack:
        missing = both.first(0, 0, 6) if view.facts.get("subset") is None else []
        more = f" and {samples(twice)} came twice" if twice else ""
        yield _skipped(after, f"the restart skipped {samples(lost)} of {called}{more}", before, lost, missing)
    elif twice:
        text = f"the restart in {called} went back by {samples(twice)}, to the last state: no sample was skipped"
        yield after.at_loop("note", "restart", text)
    else:
        yield after.at_loop("note", "restart", f"the restart went on in {called} where the job had ended")


def _skipped(
    after: EpochView, text: str, before: EpochView, lost: int = 0, missing: list[int] | None = None
) -> Finding:
    excerpt: tuple[str, ...] = (_steps(before),)
    if missing:
        more = ", ..." if lost > len(missing) else ""
        excerpt += (f"in neither: {', '.join(map(str, missing))}{more}",)
    advice = "store the loader's state (or the samples done) with the model's, and go on from there"
    return after.at_loop("RESUME-1", "restart", text, excerpt=excerpt, advice=advice, worst=8)


def _steps(before: EpochView) -> str:
    """``4 steps on each of 2 ranks came before the restart``."""
    steps = sorted({seen.steps for seen in before.epoch.ranks.values()})
    many = count(steps[0], "step") if len(steps) == 1 else f"{steps[0]} to {steps[-1]} steps"
    ranks = len(before.epoch.ranks)
    return f"{many}{f' on each of {ranks} ranks' if ranks > 1 else ''} came before the restart"
