"""A restart that delivers again what the start before it had: decides how far back it went, and what that hangs on.

No record knows when a job stores its state. So nobody is accused: what is told is where the last state must have been.
"""

import numpy as np

from conformance.audit.epochs import EpochView
from conformance.audit.words import samples
from conformance.trial.words import count


def how_far_back(before: EpochView, after: EpochView, twice: int) -> str:
    """``15 of the 20 steps of each rank (...), and skipped no sample: right if ...``.

    `before` is the last part of the epoch that the restart `after` took up, and `twice` how many samples came in both.
    """
    steps = {rank: seen.steps for rank, seen in before.ranks.items()}
    back = _steps_back(before, after, twice)
    if not back:
        return f"{samples(twice)}, and skipped none: right if the last checkpoint was made there. {_ended(before)}"
    again = sum(_rows_of_last(before, rank, number) for rank, number in back.items())
    whose = "of each rank" if len(steps) > 1 else "before it"
    far = f"{_span(back)} of the {_span(steps, unit=True)} {whose} ({samples(again)}), and skipped none"
    left = {steps[rank] - number for rank, number in back.items()}
    where = "was made there" if len(left) > 1 else f"was made after the first {left.pop()} of them"
    where = where if any(steps[rank] > number for rank, number in back.items()) else "was made before them"
    return f"{far}: right if the last checkpoint {where}. {_ended(before)}{_counted(before, back)}"


def _steps_back(before: EpochView, after: EpochView, twice: int) -> dict[int, int]:
    """Of each rank, how many of its last steps before the restart came again; {} if that can't be told.

    What makes ranks equal at the end of an epoch comes again as well, but no last step does by it.
    """
    witnesses = before.view.group.witnesses
    if not witnesses.keeps_all:
        return {}
    rows = witnesses.of_epoch(before.key)
    again = np.isin(rows[:, 0], witnesses.of_epoch(after.key)[:, 0])
    found = {}
    for rank, seen in before.ranks.items():
        mine = rows[:, 3] == rank
        fresh = rows[mine & ~again, 5]
        found[rank] = seen.steps - 1 - int(fresh.max(initial=-1))
    rest = twice - sum(_rows_of_last(before, rank, number) for rank, number in found.items())
    # What is left was shuffled anew, or comes from an earlier start: then no step is where it went back to.
    return found if any(found.values()) and rest < len(found) * before.full_batch else {}


def _rows_of_last(before: EpochView, rank: int, number: int) -> int:
    """How many samples the last steps of a rank had."""
    rows = before.view.group.witnesses.of_epoch(before.key)
    return int(((rows[:, 3] == rank) & (rows[:, 5] >= before.ranks[rank].steps - number)).sum())


def _span(numbers: dict[int, int], unit: bool = False) -> str:
    """``15``, ``15 to 16 steps``."""
    least, most = min(numbers.values()), max(numbers.values())
    if least < most:
        return f"{least} to {most}{' steps' if unit else ''}"
    return count(least, "step") if unit else str(least)


def _ended(before: EpochView) -> str:
    """How the loop of the start before ended, and what that says of the state that it may have stored."""
    ends = [seen.how for seen in before.epoch.ranks.values()]
    if any(how.startswith("crash") for how in ends):
        return "The start before it ended with an exception"
    if any(how.startswith("error") for how in ends):
        return "The start before it ended with an error of the loader"
    if "" in ends:
        return "The start before it has no end in the record, as one that is killed"
    return "The loop before it ended without an error: had it stored its state then, nothing would have come again"


def _counted(before: EpochView, back: dict[int, int]) -> str:
    """A checkpoint that counts the optimizer's steps, where the restart counts batches, goes back as far as this."""
    each = {tuple(seen.facts.get("stepped") or ()) for seen in before.ranks.values()}
    told = each.pop() if len(each) == 1 else ()
    if len(told) < 2 or not back or any(seen.facts.get("scaled") for seen in before.ranks.values()):
        return ""
    accumulated = told[1] - told[0]
    if accumulated < 2 or told[0] != accumulated:
        return ""
    for rank, seen in before.ranks.items():
        begun_at = seen.steps - back[rank]
        if not begun_at or begun_at != seen.steps // accumulated:
            return ""
    made = next(iter(before.ranks.values())).steps // accumulated
    often = f"its optimizer stepped every {accumulated} batches, {count(made, 'time')}"
    return f"; {often}: does the checkpoint count these steps, and the restart batches?"
