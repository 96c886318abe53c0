"""Resumed epochs: decides whether an epoch may be the rest of one that another start of the job began.

Then what did not come is not missing, and len() says no lie. A restart in one record is judged (`judges_restarts`); of
one whose first part was not recorded, too little was seen.
"""

from conformance.audit.summary import Epoch, EpochKey, Group, RankSeen


def why_resumed(group: Group, key: EpochKey) -> str:
    """Why an epoch may be the rest of one, as words for a note; "" if nothing says so."""
    attempt, number = key
    epoch = group.epochs[key]
    facts = [seen.facts for seen in epoch.ranks.values()]
    if any(one.get("restored") for one in facts):
        return "it began from a state that was restored"
    if any(one.get("skipped") for one in facts):
        return "batches were skipped before its first one"
    if number:
        return ""
    if attempt:
        before = [other for other in group.epochs if other[0] < attempt]
        return "the start before it ended within an epoch" if before and not group.epochs[max(before)].whole else ""
    return _shorter_first(group, epoch)


def joints(group: Group) -> list[tuple[EpochKey, EpochKey]]:
    """The last epoch before each restart, and the first one after it."""
    keys = sorted(group.epochs)
    found = []
    for attempt in sorted({key[0] for key in keys})[1:]:
        before = [
            key for key in keys if key[0] < attempt and any(seen.rows for seen in group.epochs[key].ranks.values())
        ]
        after = [key for key in keys if key[0] == attempt]
        if before and after:
            found.append((before[-1], after[0]))
    return found


def goes_on(group: Group, before: EpochKey, after: EpochKey) -> bool:
    """Whether the first epoch of a start is the one in which the start before it had ended."""
    first, rest = group.epochs[before], group.epochs[after]
    return not first.whole and number_of(rest) in (None, number_of(first))


def begun(group: Group) -> dict[EpochKey, EpochKey]:
    """Of each epoch that a restart took up or began again: its last part before that."""
    return {after: before for before, after in joints(group) if goes_on(group, before, after)}


def first_parts(group: Group) -> dict[EpochKey, EpochKey]:
    """Of each epoch that a restart took up or began again: the first of its parts."""
    found: dict[EpochKey, EpochKey] = {}
    for after, before in sorted(begun(group).items()):
        found[after] = found.get(before, before)
    return found


def idle_steps(seen: RankSeen) -> tuple[int, int] | None:
    """How many steps an epoch has before the first one that is trained on: at least, and at most. None if nobody knows.

    The loop's optimizer steps are what tells it: between two of them lie as many steps as gradients are accumulated.
    """
    told = seen.facts.get("stepped")
    if not isinstance(told, list) or len(told) < 2:
        return None
    first, second = told[:2]
    # A scaler of gradients leaves out its optimizer's first steps, if they overflow.
    return 0 if seen.facts.get("scaled") else max(0, 2 * first - second), first - 1


def number_of(epoch: Epoch) -> int | None:
    """The epoch as the sampler says it."""
    told = {seen.facts.get("set_epoch") for seen in epoch.ranks.values()}
    number = told.pop() if len(told) == 1 else None
    return number if isinstance(number, int) else None


def _shorter_first(group: Group, first: Epoch) -> str:
    """Whether the record's first epoch is shorter on each rank than the next one, or, alone, than len() said."""
    if not first.whole or all(_looks_on(seen.facts) for seen in first.ranks.values()):
        return ""
    later = [group.epochs[key] for key in sorted(group.epochs) if key[0] == 0 and key[1] and group.epochs[key].whole]
    full = {rank: seen.steps for rank, seen in later[0].ranks.items()} if later else _said(group, first)
    steps = {rank: seen.steps for rank, seen in first.ranks.items()}
    lacking = {full.get(rank, 0) - came for rank, came in steps.items()}
    if min(lacking, default=0) <= 0 or (not later and len(lacking) > 1):
        return ""
    if later and _len_follows(first, later):
        return ""
    rank = min(steps)
    told = "the next one had" if later else "len() said"
    return f"it is the first of the record and had {steps[rank]} steps, where {told} {full[rank]}"


def _len_follows(first: Epoch, later: list[Epoch]) -> bool:
    """Whether len() said the steps of each epoch, and these kept changing after the first one, as in a curriculum.

    Of an epoch that was resumed len() may say the rest; those after it are alike.
    """
    told = [{rank: seen.facts.get("steps") for rank, seen in each.ranks.items()} for each in (first, *later)]
    came = [{rank: seen.steps for rank, seen in each.ranks.items()} for each in (first, *later)]
    return told == came and any(other != came[1] for other in came[2:])


def _said(group: Group, epoch: Epoch) -> dict[int, int]:
    """What len() said on each rank. Of an iterable dataset it is often that of all ranks."""
    if any(facts.get("kind") != "map" for facts in group.loaders.values()):
        return {}
    told = {rank: seen.facts.get("steps") for rank, seen in epoch.ranks.items()}
    return {rank: steps for rank, steps in told.items() if isinstance(steps, int)}


def _looks_on(facts: dict[str, object]) -> bool:
    return bool(facts.get("no_grad") or facts.get("eval"))
