"""The checks of chapter 1: sizes and numbers of steps, and how epochs end."""

from types import SimpleNamespace

from conformance.report.script.checks.common import epochs_of, samples_of, times_of


def full_steps(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """BATCH-1: a full step holds the combined batch, and no step holds more."""
    for epochs in epochs_of(runs["main"]):
        for rank, epoch in enumerate(epochs):
            largest = max((len(step) for step in epoch.steps), default=0)
            too_small = 0 < largest < case.combined_batch <= len(samples_of(epoch))
            if too_small or largest > case.combined_batch:
                return (
                    f"the largest step of rank {rank} holds {largest} samples, and {case.combined_batch} are asked for"
                )
    return ""


def only_the_last_step_is_short(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """BATCH-2: every step but the last is full; under drop_last the last one too."""
    for epochs in epochs_of(runs["main"]):
        for rank, epoch in enumerate(epochs):
            sizes = [len(step) for step in epoch.steps if step]
            full = case.combined_batch if case.drop_last else max(sizes, default=0)
            short = [size for size in (sizes if case.drop_last else sizes[:-1]) if size < full]
            if short:
                return f"a step of rank {rank} holds {short[0]} samples, and a full one {full}"
    return ""


def steps_in_order(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """BATCH-3: the samples inside a step follow each other as in the dataset."""
    for epochs in epochs_of(runs["main"]):
        times = times_of(case, epochs)
        for rank, epoch in enumerate(epochs):
            for step in epoch.steps:
                # A step that holds repeats is padded, and padding may start again at an earlier sample.
                if step != sorted(step) and all(times[index] == 1 for index in step):
                    return f"a step of rank {rank} holds {' '.join(map(str, step[:8]))}, which is not in order"
    return ""


def refused(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """BATCH-4, BATCH-5: a factor that can't be is an error before a sample is delivered."""
    for rank in runs["main"]:
        samples = sum(len(samples_of(epoch)) for epoch in rank.epochs)
        if rank.failure is None:
            return f"{case.refusal} is no error; {samples} samples come"
        if rank.failure.kind != "raised" or samples:
            return f"{case.refusal} is no plain error: {rank.failure.kind} after {samples} samples"
    return ""


def number_of_steps(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """COUNT-1, COUNT-2, COUNT-3: the largest shard is cut into whole steps; the rest makes one more if it is kept."""
    down, up = case.samples // case.world_size, -(-case.samples // case.world_size)
    shard = down if case.policy == "drop" else up
    expected = shard // case.combined_batch if case.drop_last else -(-shard // case.combined_batch)
    for epochs in epochs_of(runs["main"]):
        most = max(len(epoch.steps) for epoch in epochs)
        if most != expected:
            return f"{most} steps on the rank with most of them, and {shard} samples make {expected}"
        if any(not step for epoch in epochs for step in epoch.steps):
            return "a step without samples"
        fewest = min(len(epoch.steps) for epoch in epochs)
        if case.drop_last and case.policy == "uneven" and fewest < down // case.combined_batch:
            return f"{fewest} steps on the rank with fewest of them, and {down} samples make more"
    return ""


def length_is_true(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """COUNT-4: len() is what the epoch yields, or TypeError where it can't be known."""
    for epochs in epochs_of(runs["main"]):
        for rank, epoch in enumerate(epochs):
            # A number, or the exception in words, or None where there is no len().
            unknown = epoch.length is None or str(epoch.length).startswith("TypeError")
            if epoch.length != len(epoch.steps) and (case.length or not unknown):
                return f"len() of rank {rank} gives {epoch.length}, and the epoch {len(epoch.steps)} steps"
    return ""


def equal_steps(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """COUNT-5: all ranks yield the same number of steps."""
    for epochs in epochs_of(runs["main"]):
        steps = [len(epoch.steps) for epoch in epochs]
        if len(set(steps)) > 1:
            return f"the ranks yield {', '.join(map(str, steps))} steps"
    return ""


def tiny_epochs_end(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """COUNT-6: less than one step of all ranks ends at once; less than the claimed smallest is an error."""
    if case.samples >= case.least_samples:
        return epochs_end(case, runs)
    failures = [rank.failure for rank in runs["main"]]
    if None in failures:
        return f"{case.samples} samples are below the smallest claimed, and that is no error"
    found = [failure for failure in failures if failure.kind != "raised"]
    return f"{found[0].kind} {found[0].message}" if found else ""


def epochs_end(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """COUNT-7: every valid epoch ends by itself."""
    found = [rank.failure for ranks in runs.values() for rank in ranks if rank.failure]
    return f"{found[0].kind} {found[0].message}" if found else ""
