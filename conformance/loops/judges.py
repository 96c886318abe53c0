"""Chapter 12: decides whether a training loop takes from its loader, and makes of it, what it owes."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from conformance.contract import Claims
from conformance.loops.passes import TOLERANCE, Pass, groups_of, is_mean, mean_of, passes_of, told, told_group
from conformance.loops.scenario import LoopScenario
from conformance.trace import RankRun, Trace
from conformance.trial.clause import Finding, Judge, Verdict, clause
from conformance.trial.words import count

# The runs of a job that is stopped: its first life, and the later ones with their numbers.
STOPPED, RESUMED = "stopped", "resumed"


def loop(clause_id: str, floor: int, resumes: bool = False) -> Callable[[Judge], Judge]:
    """Register a judge of chapter 12, owed where a loop is claimed, and where it must one that `resumes`."""

    def applies(claims: Claims) -> bool:
        return bool(claims.loop) and (claims.checkpoints or not resumes)

    return clause(clause_id, family="loop", applies=applies, floor=floor, dataset="none")


def _rank(trace: Trace) -> RankRun:
    return trace.main.ranks[0]


@loop("LOOP-1", floor=30)
def epochs_are_read_whole(scenario: LoopScenario, claims: Claims, trace: Trace) -> Verdict:
    """As many passes as were asked for, each with all its micro-batches."""
    rank, expected = _rank(trace), f"{scenario.epochs} x {scenario.micro_batches} micro-batches"
    why = "what is not read is not trained on"
    if rank.failure:
        return [Finding("failed", "the loop ends by itself", (rank.failure.sentence(),), "the request can be met")]
    passes = passes_of(rank)
    taken = [each.batches for each in passes]
    if taken != [scenario.micro_batches] * scenario.epochs:
        lines = tuple(f"epoch {at}: {each} micro-batches" for at, each in enumerate(taken)) or ("no epoch",)
        return [Finding("not-whole", expected, lines, why)]
    return []


@loop("LOOP-2", floor=25)
def groups_are_steps(scenario: LoopScenario, claims: Claims, trace: Trace) -> Verdict:
    """Each whole group of micro-batches is one step, on the mean of their losses."""
    if not _was_read(scenario, trace) or not scenario.groups:
        return None
    for at, going in enumerate(passes_of(_rank(trace))):
        groups = groups_of(scenario, going)
        if len(going.steps) < scenario.groups or len(going.steps) > len(groups):
            lines = tuple(f"epoch {at}, step {number}: {told(each)}" for number, each in enumerate(going.steps))
            expected = f"a step each {scenario.accumulation} micro-batches: {scenario.groups} an epoch"
            return [Finding("steps", expected, lines[:6] or (f"epoch {at}: no step",), "a step follows its group")]
        for number, (gradient, group) in enumerate(zip(going.steps, groups[: scenario.groups], strict=False)):
            # What an epoch left behind is in the next one's first step (LOOP-4).
            if not is_mean(gradient, group) and not (at and not number and _foreign(gradient, group)):
                expected = f"the mean of its micro-batches: {told_group(group)}"
                why = "the learning rate is chosen for a mean over these samples"
                return [Finding("not-the-mean", expected, (f"epoch {at}, step {number}: {told(gradient)}",), why)]
    return []


@loop("LOOP-3", floor=15)
def the_rest_is_as_claimed(scenario: LoopScenario, claims: Claims, trace: Trace) -> Verdict:
    """The last group of an epoch, if it is smaller, is a step on its own mean, or none."""
    if not _was_read(scenario, trace) or scenario.micro_batches % scenario.accumulation == 0:
        return None
    passes = passes_of(_rank(trace))
    if any(_crossed(scenario, passes)) or any(len(each.steps) < scenario.groups for each in passes):
        return None
    for at, going in enumerate(passes):
        *_, rest = groups_of(scenario, going)
        last = going.steps[scenario.groups :]
        if claims.loop == "drop" and last:
            seen = (f"epoch {at}, after {scenario.groups} whole groups: {told(last[0])}",)
            return [Finding("rest-stepped", "no step on the rest", seen, 'loop="drop" says that it is left out')]
        if claims.loop == "step" and not (len(last) == 1 and is_mean(last[0], rest)):
            seen = (f"epoch {at}, last step: {told(last[0])}" if last else f"epoch {at}: no step on the rest",)
            expected = f"a step on the mean of the rest: {told_group(rest)}"
            why = "divided by the accumulation, the last samples of each epoch count for less; unstepped, not at all"
            return [Finding("rest", expected, seen, why)]
    return []


@loop("LOOP-4", floor=10)
def nothing_crosses(scenario: LoopScenario, claims: Claims, trace: Trace) -> Verdict:
    """No gradient of one epoch is in a step of the next."""
    if not _was_read(scenario, trace) or scenario.epochs < 2:
        return None
    return next(_crossed(scenario, passes_of(_rank(trace))), [])


@loop("LOOP-5", floor=10)
def each_epoch_is_told(scenario: LoopScenario, claims: Claims, trace: Trace) -> Verdict:
    """The loader is told a number of its own for each epoch, before it begins."""
    if not _was_read(scenario, trace) or scenario.epochs < 2:
        return None
    numbers = [each.number for each in passes_of(_rank(trace))]
    for at, number in enumerate(numbers):
        if number in numbers[:at]:
            seen = (f"epoch {at} began as number {number}, as epoch {numbers.index(number)} did",)
            why = "a loader that is not told shuffles every epoch alike"
            return [Finding("not-told", "set_epoch(n) with another n before each epoch", seen, why)]
    return []


@loop("LOOP-6", floor=8)
def validation_leaves_no_trace(scenario: LoopScenario, claims: Claims, trace: Trace) -> Verdict:
    """The module is evaluated after each epoch, in evaluation mode; training goes on in training mode, without it."""
    if not _was_read(scenario, trace) or "validated" not in scenario.asked:
        return None
    rank, lives = _rank(trace), _lives(trace)
    validations = sum(value.name == "validation" for value in rank.values)
    if validations < scenario.epochs:
        seen = (f"{validations} validations in {scenario.epochs} epochs",)
        return [Finding("not-validated", "one after each epoch", seen, "it was asked for")]
    missed = _never_validated(scenario, rank, lives)
    if missed:
        seen = (f"epoch {missed[0]}: a validation without a stop, and none before the stop or after it",)
        return [Finding("validation-lost", "one after each epoch, in one call or another", seen, "it was asked for")]
    for value in [value for each in (rank, *lives) for value in each.values]:
        if value.name in ("training", "evaluating") and value.numbers:
            validates = value.numbers[0] >= scenario.samples
            if validates != (value.name == "evaluating"):
                mode, samples = f"in {value.name} mode", " ".join(str(int(each)) for each in value.numbers)
                what = f"samples {samples}, {'of the validation' if validates else 'of the training'}, {mode}"
                why = "dropout and batch normalisation do another thing there"
                return [Finding("mode", "model.eval() for the validation, model.train() after it", (what,), why)]
    for at, going in enumerate(passes_of(rank)):
        for number, gradient in enumerate(going.steps):
            if any(abs(share) > TOLERANCE for share in gradient[scenario.samples :]):
                seen = (f"epoch {at}, step {number}: {told(gradient)}",)
                why = f"samples from {scenario.samples} on are for validation alone"
                return [Finding("trained-on-validation", "no gradient of the validation", seen, why)]
    return []


@loop("LOOP-7", floor=10, resumes=True)
def resumes_as_if_never_stopped(scenario: LoopScenario, claims: Claims, trace: Trace) -> Verdict:
    """A job that is stopped anywhere, and resumed, makes the steps of one that was not, and ends with its module."""
    lives = _lives(trace)
    if not lives or not _was_read(scenario, trace):
        return None
    failure = next((rank.failure for rank in lives if rank.failure), None)
    if failure:
        expected = "it returns its state when it is stopped, and resumes from it"
        return [Finding("failed", expected, (failure.sentence(),), "the same request was met without a stop")]
    owed, made = _steps(_rank(trace)), [_steps(rank) for rank in lives]
    late = next(_goes_on(scenario, claims, made), None)
    ends = (_another_end(_rank(trace), lives[-1], name) for name in ("weights", "buffer"))
    return [late] if late else _other_steps(owed, made) or next(filter(None, ends), [])


def _lives(trace: Trace) -> list[RankRun]:
    """The calls of a job that is stopped, one after the other."""
    return [run.ranks[0] for run in trace.runs if run.name.startswith((STOPPED, RESUMED))]


def _never_validated(scenario: LoopScenario, whole: RankRun, lives: list[RankRun]) -> list[int]:
    """The epochs that no call of a stopped job validates at their end, as one that was not stopped does."""
    owed, made = len(_steps(whole)), sum(len(_steps(rank)) for rank in lives)
    # Where the calls fail, or make other steps, that is LOOP-7's matter.
    if not lives or any(rank.failure for rank in lives) or made != owed:
        return []
    ends = {owed * (epoch + 1) // scenario.epochs: epoch for epoch in range(scenario.epochs)}
    return sorted(ends[at] for at in _validated_at([whole]) - _validated_at(lives) if at in ends)


def _validated_at(lives: list[RankRun]) -> set[int]:
    """After how many steps of the job the module is evaluated."""
    steps, places = 0, set()
    for value in (value for rank in lives for value in rank.values):
        steps += value.name == "step"
        if value.name == "validation":
            places.add(steps)
    return places


def _goes_on(scenario: LoopScenario, claims: Claims, made: list[list[tuple[float, ...]]]) -> Iterator[Finding]:
    """The lives that make a step after the one in which they are stopped."""
    steps = 0
    for life, stop in enumerate(scenario.stops[: len(made)]):
        most = scenario.steps_until(stop, claims.loop == "step")
        if life and scenario.again < scenario.accumulation:
            # This stop may be one that the step has passed which was finished at the stop before.
            most = max(most, steps + 1)
        steps += len(made[life])
        if steps > most:
            expected = f"{count(most, 'step')} at most, for it is stopped after {count(stop, 'micro-batch')}"
            why = "what is done after the stop is not in its state, or nobody waits for it"
            yield Finding("not-stopped", expected, (f"{count(steps, 'step')} before it returned",), why)


def _steps(rank: RankRun) -> list[tuple[float, ...]]:
    return [value.numbers for value in rank.values if value.name == "step"]


def _other_steps(owed: list[tuple[float, ...]], made: list[list[tuple[float, ...]]]) -> list[Finding]:
    """The first step that is not the one of a job that was not stopped."""
    found = [each for life in made for each in life]
    for at in range(max(len(owed), len(found))):
        expected = f"step {at}: {told(owed[at])}" if at < len(owed) else f"{count(len(owed), 'step')} in all"
        if at < min(len(owed), len(found)) and _alike(owed[at], found[at]):
            continue
        life = "before the stop" if at < len(made[0]) else "after it" if len(made) < 3 else "after a stop"
        seen = f"step {at}, {life}: {told(found[at])}" if at < len(found) else f"no step {at}"
        why = "a stop that the optimizer notices changes what is trained"
        return [Finding("other-steps", f"as without a stop, {expected}", (seen,), why)]
    return []


def _another_end(whole: RankRun, last: RankRun, name: str) -> list[Finding]:
    """The first number of the module's weights, or of its buffer, that is another one when all is done."""
    owed, found = whole.value(name), last.value(name)
    if owed is None or found is None or _alike(owed.numbers, found.numbers):
        return []
    pairs = enumerate(zip(owed.numbers, found.numbers, strict=True))
    at = next(at for at, (one, other) in pairs if abs(one - other) >= TOLERANCE)
    expected = f"the {name} of a job that was not stopped: {owed.numbers[at]:.4g} for sample {at}"
    what = "the module's or the optimizer's state" if name == "weights" else "what training writes into a buffer"
    why = f"the same steps were made: {what} was not saved, or not loaded"
    return [Finding(f"other-{name}", expected, (f"{found.numbers[at]:.4g} for sample {at}",), why)]


def _alike(these: Sequence[float], those: Sequence[float]) -> bool:
    return len(these) == len(those) and all(
        abs(one - other) < TOLERANCE for one, other in zip(these, those, strict=True)
    )


def _was_read(scenario: LoopScenario, trace: Trace) -> bool:
    """Whether all epochs were read, which is LOOP-1's to say, so that steps can be compared."""
    return (
        not _rank(trace).failure
        and [each.batches for each in passes_of(_rank(trace))] == [scenario.micro_batches] * scenario.epochs
    )


def _foreign(gradient: tuple[float, ...], group: list[list[int]]) -> bool:
    """Whether more is in a gradient than its group: another sample, or one of its own once more."""
    own = mean_of(group)
    return any(share > own.get(sample, 0.0) + TOLERANCE for sample, share in enumerate(gradient)) and all(
        gradient[sample] > share - TOLERANCE for sample, share in own.items()
    )


def _crossed(scenario: LoopScenario, passes: list[Pass]) -> Iterator[list[Finding]]:
    """The steps that begin an epoch with what the one before it left."""
    for at, (before, going) in enumerate(pairwise(passes), 1):
        if not going.steps or scenario.micro_batches % scenario.accumulation == 0:
            continue
        group, (*_, rest) = groups_of(scenario, going)[0], groups_of(scenario, before)
        left = {sample for batch in rest for sample in batch} - {sample for batch in group for sample in batch}
        if any(going.steps[0][sample] > TOLERANCE for sample in left):
            seen = (f"epoch {at}, step 0: {told(going.steps[0])}",)
            why = f"epoch {at - 1} left {' '.join(str(each) for each in sorted(left))} behind: zero what is not stepped"
            yield [Finding("crossed", f"nothing but {told_group(group)}", seen, why)]
