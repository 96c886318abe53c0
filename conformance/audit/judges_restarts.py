"""Restarts: the judges over what one start of a job left over and the next one took up."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from conformance.audit import judges_progress, known_epochs
from conformance.audit.counts import different
from conformance.audit.epochs import EpochView, epochs_of, joined
from conformance.audit.finding import Finding
from conformance.audit.orders import alike, differ
from conformance.audit.restart_bounds import changed, lost_anyway, other_ranks, steps_of, why_untold
from conformance.audit.resumed import begun, first_parts, idle_steps, joints, number_of
from conformance.audit.view import View
from conformance.audit.went_back import how_far_back
from conformance.audit.words import samples
from conformance.trial.words import count

_STORE = "store the loader's state (or the samples done) with the model's, and go on from there"
_SET_FIRST = "set the epoch before each epoch, also before the first one after a restart: sampler.set_epoch(epoch)"
_LOOK_BEFORE = "look at a batch before load_state_dict(), or load the state once more after it"
_SKIP_ONCE = "read skip_first_batches(loader, done) in the resumed epoch alone, and the loader itself from then on"
_COUNT = "skip as many steps as were done: step < done, where done counts from 1"


def judge(view: View) -> Iterator[Finding]:
    """Findings over the starts of a run; what is only told has the id "note"."""
    epochs = {epoch.key: epoch for epoch in epochs_of(view)}
    first, taken_up = first_parts(view.group), set(begun(view.group).values())
    told = {epoch.key for epoch in judges_progress.in_place(view)}
    for before, after in joints(view.group):
        began = first.get(before, before)
        parts = [epochs[key] for key in epochs if first.get(key, key) == began and key <= before]
        if after not in taken_up and after not in told and not judges_progress.of_nothing(epochs[after]):
            yield from _joint(view, parts, epochs[after])
    yield from judges_progress.judge(view)
    in_order = list(epochs.values())
    # A loader that skips in each epoch is no epoch's rest.
    yield from list(_skipped_again(in_order)) or _begun_elsewhere(in_order)
    yield from _used_up(in_order)


def _used_up(epochs: list[EpochView]) -> Iterator[Finding]:
    """A state was restored, and who looked at a batch first had the iterator that goes on from there."""
    for one, other in pairwise(epochs):
        looked = [seen.facts.get("restored") and seen.only_looked_at for seen in one.ranks.values()]
        if one.key[0] == other.key[0] and all(looked) and not _is_restored(other) and other.epoch.whole:
            text = "the state that was loaded was used up by the iterator of which one batch was looked at"
            told = f"{text}: {other.name} began from its start"
            yield other.at_loop("RESUME-1", "used-up", told, advice=_LOOK_BEFORE, worst=8)
            return


def _is_restored(epoch: EpochView) -> bool:
    return any(seen.facts.get("restored") for seen in epoch.ranks.values())


def _skipped_again(epochs: list[EpochView]) -> Iterator[Finding]:
    """An epoch lacks what the one before it had skipped, in one start of the job."""
    skipping = [epoch for epoch in epochs if _told_to_skip(epoch)]
    for one, other in pairwise(skipping):
        if one.key[0] == other.key[0] and _told_to_skip(one) == _told_to_skip(other):
            text = f"{other.name} lacks the first {count(_told_to_skip(other), 'batch')} that {one.name} had skipped"
            more = " before it: the loader that skips them is still read"
            yield other.at_loop("RESUME-2", "skipped-again", text + more, advice=_SKIP_ONCE, worst=9)
            return


def _begun_elsewhere(epochs: list[EpochView]) -> Iterator[Finding]:
    """The rest of an epoch whose first part is not in the record."""
    for epoch in epochs:
        attempt, number = epoch.key
        if epoch.resumed and (number or not attempt):
            text = f"{epoch.name} may have been resumed: {epoch.resumed}. Too little was seen to tell what was skipped:"
            yield epoch.at_loop("note", "resumed", f"{text} record both starts into one folder (--into DIR)")


def _told_to_skip(epoch: EpochView) -> int:
    """How many batches of each rank the loader was made to skip; 0 if they don't agree."""
    told = {seen.facts.get("skipped") for seen in epoch.ranks.values()}
    (skipped,) = told if len(told) == 1 else (0,)
    return skipped if isinstance(skipped, int) else 0


def _joint(view: View, parts: list[EpochView], after: EpochView) -> Iterator[Finding]:
    """What came of the epoch in which the job ended, and the first epoch of the next start."""
    before = parts[-1]
    said, now = number_of(before.epoch), number_of(after.epoch)
    called = f"epoch {parts[0].key[1] if said is None else said}"
    if before.epoch.whole:
        if said is not None and said == now:
            yield _told(after, f"the restart read epoch {now} again, which had come to its end", "again")
        elif alike(before, after) and not after.evaluation and view.facts.get("sampler") != "SequentialSampler":
            yield _told(after, f"the restart came in the order of {called}, which had come to its end", "again")
        return
    wrong = _in_an_earlier_order(view, parts, after, called)
    if wrong is not None:
        yield wrong
        return
    if any(each.has_copies for each in (*parts, after)):
        yield _told(after, f"the restart in {called} can't be judged: several samples have one name")
        return
    first = joined(view, parts)
    if not after.epoch.whole and not parts[0].resumed and alike(parts[0], after):
        yield _told(after, f"the restart began {called} again in the same order, and did not come to its end")
    elif view.by_content or view.expected is None or not (first.epoch.counts.total and after.epoch.counts.total):
        yield _of_a_stream(view, called, parts, after)
    elif why := why_untold(parts, after):
        yield _told(after, f"what the restart in {called} skipped can't be told: {why}")
    elif said is not None and now is not None and now != said:
        yield _another(after, called, now, said, before, view.expected - first.came)
    else:
        yield _taken_up(view, called, parts, first, after)


def _in_an_earlier_order(view: View, parts: list[EpochView], after: EpochView, called: str) -> Finding | None:
    """The restart went on in the epoch, and its sampler said an earlier one, whose order the loop skips steps of.

    A job that goes back to an earlier epoch says the one after that next. Where the record ends before that, only a
    loop that skips as many steps as were done shows that it means to go on.
    """
    said, now = number_of(parts[-1].epoch), number_of(after.epoch)
    if said is None or now is None or now >= said or parts[0].resumed or changed(parts[-1], after):
        return None
    if not all(differ(part, after) for part in parts):
        return None
    following = view.group.epochs.get((after.key[0], after.key[1] + 1))
    then = None if following is None else number_of(following)
    done, idle = _done(parts, after), _idle(after)
    as_many = idle is not None and 0 < idle[0] <= min(done) and max(done) <= idle[1]
    if idle is None or not (as_many if following is None else then == said + 1):
        return None
    order = f"the restart began {called} again in the order of epoch {now}, as the sampler says"
    if idle[0] == 0:
        return _told(after, f"{order}: what was done of it came a second time, or was skipped in another order")
    text = f"{order}, and the loop skipped its first {count(idle[0], 'step')}: they have other samples than those "
    return _skipped(after, f"{text}that were done", parts[-1], advice=_SET_FIRST)


def _another(after: EpochView, called: str, now: int, said: int, before: EpochView, lost: int) -> Finding:
    """The restart says that it reads another epoch."""
    if now < said:
        return _told(after, f"the restart went back to epoch {now}, its sampler says, and left {called} for later")
    return _skipped(after, f"the restart went on with epoch {now}: {samples(lost)} of {called} never came", before)


def _taken_up(view: View, called: str, parts: list[EpochView], first: EpochView, after: EpochView) -> Finding:
    """The restart went on in the epoch, or began it again."""
    both = joined(view, [first, after]).epoch.counts
    came = different(both.histogram())
    lost, twice = (view.expected or 0) - came, first.came + after.came - came
    slack = lost_anyway(parts, after)
    if after.came + slack >= (view.expected or 0):
        return _begun_again(called, parts, after, first.came, twice)
    if lost > slack:
        if parts[0].resumed:
            return _told(after, _unseen(called, lost))
        missing = both.first(0, 0, 6) if view.facts.get("subset") is None else ()
        more = f" and {samples(twice)} came twice" if twice else ""
        return _skipped(after, f"the restart skipped {samples(lost)} of {called}{more}", parts[-1], lost, missing)
    if twice:
        return _told(after, f"the restart in {called} went back by {how_far_back(parts[-1], after, twice)}")
    return _told(after, f"the restart went on in {called} where the job had ended{other_ranks(parts[-1], after)}")


def _of_a_stream(view: View, called: str, parts: list[EpochView], after: EpochView) -> Finding:
    """How many samples the epoch has was not told: those that were read whole may tell it."""
    whole, before = known_epochs.known(view, parts, after), joined(view, parts)
    came = f"{samples(sum(part.rows for part in parts))} came before it, and {after.rows:,} after"
    if whole is None:
        if alike(parts[0], after) and not parts[0].resumed:
            return _begun_again(called, parts, after, before.came, before.came)
        text = f"the restart in {called} can't be judged: how many samples it has is not known ({came})"
        return _told(after, text)
    if why := why_untold(parts, after):
        return _told(after, f"what the restart in {called} skipped can't be told: {why}")
    said, now = _dataset_epoch(parts[-1]), _dataset_epoch(after)
    if said != now:
        text = f"the restart read epoch {now}, its dataset says, where the job had ended in epoch {said}"
        return _told(after, f"{text}: what was left of that did not come there ({came})")
    found, slack = known_epochs.compared(view, whole, parts, after), known_epochs.slack(after)
    those = f"the {len(whole.ids):,} of {'an epoch' if whole.epochs == 1 else f'each of {whole.epochs} epochs'}"
    if found.others > slack:
        text = f"{samples(found.others)} of it are not among {those} that came whole"
        return _told(after, f"the restart in {called} can't be judged: {text} ({came})")
    if found.after + slack >= len(whole.ids):
        return _begun_again(called, parts, after, before.came, found.twice)
    twice = f" and {samples(found.twice)} came twice" if found.twice else ""
    lacking = f"{samples(found.lost)} of {those} that came whole"
    if found.lost > slack:
        if parts[0].resumed:
            return _told(after, _unseen(called, found.lost))
        why = "" if twice else known_epochs.skipped_twice(view, found.lost, sum(part.rows for part in parts))
        if whole.around or why:
            text = f"the restart in {called} skipped {lacking}{twice}{why}"
            return _skipped(after, text, parts[-1], found.lost, found.missing)
        text = f"{lacking} came neither before the restart in {called} nor after it{twice}"
        return _told(after, f"{text}: they were skipped, unless that epoch is meant to have fewer")
    if found.twice:
        return _told(after, f"the restart in {called} went back by {how_far_back(parts[-1], after, found.twice)}")
    few = f", but for {samples(found.lost)}, as many as readers may drop" if found.lost else ""
    return _told(after, f"the restart went on in {called} where the job had ended{other_ranks(parts[-1], after)}{few}")


def _unseen(called: str, lost: int) -> str:
    """An epoch whose first part is not in the record: what it had can't be told from what was skipped."""
    text = f"{samples(lost)} of {called} came neither before the restart nor after it"
    return f"{text}: skipped, or delivered before the record begins, as that epoch was itself gone on with"


def _dataset_epoch(epoch: EpochView) -> object:
    """The epoch as the dataset or the sampler says it."""
    told = next(iter(epoch.ranks.values())).facts
    return told.get("dataset_epoch", told.get("set_epoch"))


def _begun_again(called: str, parts: list[EpochView], after: EpochView, came: int, twice: int) -> Finding:
    """The restart read the whole epoch again; what of it was trained on is known where optimizer steps are."""
    again = f"the restart began {called} again"
    if changed(parts[-1], after):  # steps are other ones
        text = f"{again}{other_ranks(parts[-1], after)}: {samples(twice)} came a second time"
        return _told(after, text if _trained_at_once(after) else f"{text}, unless the loop skips those that were done")
    done, idle = _done(parts, after), _idle(after)
    if idle is not None and idle[0] == 0 and idle[1] >= min(done):
        idle = None  # gradients may be accumulated over as many steps as were done
    if parts[0].resumed:
        idle = None  # how many steps were done, and in which order, is not in the record
    skips = idle is not None and idle[0] <= max(done) and idle[1] >= min(done)
    if all(differ(part, after) for part in parts):
        if skips or (idle is not None and idle[0] > 0):
            many = max(done) if skips or idle is None else idle[0]
            text = f"{again} in another order, and the loop skipped its first {count(many, 'step')}"
            return _skipped(after, f"{text}: they have other samples than the {twice:,} that were done", parts[-1])
        if idle is not None:
            return _told(after, f"{again}, in another order: {samples(twice)} came a second time")
        text = (
            f"{again} in another order: right if the loop trains on all of it, so that {samples(twice)} count twice; "
        )
        return _told(after, f"{text}if it skips the {count(max(done), 'step')} that were done, it skips other samples")
    if skips:
        return _told(
            after, f"{again} in the same order, and the loop skipped the {count(max(done), 'step')} that were done"
        )
    # A part may itself have gone on from an earlier one: then more steps were done than it has.
    if (
        idle is not None
        and idle[0] > max(done)
        and idle[0] * after.rows > came * max(seen.steps for seen in after.ranks.values())
    ):
        more = f"{count(max(done), 'step')} were done, and the first {idle[0]} were not trained on"
        return _skipped(after, f"{again} in the same order: {more}", parts[-1], advice=_COUNT)
    text = f"{again} in the same order: {samples(twice)} came a second time"
    return _told(after, text if idle is not None else f"{text}, unless the loop skips the steps that were done")


def _trained_at_once(epoch: EpochView) -> bool:
    """Whether its first step is known to be trained on."""
    idle = _idle(epoch)
    return idle is not None and idle[1] == 0


def _done(parts: list[EpochView], after: EpochView) -> list[int]:
    """How many steps of an epoch came before it was read again, on each of its ranks."""
    return [max((part.ranks[rank].steps for part in parts if rank in part.ranks), default=0) for rank in after.ranks]


def _idle(epoch: EpochView) -> tuple[int, int] | None:
    """With how many steps an epoch begins that are not trained on, at least and at most, on all of its ranks."""
    told = [idle_steps(seen) for seen in epoch.ranks.values()]
    known = [each for each in told if each is not None]
    if len(known) < len(told) or not known:
        return None
    return max(least for least, _ in known), min(most for _, most in known)


def _told(after: EpochView, text: str, key: str = "restart") -> Finding:
    return after.at_loop("note", key, text)


def _skipped(
    after: EpochView,
    text: str,
    before: EpochView,
    lost: int = 0,
    missing: Sequence[object] = (),
    advice: str = _STORE,
) -> Finding:
    excerpt: tuple[str, ...] = (steps_of(before, after),)
    if missing:
        more = ", ..." if lost > len(missing) else ""
        excerpt += (f"in neither: {', '.join(map(str, missing))}{more}",)
    return after.at_loop("RESUME-1", "restart", text, excerpt=excerpt, advice=advice, worst=8)
