"""Chapter 4, life cycle: the judges of WORK-12 to WORK-17, on consumers that do more than read and close."""

from conformance.contract import Claims
from conformance.loader.judging import failed_while_loading, show, whole
from conformance.loader.scenario import Scenario
from conformance.trace import Epoch, RankRun, Trace
from conformance.trial.clause import Finding, Verdict, clause


@clause("WORK-12", family="life", dataset="any", floor=4)
def whole_after_leaving(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """The epoch after one that was left early is whole."""
    if not scenario.conduct.startswith("leave"):
        return None
    (rank,) = trace.main.ranks
    if rank.failure:
        return [_ended("failed-after-leaving", rank, "the next epoch, whole", "leaving a loop early is no mistake")]
    for epoch in rank.epochs[1:]:
        if not whole(scenario, claims, epoch):
            why = "what an epoch left early had loaded belongs to no other epoch"
            lines = _lines(rank.epochs, {epoch.number: _amiss(scenario, epoch)})
            return [Finding("not-whole-after-leaving", "the next epoch whole, from its start", lines, why)]
    return []


@clause("WORK-13", family="life", dataset="any", floor=3)
def two_iterators(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Two live iterators each give a whole epoch, or one of them an error."""
    if not scenario.conduct.startswith("two"):
        return None
    (rank,) = trace.main.ranks
    if rank.failure:
        return [_ended("failed-before-the-second", rank, "two epochs", "the first iterator is a valid request")]
    for name, epoch in zip(("first", "second"), rank.epochs, strict=True):
        refused = epoch.failure is not None and epoch.failure.kind == "raised"
        if not refused and not whole(scenario, claims, epoch):
            lines = (
                *show((rank.epochs[0],), label="first iterator, as "),
                *show((rank.epochs[1],), label="second, as "),
                f"the {name} one is not whole: {_amiss(scenario, epoch)}",
            )
            why = "zip(loader, loader) and a loop in a loop do this; an error is right too, silence is not"
            return [Finding("iterators-disturb-each-other", "a whole epoch from each", lines, why)]
    return []


@clause("WORK-14", family="life", dataset="any", floor=10)
def whole_after_an_error(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """After a failing epoch the next one is whole, or an error."""
    (rank,) = trace.main.ranks
    if not scenario.fault:
        return None
    if claims.errors == "skip" and rank.epochs and not rank.epochs[0].failure:
        return []  # the failing sample was skipped, as is claimed: there was no error to go on after
    if failed_while_loading(rank):
        return []
    if rank.failure or len(rank.epochs) < 2 or not rank.epochs[0].failure:
        return None
    epoch = rank.epochs[1]
    if epoch.failure or whole(scenario, claims, epoch):
        return []
    lines = _lines(rank.epochs, {epoch.number: _amiss(scenario, epoch)})
    why = "an epoch that looks whole and is not trains on a part of the data"
    return [Finding("part-after-error", "a whole epoch, or an error", lines, why)]


@clause("WORK-15", family="life", dataset="any", floor=1)
def stays_at_its_end(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """After the end comes the end again, and closing twice is no error."""
    if scenario.conduct != "ended":
        return None
    (rank,) = trace.main.ranks
    if rank.failure:
        return [
            _ended("closing-twice", rank, "no error from closing twice", "closing is for clean-up, which comes twice")
        ]
    told = rank.remark("after-end")
    if told:
        why = "an iterator that has raised StopIteration goes on raising it (Python's iterator protocol)"
        return [Finding("revived", "StopIteration again and again", (told,), why)]
    return []


@clause("WORK-16", family="life", dataset="any", applies=lambda claims: claims.aliases is not True, floor=2)
def kept_batches_stay(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """What the user holds never changes."""
    if scenario.conduct != "kept":
        return None
    (rank,) = trace.main.ranks
    if rank.failure:
        return [_ended("failed-while-kept", rank, "two epochs", "a list of all batches is a valid use")]
    told = rank.remark("changed")
    if told:
        why = "a batch that was handed over is the user's; a loader that reuses it says so (claim aliases)"
        return [Finding("kept-batch-changed", "a kept batch as it was", (told,), why)]
    return []


@clause("WORK-17", family="samples", dataset="any", floor=5)
def types_survive(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Collating keeps values and types."""
    if scenario.kind in ("", "buffer", "large"):
        return None
    (rank,) = trace.main.ranks
    told = rank.failure.sentence() if rank.failure else rank.remark("types")
    if told:
        expected = "values and types as the dataset gives them, in columns or as a list"
        why = "what a model sees is then not what the dataset gave"
        return [Finding(f"types-{scenario.kind}", expected, (told,), why)]
    return []


def _amiss(scenario: Scenario, epoch: Epoch) -> str:
    if epoch.failure:
        return epoch.failure.sentence()
    samples = list(epoch.samples)
    lost = [index for index in range(scenario.samples) if index not in samples]
    again = sorted({index for index in samples if samples.count(index) > 1})
    parts = [f"without {' '.join(map(str, lost))}"] if lost else []
    parts += [f"{' '.join(map(str, again))} twice"] if again else []
    return ", ".join(parts) or "in another order"


def _lines(epochs: tuple[Epoch, ...], notes: dict[int, str]) -> tuple[str, ...]:
    lines: list[str] = []
    for epoch in epochs:
        note = {0: notes[epoch.number]} if epoch.number in notes else {}
        lines += [line.replace("rank 0: ", "") for line in show((epoch,), note, f"epoch {epoch.number}: ")]
    return tuple(lines)


def _ended(kind: str, rank: RankRun, expected: str, why: str) -> Finding:
    assert rank.failure is not None
    return Finding(kind, expected, (f"rank {rank.rank}: {rank.failure.sentence()}",), why)
