"""The checks of chapter 9: what must come after a restart, of cases in which request and state fit."""

from types import SimpleNamespace
from typing import Any

from conformance.report.script.checks.common import failure_in
from conformance.report.script.judge import give_up


def the_rest_comes(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """RESUME-1, RESUME-3: after the restart come the steps that came without it."""
    if failure_in(runs["resumed"]):
        return f"after the restart the loader {failure_in(runs['resumed'])}"
    for position, expected in stopped(case, runs):
        got = runs["resumed"][position].epochs[0].steps
        if in_order(case, got) != in_order(case, expected):
            return f"on rank {position} comes {got} after the restart, and not {expected}"
    return ""


def next_epoch_is_whole(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """RESUME-2: the epoch after the rest is the next one."""
    if failure_in(runs["resumed"]):
        return f"after the restart the loader {failure_in(runs['resumed'])}"
    for position, _ in stopped(case, runs):
        got, expected = runs["resumed"][position].epochs[1].steps, runs["main"][position].epochs[-1].steps
        if in_order(case, got) != in_order(case, expected):
            return f"on rank {position} the epoch after the rest is {got}, and not {expected}"
    return ""


def end_is_an_end(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """RESUME-4: after a state of the end comes the next epoch, at once or after an empty rest."""
    if failure_in(runs["resumed"]):
        return f"after the restart the loader {failure_in(runs['resumed'])}"
    for position, rank in enumerate(runs["main"]):
        *_, saved, following = [in_order(case, epoch.steps) for epoch in rank.epochs]
        first, *others = [in_order(case, epoch.steps) for epoch in runs["resumed"][position].epochs]
        at_once = first in ([following, saved] if others else [following])
        empty = not first and others == [following]
        steps = len(rank.epochs[-2].steps)
        right = at_once or empty
        # What comes after the last step, before the end was asked for, may mean either.
        if case.end_of_epoch and place_in(case) > steps:
            right = at_once if case.end_of_epoch == "next" else empty
        if place_in(case) >= steps and not right:
            return f"on rank {position} comes {first} after the end of an epoch"
    return ""


def restarts_add_up(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """RESUME-5: after the second restart comes what is left then."""
    if failure_in(runs["resumed"]):
        give_up(f"after the first restart the loader {failure_in(runs['resumed'])}")
    if failure_in(runs["resumed again"]):
        return f"after the second restart the loader {failure_in(runs['resumed again'])}"
    for position, expected in stopped(case, runs):
        # Where steps come in any order, what is left is known by what came after the first restart.
        once = runs["resumed"][position].epochs[0].steps
        left = once if in_order(case, once) == in_order(case, expected) else expected
        left = left[1:] if case.details == "again" else left
        got = runs["resumed again"][position].epochs[0].steps
        if left and in_order(case, got) != in_order(case, left):
            return f"on rank {position} comes {got} after the second restart, and not {left}"
    return ""


def state_stays(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """RESUME-7: a state that was pickled later, or loaded once more, brings the same rest."""
    for run in runs.values():
        if failure_in(run):
            return f"the loader {failure_in(run)}"
    for position, _ in stopped(case, runs):
        first = runs["resumed"][position].epochs[0].steps
        again = runs["resumed again"][position].epochs[0] if case.details == "held" else None
        second = again or runs["resumed"][position].epochs[2]
        if in_order(case, second.steps) != in_order(case, first):
            return f"on rank {position} comes {first} from the state, and then {second.steps}"
    return ""


def states_are_taken(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """RESUME-8: nothing fails."""
    for run in runs.values():
        if failure_in(run):
            return f"the loader {failure_in(run)}"
    return ""


def loading_takes_effect(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """RESUME-9: what is loaded into a used loader is resumed, or refused."""
    if failure_in(runs["main"]):
        return ""
    for position, expected in stopped(case, runs):
        got = runs["main"][position].epochs[case.epochs].steps
        if in_order(case, got) != in_order(case, expected):
            return f"on rank {position} comes {got} after the state was loaded again, and not {expected}"
    return ""


def no_state_for_show(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """RESUME-12: who starts over with a state has none, or refuses it."""
    if failure_in(runs["main"]) or failure_in(runs["resumed"]):
        return ""
    for position, expected in stopped(case, runs):
        got, whole = runs["resumed"][position].epochs[0].steps, runs["main"][position].epochs[-2].steps
        if got == whole and got != expected:
            return f"on rank {position} the whole epoch comes again after the restart"
    return ""


def place_in(case: SimpleNamespace) -> int:
    """After how many steps the state was taken."""
    return int(case.conduct.partition("@")[2])


def stopped(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> list[tuple[int, list[Any]]]:
    """The ranks that were stopped before their end, and the steps that were left."""
    if failure_in(runs["main"]):
        give_up(f"without a restart the loader {failure_in(runs['main'])}")
    at = case.epochs - 2
    steps = [rank.epochs[at].steps for rank in runs["main"]]
    return [(position, each[place_in(case) :]) for position, each in enumerate(steps) if place_in(case) < len(each)]


def in_order(case: SimpleNamespace, steps: list[list[int]]) -> list[list[int]]:
    """The steps as they come, or sorted where their order is nobody's promise."""
    free = not case.in_order or (case.dataset == "iterable" and case.num_workers > 1)
    return sorted(map(sorted, steps)) if free else steps
