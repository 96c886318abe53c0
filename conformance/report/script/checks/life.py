"""The checks of chapter 4, WORK-12 to WORK-17: what a loader owes its user between two epochs. They read one rank."""

from types import SimpleNamespace

from conformance.report.script.checks.common import failure_in, samples_of
from conformance.report.script.judge import give_up


def whole_after_leaving(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """WORK-12: the epoch after one that was left early is whole."""
    if failure_in(runs["main"]):
        return f"after an epoch was left early the loader {failure_in(runs['main'])}"
    found = (amiss(case, epoch) for epoch in runs["main"][0].epochs[1:])
    return next((f"the epoch after one that was left early {told}" for told in found if told), "")


def two_iterators(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """WORK-13: two iterators that are alive at once each give a whole epoch, or one of them an error."""
    rank = runs["main"][0]
    if rank.failure:
        return f"the loader {failure_in([rank])}"
    for name, epoch in zip(("first", "second"), rank.epochs, strict=True):
        raised = epoch.failure and epoch.failure.kind == "raised"
        if not raised and amiss(case, epoch):
            return f"the epoch of the {name} iterator {amiss(case, epoch)}"
    return ""


def whole_after_an_error(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """WORK-14: after a failing epoch the next one is whole, or an error."""
    rank = runs["main"][0]
    if rank.failure and rank.failure.kind != "raised":
        return f"the loader {failure_in([rank])}"
    if len(rank.epochs) < 2 or not rank.epochs[0].failure:
        give_up("the first epoch does not fail, or there is no second one")
    later = [epoch for epoch in rank.epochs[1:] if not epoch.failure or epoch.failure.kind != "raised"]
    found = (amiss(case, epoch) for epoch in later)
    return next((f"an epoch after an error {told}" for told in found if told), "")


def stays_at_its_end(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """WORK-15: after the end comes the end again, and closing twice is no error."""
    return f"the loader {failure_in(runs['main'])}" if failure_in(runs["main"]) else str(runs["main"][0].remark)


def kept_batches_stay(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """WORK-16: what the user holds never changes."""
    return f"the loader {failure_in(runs['main'])}" if failure_in(runs["main"]) else str(runs["main"][0].remark)


def types_survive(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """WORK-17: collating keeps values and types."""
    return f"the loader {failure_in(runs['main'])}" if failure_in(runs["main"]) else str(runs["main"][0].remark)


def amiss(case: SimpleNamespace, epoch: SimpleNamespace) -> str:
    """What keeps an epoch from being that of a loader that nothing disturbs; padding may follow."""
    if epoch.failure:
        return f"{epoch.failure.kind} {epoch.failure.message}"
    samples, expected = samples_of(epoch), case.undisturbed
    padding = set(samples[len(expected) :])
    if case.policy == "pad" and padding <= set(expected):
        samples = samples[: len(expected)]
    ordered = case.in_order and case.dataset == "map"
    whole = samples == expected if ordered else sorted(samples) == sorted(expected)
    return "" if whole else f"is not whole: {samples}"
