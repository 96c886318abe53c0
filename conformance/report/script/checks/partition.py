"""The checks of chapter 2: who gets which sample."""

from types import SimpleNamespace

from conformance.report.script.checks.common import epochs_of, first_sentence, missing_from, samples_of, times_of


def nothing_twice(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """PART-1, DRAW-6: no sample comes twice beyond the padding that is claimed."""
    return first_sentence(repeats_beyond_padding(case, epochs) for epochs in epochs_of(runs["main"]))


def repeats_beyond_padding(case: SimpleNamespace, epochs: tuple[SimpleNamespace, ...]) -> str:
    """Which sample comes again although no padding explains it."""
    times = times_of(case, epochs)
    repeats = times.total() - len(times)
    came = sum(len(samples_of(epoch)) for epoch in epochs)
    padding = max(-case.samples % case.world_size, came - case.samples) if case.policy == "pad" else 0
    if repeats <= padding:
        return ""
    sample = min(index for index in times if times[index] > 1)
    return f"sample {sample} comes {times[sample]} times; {repeats} repeats, and padding explains {padding}"


def nothing_lost(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """PART-2, PART-3: what is missing is less than one step of all ranks, and nothing where all is kept."""
    return first_sentence(lost_beyond_dropping(case, epochs) for epochs in epochs_of(runs["main"]))


def lost_beyond_dropping(case: SimpleNamespace, epochs: tuple[SimpleNamespace, ...]) -> str:
    """Which samples are missing although no dropping explains it."""
    lost = missing_from(case, epochs)
    most = case.world_size - 1 if case.policy == "drop" else 0
    if case.drop_last:
        most = case.combined_batch * case.world_size - 1
    if len(lost) <= most:
        return ""
    return (
        f"samples {' '.join(map(str, lost[:8]))} come on no rank: {len(lost)} in all, and at most {most} may be dropped"
    )


def padding_is_small(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """PART-4: padding completes the last round of ranks, or the last step of every rank, and nothing more."""
    return first_sentence(too_much_padding(case, epochs) for epochs in epochs_of(runs["main"]))


def too_much_padding(case: SimpleNamespace, epochs: tuple[SimpleNamespace, ...]) -> str:
    """How much more is repeated than the last round, or the last step, needs."""
    times = times_of(case, epochs)
    repeats = times.total() - len(times)
    came = sum(len(samples_of(epoch)) for epoch in epochs)
    round_of_all = case.combined_batch * case.world_size
    completes_last_step = not case.drop_last and came == round_of_all * -(-case.samples // round_of_all)
    if case.policy != "pad" or repeats < case.world_size or completes_last_step:
        return ""
    return f"{repeats} repeats in {came} samples, and {case.world_size - 1} complete the last round of ranks"


def nothing_foreign(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """PART-5: whatever comes is a sample of the dataset, whose samples are 1000, 1001, ..."""
    for epochs in epochs_of(runs["main"]):
        for rank, epoch in enumerate(epochs):
            foreign = [index for index in samples_of(epoch) if not 0 <= index < case.samples]
            if foreign:
                return f"rank {rank} delivers {1000 + foreign[0]}, which is no sample"
    return ""


def balanced(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """PART-6: shards are equal; under "uneven" they differ by at most one sample (one step under drop_last)."""
    return first_sentence(unbalanced(case, epochs) for epochs in epochs_of(runs["main"]))


def unbalanced(case: SimpleNamespace, epochs: tuple[SimpleNamespace, ...]) -> str:
    """How far the ranks' shares lie apart."""
    most = 0
    if case.policy == "once":
        return ""
    if case.policy == "uneven":
        most = case.combined_batch if case.drop_last else 1
    # Ranks with unequal numbers of steps are judged by another clause (COUNT-5).
    if most == 0 and len({len(epoch.steps) for epoch in epochs}) > 1:
        return ""
    sizes = [len(samples_of(epoch)) for epoch in epochs]
    if max(sizes) - min(sizes) <= most:
        return ""
    return f"the ranks get {', '.join(map(str, sizes))} samples, and may differ by {most}"


def same_shard(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """PART-7: the same request gives the same samples in both runs."""
    one, other = runs.values()
    for rank, (first, second) in enumerate(zip(one, other, strict=True)):
        # Where the second run begins at a later epoch, the last ones are compared.
        for here, there in zip(reversed(first.epochs), reversed(second.epochs), strict=False):
            if sorted(samples_of(here)) != sorted(samples_of(there)):
                return f"rank {rank} gets other samples the second time"
    return ""


def nobody_left_out(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """PART-8: over many shuffled epochs every sample comes at least once."""
    seen = {index for epochs in epochs_of(runs["main"]) for index in times_of(case, epochs)}
    never = [index for index in range(case.samples) if index not in seen]
    return f"samples {' '.join(map(str, never[:8]))} come in none of {case.epochs} epochs" if never else ""
