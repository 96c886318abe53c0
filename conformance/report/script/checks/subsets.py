"""The checks of chapter 11 for parts of a dataset, and for two loaders in one process."""

from types import SimpleNamespace

from conformance.report.script.checks.common import epochs_of, failure_in, samples_of, times_of


def nothing_else(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """SUBSET-1: what is delivered, and read, are samples of the subset; one other may be read."""
    for position, rank in enumerate(runs["main"]):
        came = [index for epoch in rank.epochs for index in samples_of(epoch)]
        foreign = [index for index in came if index in range(case.samples) and index not in case.indices]
        if foreign:
            return f"rank {position} delivers sample {foreign[0]}, which is not in the subset"
        read = sorted({each.index for each in rank.reads} - {*case.indices})
        if len(read) > 1:
            return f"rank {position} reads samples {read[:8]}, which are not in the subset"
    return ""


def whole_subset(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """SUBSET-2: a subset is delivered as a dataset of so many samples is: nothing lost, nothing twice."""
    if failure_in(runs["main"]):
        return f"the loader {failure_in(runs['main'])}"
    for epochs in epochs_of(runs["main"]):
        times = times_of(case, epochs)
        lost = [index for index in case.indices if not times[index]]
        again = [index for index in case.indices if times[index] > 1]
        if len(lost) > case.most_lost:
            return f"samples {lost[:8]} come on no rank, and at most {case.most_lost} may be lost"
        if sum(times[index] - 1 for index in again) > case.most_repeated:
            return f"samples {again[:8]} come again, and padding explains {case.most_repeated}"
    return ""


def order_of_the_indices(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """SUBSET-3: unshuffled, one rank delivers the samples in the order of the indices."""
    for epoch in runs["main"][0].epochs:
        came = list(dict.fromkeys(index for index in samples_of(epoch) if index in case.indices))
        if came != sorted(came, key=case.indices.index):
            return f"the order is {came}, and that of the indices {case.indices}"
    return ""


def two_loaders_apart(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """SUBSET-4: two loaders in one process each deliver what they deliver alone."""
    for position, rank in enumerate(runs["main"]):
        for at, name in enumerate(("first", "second")):
            both = rank.epochs[at * case.epochs : (at + 1) * case.epochs]
            for here, there in zip(both, runs[name][position].epochs, strict=True):
                same = sorted(samples_of(here)) == sorted(samples_of(there))
                if not same or (case.in_order and here.steps != there.steps):
                    return f"the {name} loader gives {here.steps} beside the other, and {there.steps} alone"
    return ""


def nothing_in_place(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """SUBSET-5: indices and dataset are the caller's: after all epochs they are as they were."""
    return next((told for rank in runs["main"] for told in rank.epochs[-1].touched), "")
