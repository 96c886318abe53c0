"""The checks of chapter 10: what a user sees when something goes wrong, and what is left behind. They read one rank."""

from types import SimpleNamespace

from conformance.report.script.checks.common import failure_in, first_failure, samples_of
from conformance.report.script.judge import give_up


def error_arrives(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """ERROR-1, ERROR-5, ERROR-6: what is raised reaches the consumer with its own type and text."""
    failure = first_failure(runs["main"][0])
    if failure is None:
        return "no error comes"
    by_index = case.fault.startswith("index")
    name, _, text = failure.message.partition(": ")
    right = name == ("IndexError" if by_index else "BrokenSample")
    told = by_index or text.endswith("is broken on purpose")
    return "" if failure.kind == "raised" and right and told else f"{failure.kind} {failure.message}"


def error_in_its_place(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """ERROR-2: every step before the failing one is delivered, then the error."""
    rank = runs["main"][0]
    if not rank.epochs:
        return f"the loader {failure_in([rank])}"
    failing = int(case.fault.partition("@")[2])
    expected = list(range(failing - failing % case.combined_batch))
    delivered = samples_of(rank.epochs[0])
    if delivered != expected:
        return f"before the error comes {delivered}, and {expected} should"
    return "" if rank.epochs[0].failure or rank.failure else "no error comes"


def no_short_epoch(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """ERROR-3: a sample that raises StopIteration or IndexError is not the end of the epoch."""
    rank = runs["main"][0]
    failure = rank.failure or rank.epochs[0].failure
    if failure:
        return "" if failure.kind == "raised" else f"the loader {failure.kind} ({failure.message})"
    skipped = {int(case.fault.partition("@")[2])} if case.errors == "skip" else set()
    lost = [sorted(set(case.undisturbed) - set(samples_of(epoch)) - skipped) for epoch in rank.epochs]
    return next((f"an epoch ends without an error and without {told}" for told in lost if told), "")


def is_an_error(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """ERROR-4, ERROR-7: a worker that dies or hangs is an error."""
    failure = first_failure(runs["main"][0])
    if failure is None:
        return "the epochs end without an error"
    return "" if failure.kind == "raised" else f"the loader {failure.kind} ({failure.message})"


def only_the_failing_sample_is_skipped(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """ERROR-8: every sample but the failing one comes once."""
    failure = first_failure(runs["main"][0])
    if failure:
        return f"the loader {failure.kind} ({failure.message})"
    failing = int(case.fault.partition("@")[2])
    for epoch in runs["main"][0].epochs:
        samples = samples_of(epoch)
        wrong = [index for index in case.undisturbed if samples.count(index) != 1 and index != failing]
        if wrong or samples.count(failing) > 1 or any(len(step) > case.combined_batch for step in epoch.steps):
            return f"sample {failing} fails, and {epoch.steps} comes"
    return ""


def nothing_left(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """LEAK-1 to LEAK-4: a second round leaves nothing behind that the first one did not."""
    rank = runs["main"][0]
    if rank.failure and rank.failure.kind != "raised":
        give_up(f"the loader {failure_in([rank])}")
    return str(rank.remark)


def memory_does_not_grow(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """LEAK-5: with 32 epochs come no more than half of what they held, or not with each 32 of three times as many."""
    rank = runs["main"][0]
    if rank.failure:
        give_up(f"the loader {failure_in([rank])}")
    limit = max(4 * 2**20, 16 * case.samples * 2**16)
    return f"{rank.grown >> 20} MiB more are held, and {limit >> 20} may be" if rank.grown > limit else ""
