"""What the judges of chapter 11 share: each epoch over all ranks, and what a length must be."""

from collections.abc import Callable, Sequence

from conformance.chosen.scenario import ChosenScenario
from conformance.contract import Claims
from conformance.loader import judging
from conformance.loader.judging import show
from conformance.trace import Epoch, Run
from conformance.trial.clause import Finding

Epochs = tuple[Epoch, ...]


def positions(run: Run) -> list[Epochs]:
    """Each epoch of a run, of all ranks."""
    return [run.epoch(at) for at in range(len(run.ranks[0].epochs))]


def first_found(run: Run, judge: Callable[[Epochs], Finding | None]) -> list[Finding]:
    """What is found in the first epoch in which anything is."""
    found = (judge(epochs) for epochs in positions(run))
    return next(([finding] for finding in found if finding), [])


def wrong_length(claims: Claims, epochs: Epochs) -> Finding | None:
    """A `len()` that is not the number of steps, or that raises: where it is claimed, or no TypeError."""
    for rank, epoch in enumerate(epochs):
        if judging.wrong_length(epoch, claims.length):
            unknown = epoch.length is None or str(epoch.length).startswith("TypeError")
            note = "has no len()" if unknown else f"len() gives {epoch.length}"
            why = "length=True is claimed" if claims.length else "a length that is given must be right"
            return Finding("length", f"len() = {len(epoch.steps)}", show(epochs, {rank: note}), why)
    return None


def claimed_policy(scenario: ChosenScenario, claims: Claims) -> str:
    """The claim about the remainder that binds this scenario, as an adapter writes it."""
    name = "when_dropping" if scenario.drop_last else "when_keeping"
    return f'{name}="{claims.policy(scenario.drop_last)}"'


def in_words(values: Sequence[int]) -> str:
    """The first of these numbers."""
    return " ".join(map(str, values[:12])) + (" ..." if len(values) > 12 else "")
