"""Chapter 11, loaders of one process, and those that read a step ahead: cases and judges of ALONE-1 and PEEK-1."""

from collections.abc import Iterator

from conformance.contract import Claims
from conformance.loader.judging import ends, show, usable
from conformance.loader.scenario import Scenario, Style, simpler
from conformance.trace import Epoch, Trace
from conformance.trial.clause import Finding, Verdict, clause
from conformance.trial.tiers import Tier
from conformance.trial.words import count

# What may be read to learn what samples are like, as WORK-2 allows.
_ONE_MORE = 1
_STYLES: tuple[Style, ...] = ("map", "iterable")


def launched(claims: Claims, tier: Tier) -> Iterator[Scenario]:
    """A few samples of each kind of dataset, kept and dropped, shuffled and not."""
    for dataset in (each for each in _STYLES if each in claims.datasets):
        # Odd and even numbers of samples, and of steps.
        for samples, batch_size in ((2, 1), (3, 1), (7, 2), (12, 3), (26, 4)):
            for drop_last in (False, True):
                plain = Scenario(
                    samples, batch_size=batch_size, drop_last=drop_last, dataset=dataset, conduct="launched"
                )
                yield plain
                if samples == 7 and tier.name != "quick":
                    # Meeting takes a while.
                    yield simpler(plain, details="met")
                if claims.shuffle and dataset == "map":
                    yield simpler(plain, shuffle=True, seed=3)


@clause("ALONE-1", family="alone", dataset="any", applies=lambda claims: claims.ranks is None, floor=4)
def whole_in_any_process(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """A loader of one process delivers the same, whatever rank the process was started as, or says that it can't."""
    (rank,) = trace.main.ranks
    if rank.is_gone:
        return ends(trace.main, ())
    told = rank.remark("launched")
    if rank.failure or not rank.epochs:
        return None
    if told.startswith("raised") or (not told and _alike(scenario, claims, rank.epochs)):
        return []
    *_, last = rank.epochs
    why = "ranks=None is claimed: it is a loader of one process, and takes no rank from anywhere"
    met = ", in a process group" if "met" in scenario.words else ""
    lines = (
        *show(rank.epochs[:1], label="one process, as "),
        *show((last,), {0: told or f"RANK=1, WORLD_SIZE=2{met}"}, label="a launch's, as "),
    )
    return [Finding("takes-a-rank", "the same in a process that a launcher has started", lines, why)]


def _alike(scenario: Scenario, claims: Claims, epochs: tuple[Epoch, ...]) -> bool:
    """Whether both epochs hold the same; of shuffled ones, as much, for whether an order comes again ORDER-5 says."""
    plain, other = epochs
    if scenario.shuffle:
        return len(plain.samples) == len(other.samples)
    return plain.samples == other.samples if claims.in_order else sorted(plain.samples) == sorted(other.samples)


def peeking(claims: Claims, tier: Tier) -> Iterator[Scenario]:
    """A few steps on one rank and two, kept and dropped; a stream on one."""
    for dataset in (each for each in _STYLES if each in claims.datasets):
        for samples, ranks, batch_size in ((3, 1, 1), (4, 1, 1), (9, 1, 2), (20, 2, 2), (31, 1, 4)):
            for drop_last in (False, True):
                if ranks == 1 or dataset == "map":
                    yield Scenario(samples, ranks, batch_size, drop_last=drop_last, dataset=dataset, conduct="peeking")
        if claims.shuffle and dataset == "map":
            yield Scenario(12, batch_size=2, shuffle=True, seed=5, conduct="peeking")


@clause("PEEK-1", family="peek", dataset="any", applies=lambda claims: claims.lookahead == 1, floor=4)
def one_step_ahead(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """While the consumer holds a step, no more is read than that and the next one."""
    if not usable(trace.main):
        return None
    exercised = False
    for rank in trace.main.ranks:
        (epoch,) = rank.epochs
        reads = [int(each) for each in rank.remark("peeked").split()]
        for at, times in enumerate(reads):
            most = (at + 2) * scenario.combined_batch + _ONE_MORE
            exercised = exercised or len(epoch.samples) > most
            if times > most:
                expected = f"at most {count(most, 'read')} while step {at} is held"
                lines = show((epoch,), {0: f"{count(times, 'read')} at step {at}"}, label=f"rank {rank.rank}, as ")
                why = "lookahead=1 is claimed: it reads the next step to know whether this one is the last, and no more"
                return [Finding("too-far-ahead", expected, lines, why)]
    return [] if exercised else None
