"""The checks of chapter 11 for sources that are read as one, by weights and a stopping rule."""

from math import log
from types import SimpleNamespace

from conformance.report.script.checks.common import epochs_of, failure_in, samples_of, times_of
from conformance.report.script.checks.order import same_order
from conformance.report.script.judge import give_up


def nothing_twice_from_a_source(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """MIX-1: a sample comes again only when its source has been through."""
    for epochs in epochs_of(runs["main"]):
        times = times_of(case, epochs)
        for at, source in enumerate(case.sources):
            total = sum(times[index] for index in source)
            passes = -(-max(0, total - case.most_repeated) // len(source)) if case.until_all else 1
            again = [index for index in source if times[index] > passes]
            if sum(times[index] - passes for index in again) > case.most_repeated:
                return f"sample {again[0]} of source {at} comes {times[again[0]]} times, {total} of {len(source)} came"
    return ""


def stops_as_asked(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """MIX-2: the epoch ends when the first source is exhausted, or all are; not before, nor much later."""
    if failure_in(runs["main"]):
        return f"the loader {failure_in(runs['main'])}"
    for epochs in epochs_of(runs["main"]):
        times = times_of(case, epochs)
        lost = [[index for index in source if not times[index]] for source in case.sources]
        early = [at for at, samples in enumerate(lost) if len(samples) > case.most_lost]
        if early and (case.until_all or len(early) == len(lost)):
            return f"samples {lost[early[0]][:8]} of source {early[0]} come on no rank"
        more = [sum(times[index] for index in source) - len(source) for source in case.sources]
        if case.until_all and min(more) > max(1, case.most_lost):
            return "every source comes again"
    return ""


def proportions(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """MIX-3: the samples of each source are as many as its weight says, within what chance explains."""
    found = (out_of_proportion(case, epochs) for epochs in epochs_of(runs["main"]))
    return next(filter(None, found), "")


def ranks_alike(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """MIX-4: each rank has the same mixture, and ends with the others."""
    for epochs in epochs_of(runs["main"]):
        steps = [len(epoch.steps) for epoch in epochs]
        if max(steps) - min(steps) > case.most_apart:
            return f"the ranks have {', '.join(map(str, steps))} steps, and may differ by {case.most_apart}"
        for rank, epoch in enumerate(epochs):
            if out_of_proportion(case, (epoch,)):
                return f"rank {rank}: {out_of_proportion(case, (epoch,))}"
    return ""


def out_of_proportion(case: SimpleNamespace, epochs: tuple[SimpleNamespace, ...]) -> str:
    """The source of which so many come less than once in 10^15 times (Chernoff's bound)."""
    times = times_of(case, epochs)
    shares = [sum(times[index] for index in source) for source in case.sources]
    for at, (hits, weight) in enumerate(zip(shares, case.weights, strict=True)):
        total = max(1, sum(shares))
        parts = ((hits / total, weight), (1 - hits / total, 1 - weight))
        if sum(shares) and -total * sum(came * log(came / due) for came, due in parts if came > 0) < log(1e-15):
            return f"{hits} of {total} samples are of source {at}, and its weight is {weight:.0%}"
    return ""


def goes_on_after_a_restart(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """MIX-8: a mixture that was stopped in mid-epoch goes on from its state where it stopped, in every source."""
    if failure_in(runs["unbroken"]):
        give_up(f"without a restart the loader {failure_in(runs['unbroken'])}")
    return f"the loader {failure_in(runs['main'])}" if failure_in(runs["main"]) else same_order(case, runs)


def sources_in_order(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """MIX-6: unshuffled, one rank delivers the samples of each source in their order, and again from its beginning."""
    for epoch in runs["main"][0].epochs:
        for at, source in enumerate(case.sources):
            came = [index for index in samples_of(epoch) if index in source]
            if came != [source[place % len(source)] for place in range(len(came))]:
                return f"of source {at} come {came[:12]}, which is not its order"
    return ""
