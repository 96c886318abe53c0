"""What the judges of loaders share: the arithmetic of a claim, what was delivered, and how it is shown to a person."""

from collections import Counter
from collections.abc import Iterable

from conformance.contract import Claims
from conformance.loader.conducts import ENDINGS, NOT_MADE_ANEW, RAISED
from conformance.loader.runs import UNDISTURBED
from conformance.loader.scenario import Scenario
from conformance.trace import UNASKED, Epoch, Failure, RankRun, Run, Trace
from conformance.trial.clause import Finding
from conformance.trial.words import clipped, count, place_of

_MOST_LINES = 5
_MOST_WIDTH = 72


def remainder(claims: Claims) -> bool:
    """Whether anything is promised about samples that do not divide evenly; without it no shard has a known size."""
    return claims.when_dropping is not None or claims.when_keeping is not None


def shard_sizes(scenario: Scenario, claims: Claims) -> tuple[int, int] | None:
    """(smallest, largest) number of samples that a rank's shard may hold before it is cut into steps; None: no claim.

    "drop" floors, "pad" rounds up, "uneven" allows both, and "once" says nothing of sizes. One rank holds everything,
    whatever is claimed.
    """
    samples, ranks = scenario.samples, scenario.world_size
    floor, ceiling = samples // ranks, -(-samples // ranks)
    policy = claims.policy(scenario.drop_last)
    if policy is None or (policy == "once" and ranks > 1):
        return None
    return {"drop": (floor, floor), "pad": (ceiling, ceiling), "uneven": (floor, ceiling), "once": (floor, ceiling)}[
        policy
    ]


def padded_to_full_steps(scenario: Scenario, claims: Claims) -> int | None:
    """The shard that is allowed too when "pad" is claimed and the rest is kept: a full last step on every rank."""
    if scenario.drop_last or claims.when_keeping != "pad":
        return None
    step = scenario.combined_batch
    return step * -(-scenario.samples // (step * scenario.world_size))


def allowed_repeats(scenario: Scenario, claims: Claims, delivered: int) -> int:
    """How many repeats padding explains in an epoch in which `delivered` samples came over all ranks (PART-4)."""
    if claims.policy(scenario.drop_last) != "pad":
        return 0
    return max(-scenario.samples % scenario.world_size, delivered - scenario.samples)


def steps_of(samples: int, scenario: Scenario) -> int:
    """The steps of a shard: whole ones under drop_last, else the rest as well."""
    step = scenario.combined_batch
    return samples // step if scenario.drop_last else -(-samples // step)


def dropped_limit(scenario: Scenario, claims: Claims) -> int:
    """The samples that may be missing in an epoch must be fewer than this (PART-2, PART-3)."""
    if scenario.drop_last:
        return scenario.combined_batch * scenario.world_size
    return scenario.world_size if claims.when_keeping == "drop" else 1


def as_assigned(claims: Claims, epochs: tuple[Epoch, ...]) -> tuple[Epoch, ...]:
    """The epochs to be compared with those of another run: each rank's, or all as one where time deals them out."""
    if not claims.deals_out_dynamically or len(epochs) == 1:
        return epochs
    return (Epoch(epochs[0].number, (tuple(sorted(index for epoch in epochs for index in epoch.samples)),)),)


def comparable(claims: Claims, epoch: Epoch) -> object:
    """What two epochs that must be alike have in common: their steps, or their samples where no order is promised."""
    return epoch.steps if claims.in_order else sorted(epoch.samples)


def usable(run: Run | None) -> bool:
    """Whether a run came to its end on every rank, so that its delivery can be judged."""
    return run is not None and not run.failed


def counts_itself(run: Run) -> bool:
    """Whether the loader has no `set_epoch`, so that its first epoch is its first, whatever number that was to have."""
    return any(rank.remark("counts") for rank in run.ranks)


def known_samples(scenario: Scenario, epochs: tuple[Epoch, ...]) -> Counter[int]:
    """How often each sample of the dataset was delivered, over all ranks. Foreign values are judged by PART-5."""
    return Counter(index for epoch in epochs for index in epoch.samples if 0 <= index < scenario.samples)


def repeated(scenario: Scenario, epochs: tuple[Epoch, ...]) -> list[int]:
    """The samples that came more than once, in order."""
    return sorted(index for index, times in known_samples(scenario, epochs).items() if times > 1)


def missing(scenario: Scenario, epochs: tuple[Epoch, ...]) -> list[int]:
    """The samples that no rank delivered, in order."""
    counts = known_samples(scenario, epochs)
    return [index for index in range(scenario.samples) if index not in counts]


def show(epochs: tuple[Epoch, ...], notes: dict[int, str] | None = None, label: str = "") -> tuple[str, ...]:
    """The delivery of each rank as a line: steps in bars, samples in them; `notes` are put after a rank's line."""
    notes = notes or {}
    # A rank that has a note is shown before those that have none, if not all fit.
    order = sorted(range(len(epochs)), key=lambda rank: (rank not in notes, rank))[:_MOST_LINES]
    lines = [_line(rank, epochs[rank], notes.get(rank, ""), label) for rank in sorted(order)]
    hidden = len(epochs) - len(lines)
    return (*lines, f"... and {hidden} more ranks") if hidden else tuple(lines)


def _line(rank: int, epoch: Epoch, note: str, label: str) -> str:
    steps = " | ".join(" ".join(map(str, step)) for step in epoch.steps) if epoch.steps else "(no steps)"
    line = f"{label}rank {rank}: {clipped(steps, _MOST_WIDTH)}"
    return f"{line:<16} <- {note}" if note else line


def listed(samples: list[int]) -> str:
    """``sample 3``, ``samples 3, 5``, ``samples 3, 5, 7 and 9 more``."""
    shown = ", ".join(map(str, samples[:6]))
    more = f" and {len(samples) - 6} more" if len(samples) > 6 else ""
    return f"sample{'s' if len(samples) > 1 else ''} {shown}{more}"


def claimed(scenario: Scenario, claims: Claims) -> str:
    """The claim about the remainder that binds this scenario, as an adapter writes it."""
    name = "when_dropping" if scenario.drop_last else "when_keeping"
    return f'{name}="{claims.policy(scenario.drop_last)}"'


def ends(run: Run, allowed: tuple[str, ...]) -> list[Finding]:
    """What is found of a rank whose run did not come to its end, other than in an `allowed` way."""
    for rank in run.ranks:
        if rank.failure and rank.failure.kind not in allowed:
            circumstance = "" if run.name == "main" else f" ({run.name})"
            why = "a valid request is answered by an epoch that ends by itself"
            return [
                Finding(
                    f"{rank.failure.kind}-in-{rank.failure.where}", "the epoch ends" + circumstance, _endings(run), why
                )
            ]
    return []


def _endings(run: Run) -> tuple[str, ...]:
    return tuple(f"rank {rank.rank}: {_ending(rank)}" for rank in run.ranks[:5])


def _ending(rank: RankRun) -> str:
    return rank.failure.sentence() if rank.failure else count(sum(len(epoch.steps) for epoch in rank.epochs), "step")


def whole(scenario: Scenario, claims: Claims, epoch: Epoch) -> bool:
    """Whether an epoch of one rank holds every sample once, and, unshuffled, in order; padding may follow."""
    if epoch.failure:
        return False
    samples = epoch.samples
    expected = list(range(scenario.samples))
    pads = claims.when_keeping == "pad" and set(samples[scenario.samples :]) <= set(expected)
    first = list(samples[: scenario.samples] if pads else samples)
    in_order = claims.in_order and scenario.dataset == "map"
    return first == expected if in_order else sorted(first) == expected


def fails_anyway(trace: Trace) -> bool:
    """Whether the same request fails as well where nothing disturbs it: COUNT-6, COUNT-7 or WORK-3 names that."""
    plain = trace.variant(UNDISTURBED)
    return plain is not None and plain.failed


def missed(scenario: Scenario, trace: Trace, epoch: Epoch) -> Counter[int]:
    """What an epoch lacks of the one that nothing disturbs; until that run is made, of the dataset."""
    return Counter(_undisturbed(scenario, trace, epoch)) - Counter(epoch.samples)


def repeats(scenario: Scenario, trace: Trace, epoch: Epoch) -> Counter[int]:
    """What an epoch holds more often than the one that nothing disturbs."""
    return Counter(epoch.samples) - Counter(_undisturbed(scenario, trace, epoch))


def _undisturbed(scenario: Scenario, trace: Trace, epoch: Epoch) -> tuple[int, ...]:
    plain = trace.variant(UNDISTURBED)
    if plain is None or plain.failed:
        return tuple(range(scenario.samples))
    epochs = plain.ranks[0].epochs
    # Unshuffled, each epoch is like the first one of a loader: a later one may have been spoilt by being a later one.
    return epochs[min(epoch.number, len(epochs) - 1) if scenario.shuffle else 0].samples


def as_undisturbed(scenario: Scenario, claims: Claims, trace: Trace, epoch: Epoch) -> bool:
    """Whether an epoch of the one rank is that of the same request which nothing disturbs.

    Until that run is made, whether it is whole beyond doubt. Under a shuffle the order is judged where the consumer has
    said which epoch it is, and if what came before the disturbance was the same: else ORDER-5 judges it, and which
    samples an epoch that was counted by the loader itself leaves over is its own.
    """
    if epoch.failure:
        return False
    if trace.variant(UNDISTURBED) is None:
        return not scenario.shuffle and whole(scenario, claims, epoch)
    expected = _undisturbed(scenario, trace, epoch)
    if scenario.shuffle and claims.epochs == "set_epoch" and _began_alike(trace):
        return epoch.samples == expected if claims.in_order else sorted(epoch.samples) == sorted(expected)
    if scenario.shuffle:
        once = len(set(epoch.samples)) >= len(set(expected))
        return len(epoch.samples) == len(expected) and once
    in_order = claims.in_order and scenario.dataset == "map"
    return epoch.samples == expected if in_order else sorted(epoch.samples) == sorted(expected)


def refuses_the_type(rank: RankRun) -> bool:
    """Whether a loader that takes samples of some types only says so, with the name of the one that it does not."""
    return rank.failure is not None and rank.failure.kind == "raised" and bool(rank.remark("named"))


def _began_alike(trace: Trace) -> bool:
    """Whether the first steps, which nothing had disturbed yet, are those of the run that nothing disturbs."""
    plain = trace.variant(UNDISTURBED)
    heads = [run.ranks[0].epochs[0].samples for run in (trace.main, plain) if run and run.ranks[0].epochs]
    length = min(map(len, heads), default=0)
    return length > 0 and heads[0][:length] == heads[-1][:length]


def failed_while_loading(rank: RankRun) -> bool:
    """Whether a loader that reads the whole dataset in `load` failed there: before any epoch, and it is right to."""
    return rank.failure is not None and rank.failure.kind == "raised" and rank.failure.where == "load"


def error_text(scenario: Scenario) -> str:
    """The error that a fault raises, as a report says it."""
    if scenario.error in ENDINGS or (scenario.raises_base and scenario.num_workers):
        return "an error"
    return f"{_name_of(scenario)}: ... {ON_PURPOSE}"


def lost_of_the_error(scenario: Scenario, failure: Failure) -> str:
    """What an error has lost of the one that a fault raised: its "type", its "text", or nothing.

    One that can't be rebuilt in another process may come as any other that names its class. Of one that is no Exception
    either the class or the text is enough; it may end the worker that meets it, of which any error may tell.
    """
    name = _name_of(scenario)
    # No generator can pass these on as they are.
    if scenario.error in ENDINGS:
        return ""
    if scenario.raises_base:
        return "" if scenario.num_workers or name in failure.message or ON_PURPOSE in failure.message else "text"
    if not failure.message.startswith(f"{name}:"):
        quoted = scenario.error in NOT_MADE_ANEW and name in failure.message
        if not quoted:
            return "type"
    return "" if ON_PURPOSE in failure.message else "text"


def _name_of(scenario: Scenario) -> str:
    return RAISED.get(scenario.error, "BrokenSample")


ON_PURPOSE = "is broken on purpose"


def before_the_fault(scenario: Scenario, trace: Trace) -> list[int]:
    """The samples of the steps before the one that holds the failing sample."""
    plain, failing = trace.variant(UNDISTURBED), place_of(scenario.fault)
    kept: Iterable[int] = range(scenario.samples)
    if scenario.drop_last and plain is not None and not plain.failed:
        # Which samples are dropped is the loader's choice.
        kept = sorted({*plain.ranks[0].epochs[0].samples})
    before = [sample for sample in kept if sample < failing]
    return before if failing not in kept else before[: len(before) // scenario.combined_batch * scenario.combined_batch]


def in_known_order(scenario: Scenario, claims: Claims) -> bool:
    """Whether the steps have one right order: which worker of an iterable dataset comes next is free (WORK-6)."""
    return claims.in_order and (scenario.dataset == "map" or scenario.num_workers < 2)


def wrong_length(epoch: Epoch, is_known: bool = False) -> str:
    """What is wrong with the `len()` before an epoch that was read to its end, or "" (COUNT-4).

    It may be a TypeError. `is_known`: a length is claimed, so that there must be one.
    """
    if epoch.length == UNASKED:
        return ""
    if isinstance(epoch.length, int):
        steps = len(epoch.steps)
        return "" if epoch.length == steps else f"len() = {epoch.length}, but {count(steps, 'step')}"
    if epoch.length is None:
        return "has no len()" if is_known else ""
    return "" if epoch.length.startswith("TypeError") and not is_known else f"len() raises {epoch.length}"
