"""The checks of chapter 5: what comes of a loader that reads ahead, how far it reads, and how it ends."""

import re
from types import SimpleNamespace

from conformance.report.script.checks.common import failure_in, first_failure, samples_of
from conformance.report.script.checks.faults import error_arrives, error_in_its_place, is_an_error
from conformance.report.script.checks.life import amiss
from conformance.report.script.judge import give_up


def same_steps(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """ASYNC-1: asynchronously each rank delivers the steps that it delivers synchronously."""
    if failure_in(runs["synchronous"]):
        give_up(f"synchronously the loader {failure_in(runs['synchronous'])}")
    if failure_in(runs["main"]):
        return f"asynchronously the loader {failure_in(runs['main'])}"
    for position, (ahead, plain) in enumerate(zip(runs["main"], runs["synchronous"], strict=True)):
        for here, there in zip(ahead.epochs, plain.epochs, strict=True):
            if ordered_steps(case, here) != ordered_steps(case, there):
                return f"in epoch {here.number}, rank {position} gets other steps than synchronously"
    return ""


def ordered_steps(case: SimpleNamespace, epoch: SimpleNamespace) -> list[list[int]]:
    """The steps of an epoch, sorted where their order is free: which worker of a stream comes next is."""
    free = not case.in_order or (case.dataset == "iterable" and case.num_workers > 1)
    return sorted(epoch.steps) if free else epoch.steps


def held_step_stays(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """ASYNC-2: what the consumer holds does not change until it asks for the next step."""
    if failure_in(runs["main"]):
        give_up(f"the loader {failure_in(runs['main'])}")
    return str(runs["main"][0].remark)


def no_further_than_the_buffer(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """ASYNC-3: at most buffer_size steps, and the one that each worker is at, are read beyond the one that is held."""
    held = int(case.conduct.partition("@")[2]) + 1 if case.conduct.startswith("look") else 0
    most = (held + case.buffer_size + case.num_workers) * case.combined_batch
    reads = reads_counted(runs)
    return f"{reads} samples are read while {held} steps were asked for, and {most} may be" if reads > most else ""


def early_as_asked(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """ASYNC-4: before the first iterator the buffer is filled if that is asked for, and else one step is read."""
    reads, step = reads_counted(runs), case.combined_batch
    if case.early_preload:
        whole = case.samples - case.samples % step if case.drop_last else case.samples
        least = min(whole, max(1, case.buffer_size) * step)
        return f"{reads} samples are read before iter(), and {least} should be" if reads < least else ""
    most = (1 + case.num_workers) * step
    return f"{reads} samples are read before iter(), and {most} may be" if reads > most else ""


def next_epoch_as_asked(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """ASYNC-5: the next epoch is begun before it is asked for if that is wanted, and else not."""
    begun = reads_counted(runs) > case.samples
    if begun == case.load_indefinitely:
        return ""
    return (
        "the next epoch is begun, and should not be" if begun else "the next epoch is not begun before it is asked for"
    )


def reads_counted(runs: dict[str, list[SimpleNamespace]]) -> int:
    """The reads that were counted when the loader was quiet."""
    (rank,) = runs["main"]
    if not hasattr(rank, "counted") or not rank.reads:
        give_up(f"nothing could be counted: {failure_in([rank]) or 'the dataset is not read'}")
    return int(rank.counted)


def begins_again(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """ASYNC-6: an epoch begun after one that was left or that failed is whole, from its first step."""
    (rank,) = runs["main"]
    if rank.failure or len(rank.epochs) < 2 - (case.conduct == "later"):
        return f"the epoch does not come: {failure_in([rank])}"
    epoch = rank.epochs[-1]
    if "synchronous" not in runs:
        told = "" if case.fault and epoch.failure else amiss(case, epoch)
        return f"the next epoch {told}" if told else ""
    if failure_in(runs["synchronous"]):
        give_up(f"synchronously the loader {failure_in(runs['synchronous'])}")
    other = runs["synchronous"][0].epochs[-1]
    if case.shuffle and case.epochs_claim != "set_epoch":
        same = sorted(map(len, epoch.steps)) == sorted(map(len, other.steps))
        same = same and len(set(samples_of(epoch))) >= len(set(samples_of(other)))
    else:
        same = ordered_steps(case, epoch) == ordered_steps(case, other)
    return "" if same else f"iter() gives {epoch.steps}, and should give {other.steps}"


def errors_arrive(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """ASYNC-7: an error of the dataset arrives at its step with its own type; a process that is gone is an error."""
    if not case.fault.startswith("raise"):
        return is_an_error(case, runs)
    told = error_arrives(case, runs)
    ordered = case.in_order and (case.dataset == "map" or case.num_workers < 2)
    return told or (error_in_its_place(case, runs) if ordered else "")


def ends_with_its_loader(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """ASYNC-8: however a loader ends, nothing of it is left; an interrupt comes out of next()."""
    (rank,) = runs["main"]
    own = case.conduct.partition("@")[0] in ("dropped", "leave", "ended", "interrupt", "quit")
    if rank.failure and own:
        return f"the loader {failure_in([rank])}"
    return str(getattr(rank, "ending", "") or rank.remark)


def rebatched_once(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """ASYNC-9: full steps are made of what the workers read, and less than one step is dropped."""
    (rank,) = runs["main"]
    if rank.failure:
        return f"the loader {failure_in([rank])}"
    copies = max(1, case.num_workers) if case.iterable_workers == "replicated" else 1
    full, rest = divmod(case.samples * copies, case.combined_batch)
    sizes = [case.combined_batch] * full + ([] if case.drop_last or not rest else [rest])
    came = samples_of(rank.epochs[0])
    often = any(came.count(index) > copies or not 0 <= index < case.samples for index in came)
    wrong = often or [len(step) for step in rank.epochs[0].steps] != sizes
    return f"{rank.epochs[0].steps} comes, and steps of {sizes} should" if wrong else ""


def same_length(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """ASYNC-10: len() is the same asynchronously and synchronously, before, within and after an epoch."""
    if failure_in(runs["main"]):
        return f"asynchronously the loader {failure_in(runs['main'])}"
    if failure_in(runs["synchronous"]):
        give_up(f"synchronously the loader {failure_in(runs['synchronous'])}")
    here, there = runs["main"][0].lengths, runs["synchronous"][0].lengths
    return "" if here == there else f"len() is {here} before, within and after an epoch, and synchronously {there}"


def odd_sample_is_seen(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """ASYNC-11: a sample unlike those before it is delivered as it is, or an error names it."""
    failure = first_failure(runs["main"][0])
    if failure is None:
        return str(runs["main"][0].remark)
    named = failure.kind == "raised" and re.search(rf"\b{case.samples // 2}\b", failure.message)
    return "" if named else f"{failure.kind} {failure.message}, which does not name item {case.samples // 2}"
