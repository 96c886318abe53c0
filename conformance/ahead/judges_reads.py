"""Chapter 5, how far ahead: the judges of ASYNC-3 to ASYNC-5, on what had been read when the loader was quiet."""

from conformance.ahead.judges import ahead, conduct_of
from conformance.contract import Claims
from conformance.loader.judging import ends
from conformance.loader.scenario import Scenario
from conformance.trace import RankRun, Topic, Trace
from conformance.trial.clause import Finding, Verdict, clause
from conformance.trial.words import count


def _reads(rank: RankRun, at: Topic) -> int:
    return int(rank.remark(at) or 0)


def _seen(rank: RankRun) -> bool:
    """Whether the dataset's reads say how far the loader is: one that reads files of its own has read it in `load`."""
    return _reads(rank, "read") > _reads(rank, "loaded")


def _seen_in_the_first_epoch(scenario: Scenario, rank: RankRun, reads: int) -> bool:
    """The same where `reads` came before the first epoch was over.

    A loader that has read everything by then may be done, and whether that was in `load` or just after it is chance:
    there, only another epoch shows that the dataset is read again.
    """
    return _seen(rank) and (reads < scenario.samples or (scenario.epochs > 1 and _reads(rank, "read") > reads))


def _steps_read(reads: int, scenario: Scenario, when: str) -> tuple[str, ...]:
    steps = count(-(-reads // scenario.combined_batch), "step")
    return (f"{when}, {count(reads, 'sample')} had been read: {steps}",)


@clause("ASYNC-3", family="async", dataset="any", applies=ahead("buffer_size"), floor=3)
def no_further_than_the_buffer(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """No more than buffer_size steps, and the one that each worker is at, are read beyond the one that is held."""
    (rank, *_) = trace.main.ranks
    if rank.failure or not scenario.buffer_size or conduct_of(scenario) not in ("look", "before", "between"):
        return None
    if "left" in scenario.words:  # what an epoch that was left begins is judged by ASYNC-5
        return None
    if conduct_of(scenario) == "between" or "later" in scenario.words:
        return _no_further_in_the_second(scenario, rank)
    looks = conduct_of(scenario) == "look"
    held = int(scenario.conduct.partition("@")[2]) + 1 if looks else 0
    steps = held + scenario.buffer_size + scenario.num_workers
    reads = _reads(rank, "held" if looks else "before")
    if not _seen_in_the_first_epoch(scenario, rank, reads):
        return None
    if reads <= steps * scenario.combined_batch:
        # What is read near the end of an epoch may be the next one's, or nothing.
        return [] if steps * scenario.combined_batch < scenario.samples else None
    when = f"while step {held - 1} was held" if looks else "before the first iterator"
    expected = f"at most {count(steps, 'step')} by then"
    why = f"buffer_size={scenario.buffer_size} is how many steps there is room for beside the one that is held"
    return [Finding("too-far-ahead", expected, _steps_read(reads, scenario, when), why)]


def _no_further_in_the_second(scenario: Scenario, rank: RankRun) -> Verdict:
    """The same in the second epoch: what was read beyond the first one, of which each sample was read once."""
    looks = conduct_of(scenario) == "look"
    held = int(scenario.conduct.partition("@")[2]) + 1 if looks else 0
    most = (held + scenario.buffer_size + scenario.num_workers) * scenario.combined_batch
    reads, wanted = _reads(rank, "held" if looks else "between"), 3 if looks else 2
    # A loader that keeps what it has read shows nothing of how far it is.
    anew = scenario.epochs >= wanted and _reads(rank, "read") >= wanted * scenario.samples
    if most >= scenario.samples or not anew or scenario.drop_last:
        return None
    if reads - scenario.samples <= most:
        return []
    when = f"while step {held - 1} of epoch 1 was held" if looks else "before epoch 1 was asked for"
    expected = f"at most {count(most // scenario.combined_batch, 'step')} of epoch 1 by then"
    why = f"buffer_size={scenario.buffer_size} is how many steps there is room for, in every epoch"
    lines = _steps_read(reads - scenario.samples, scenario, f"beyond epoch 0, {when}")
    return [Finding("too-far-ahead", expected, lines, why)]


@clause("ASYNC-4", family="async", dataset="any", applies=ahead("early_preload"), floor=2)
def early_as_asked(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Before the first iterator the buffer is filled with early preload, and at most one step is read without it."""
    (rank, *_) = trace.main.ranks
    if conduct_of(scenario) != "before":
        return None
    if rank.failure:
        return ends(trace.main, ())
    step, reads = scenario.combined_batch, _reads(rank, "before")
    least = scenario.reads_before
    most = (1 + scenario.num_workers) * step
    if not _seen_in_the_first_epoch(scenario, rank, reads) or (not least and most >= scenario.samples):
        return None
    lines = _steps_read(reads, scenario, "before the first iterator")
    if reads < least:
        why = "early_preload=True is asked for, so that the first steps are ready when they are wanted"
        return [Finding("not-early", f"{count(-(-least // step), 'step')} by then", lines, why)]
    if not scenario.early_preload and reads > most:
        why = "early_preload=False is asked for: nobody may ever want what is loaded"
        return [Finding("too-early", f"at most {count(most // step, 'step')} by then", lines, why)]
    return []


@clause("ASYNC-5", family="async", dataset="any", applies=ahead("load_indefinitely"), floor=2)
def next_epoch_as_asked(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """The next epoch is begun before it is asked for if that is wanted, and else not."""
    (rank, *_) = trace.main.ranks
    if conduct_of(scenario) != "between":
        return None
    if rank.failure:
        return ends(trace.main, ())
    if not scenario.samples or not _seen(rank):
        return None
    reads = _reads(rank, "between")
    if "left" in scenario.words:
        return _nothing_after_leaving(scenario, reads)
    if _reads(rank, "read") <= scenario.samples:
        # No sample was read twice: a loader that keeps all begins an epoch without a read. Only a second epoch tells.
        return [] if scenario.epochs > 1 else None
    lines = (f"after epoch 0 of {count(scenario.samples, 'sample')}, {reads} had been read in all",)
    if scenario.load_indefinitely and reads <= scenario.samples:
        why = "load_indefinitely=True is asked for: the next epoch is to begin without a wait"
        return [Finding("waits", "the first reads of epoch 1", lines, why)]
    if not scenario.load_indefinitely and reads > scenario.samples:
        why = "load_indefinitely=False is asked for: nobody may ever want another epoch"
        return [Finding("goes-on", "no read of epoch 1", lines, why)]
    return []


def _nothing_after_leaving(scenario: Scenario, reads: int) -> Verdict:
    """An epoch that is left begins no other one, if none is to begin before it is asked for."""
    steps = 1 + scenario.buffer_size + scenario.num_workers
    if scenario.load_indefinitely or not scenario.buffer_size or steps * scenario.combined_batch >= scenario.samples:
        return None
    if reads <= steps * scenario.combined_batch:
        return []
    lines = _steps_read(reads, scenario, "after epoch 0 was left in step 0")
    why = "load_indefinitely=False is asked for: nobody may ever want another epoch"
    return [Finding("goes-on-after-leaving", f"at most {count(steps, 'step')} of epoch 0", lines, why)]
