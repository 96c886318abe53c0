"""Chapter 3, the caller's random numbers: the judges of ORDER-10 and ORDER-11."""

from conformance.contract import Claims
from conformance.loader.judging import usable
from conformance.loader.scenario import Scenario
from conformance.trace import RandomState, Trace
from conformance.trial.clause import Finding, Verdict, clause
from conformance.trial.words import count

_GENERATORS = {"random": "random", "numpy": "numpy.random", "torch": "torch"}


@clause("ORDER-10", floor=20, also=("workers", "cut short"))
def does_not_reseed(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """A global generator does not end in one state whatever state it had before, nor where the caller has drawn."""
    return _undone(trace) or _global_state(trace, reseeded=True)


@clause("ORDER-11", level="SHOULD", floor=20)
def does_not_draw(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """A global generator is where it was."""
    return _global_state(trace, reseeded=False)


def _undone(trace: Trace) -> Verdict:
    """What the caller drew while it read was taken back: its next epoch draws the same."""
    variant = trace.variant("random-state")
    if variant is None or not usable(trace.main) or not usable(variant):
        return None
    for one, other in zip(trace.main.ranks, variant.ranks, strict=True):
        library = one.remark("undone")
        if library and library == other.remark("undone"):
            line = f"rank {one.rank}: {_GENERATORS[library]} is again where it was before the caller drew from it"
            why = "what is drawn in each epoch, for dropout or augmentation, is then the same in all of them"
            return [Finding(f"undoes-{library}", "what the caller has drawn, drawn", (line,), why)]
    return None


def _global_state(trace: Trace, reseeded: bool) -> Verdict:
    variant = trace.variant("random-state")
    if variant is None or not usable(trace.main) or not usable(variant):
        return None
    for one, other in zip(trace.main.ranks, variant.ranks, strict=True):
        for here, there in zip(one.random_states, other.random_states, strict=False):
            # What is drawn while a step is held, and put back in the end, is drawn by nobody else.
            if here.held and not reseeded:
                continue
            if ("undone", here.library) in one.remarks:
                continue  # ORDER-10 says so
            forgotten = here.before != there.before and here.after == there.after
            moved = here.after != here.before
            if moved and forgotten == reseeded:
                return [_disturbed(one.rank, here, reseeded, count(len(one.epochs), "epoch"))]
    return []


def _disturbed(rank: int, state: RandomState, reseeded: bool, read: str) -> Finding:
    library = state.library
    generator = _GENERATORS[library]
    if reseeded:
        where = "stands, after the first step of an epoch," if state.held else "ends"
        line = f"rank {rank}: {generator} {where} in one and the same state, whatever it was before"
        why = "code that drew from it before now draws other numbers, or the same ones on every rank"
        return Finding(f"reseeds-{library}", f"{generator}'s global state as the caller left it", (line,), why)
    line = f"rank {rank}: {generator} has moved on after {read}"
    why = "making or reading a loader (for validation, say) then changes what the training draws"
    return Finding(f"draws-from-{library}", f"{generator}'s global state as the caller left it", (line,), why)
