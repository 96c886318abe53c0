"""The checks of chapter 11 for equal steps, loaders of one process, those that read ahead, and epochs without end."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from conformance.report.script.checks.arithmetic import equal_steps
from conformance.report.script.checks.common import (
    epochs_of,
    failure_in,
    first_sentence,
    missing_from,
    samples_of,
    times_of,
)
from conformance.report.script.judge import give_up


def equal_steps_of_files(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """EQUAL-1: all ranks have the same number of steps; and where it is asked for files, a loader does not fail."""
    if failure_in(runs["main"]) and not case.shards:
        give_up(f"the loader {failure_in(runs['main'])}")
    return f"the loader {failure_in(runs['main'])}" if failure_in(runs["main"]) else equal_steps(case, runs)


def bounded_cost(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """EQUAL-2: what equal steps cost, and what is dropped by the file, is bounded."""
    for epochs in epochs_of(runs["main"]):
        times, lost = times_of(case, epochs), missing_from(case, epochs)
        repeats = times.total() - len(times)
        if len(lost) > case.most_lost:
            return f"{len(lost)} samples come on no rank, and at most {case.most_lost} may be dropped"
        if case.policy == "pad" and repeats > case.most_lost:
            return f"{repeats} repeats, and at most {case.most_lost} may be needed"
        if case.shards and repeats:
            return (
                f"sample {min(index for index in times if times[index] > 1)} comes again, of files that are dealt out"
            )
    return ""


def whole_in_any_process(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """ALONE-1: a loader of one process delivers the same whatever rank the process was started as, or raises."""
    (rank,) = runs["main"]
    if rank.failure and rank.failure.kind != "raised":
        return f"the loader {failure_in([rank])}"
    if rank.failure:
        give_up(f"the loader {failure_in([rank])}")
    plain, launched = (samples_of(epoch) for epoch in rank.epochs)
    no_loader = getattr(rank.epochs[1], "refused", "")
    same = sorted(plain) == sorted(launched) and (plain == launched or not case.in_order)
    if no_loader or same or (case.shuffle and len(plain) == len(launched)):
        return ""
    return f"with RANK=1 and WORLD_SIZE=2 in the environment comes {launched}, and {plain} without"


def one_step_ahead(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """PEEK-1: while the consumer holds a step, no more is read than that and the next one, but for one sample."""
    for position, rank in enumerate(runs["main"]):
        for at, reads in enumerate(rank.epochs[0].counted):
            most = (at + 2) * case.combined_batch + 1
            if reads > most:
                return f"while step {at} of rank {position} is held there were {reads} reads, and may be {most}"
    return ""


# --- epochs without end ---------------------------------------------------------------------------------------------


def goes_on(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """ENDLESS-1: every rank has a next step, as long as anybody asks, and none is larger than asked for, or empty."""
    if failure_in(runs["main"]):
        return f"the loader {failure_in(runs['main'])}"
    nothing = case.samples < (case.combined_batch if case.drop_last else 1) * case.world_size
    for rank, epoch in enumerate(epochs_of(runs["main"])[0]):
        if len(epoch.steps) < case.steps and not nothing:
            return f"rank {rank} ends after {len(epoch.steps)} steps, and {case.steps} were asked for"
        wrong = [len(step) for step in epoch.steps if not 0 < len(step) <= case.combined_batch]
        if wrong:
            return f"a step of rank {rank} holds {wrong[0]} samples, and {case.combined_batch} are asked for"
    return ""


def passes_cover(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """ENDLESS-2: however passes are cut, each holds every sample once, but for what the policy allows."""
    (epochs,) = epochs_of(runs["main"])
    if min(len(epoch.steps) for epoch in epochs) < case.steps:
        give_up("a rank ends, which is another clause's matter (ENDLESS-1)")
    cut = [passes for passes in ways_to_cut(case, epochs) if len(passes) >= max(1, case.epochs - 1)]
    told = [first_sentence(wrong_pass(case, at, each) for at, each in enumerate(passes)) for passes in cut]
    return "" if "" in told else max(told, default="there is no whole pass")


def wrong_pass(case: SimpleNamespace, at: int, ranks: list[list[int]]) -> str:
    """What a pass has too often, or not at all."""
    samples = [index for rank in ranks for index in rank]
    again = sorted({index for index in samples if samples.count(index) > 1})
    lost = [index for index in range(case.samples) if index not in samples]
    padding = max(0, len(samples) - case.samples, -case.samples % case.world_size) if case.policy == "pad" else 0
    if len(samples) - len({*samples}) > padding:
        return f"pass {at}, however passes are cut, has sample {again[0]} again"
    return f"pass {at}, however passes are cut, lacks sample {lost[0]}" if len(lost) > case.most_lost else ""


def ways_to_cut(case: SimpleNamespace, epochs: tuple[SimpleNamespace, ...]) -> Iterator[list[list[list[int]]]]:
    """Each way in which passes may be cut: so many samples or steps of every rank, or of all ranks in turn."""
    step, floor, ceiling = case.combined_batch, case.samples // case.world_size, -(-case.samples // case.world_size)
    whole = step * (case.samples // (step * case.world_size))
    for size in {floor, ceiling, floor - floor % step, whole, step * -(-ceiling // step)}:
        yield passes_of([[[index] for index in samples_of(epoch)] for epoch in epochs], size)
    for size in {-(-ceiling // step), -(-floor // step), floor // step}:
        yield passes_of([epoch.steps for epoch in epochs], size)
    in_turn = [[index] for each in zip(*map(samples_of, epochs), strict=False) for index in each]
    by_steps = [
        [index] for steps in zip(*(epoch.steps for epoch in epochs), strict=False) for one in steps for index in one
    ]
    for stream in (in_turn, by_steps):
        for size in {case.samples, case.samples - case.samples % step}:
            yield passes_of([stream], size)


def passes_of(ranks: list[Any], size: int) -> list[list[list[int]]]:
    """The whole passes of so many parts of each rank, and the samples of each rank in them."""
    passes = min(map(len, ranks)) // size if size else 0
    parts = [[rank[at * size : (at + 1) * size] for rank in ranks] for at in range(passes)]
    return [[[index for part in rank for index in part] for rank in each] for each in parts]


def resumes_at_any_step(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """ENDLESS-4: from a state that was taken at any step come the steps that would have come."""
    failures = [rank.failure for rank in runs["main"] if rank.failure]
    if failures and failures[0].kind == "raised":
        give_up(f"the loader {failure_in(runs['main'])}")
    if failures or failure_in(runs["again"]):
        return f"the loader {failure_in(runs['main'] + runs['again'])}"
    for rank, (whole, rest) in enumerate(zip(runs["main"], runs["again"], strict=True)):
        due = whole.epochs[0].steps[case.place :]
        came = rest.epochs[0].steps[: len(due)]
        if came != due and (case.in_order or sorted(map(sorted, came)) != sorted(map(sorted, due))):
            return f"after its state rank {rank} gives {came}, and would have given {due}"
    return ""


def passes_are_shuffled_anew(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """ENDLESS-3: the same seed gives the same passes again, and no pass has the order of the one before it."""
    (epochs,) = epochs_of(runs["main"])
    for rank, other in enumerate(runs.get("again", [])):
        one, two = epochs[rank].steps, other.epochs[0].steps
        if one != two and (case.in_order or sorted(map(sorted, one)) != sorted(map(sorted, two))):
            return f"rank {rank} gets other steps in another process"
    if case.samples < 16 * case.world_size or case.epochs < 4:
        return ""
    cut = [passes for passes in ways_to_cut(case, epochs) if len(passes) >= case.epochs - 1]
    return "all passes have one order" if any(all(each == passes[0] for each in passes) for passes in cut) else ""
