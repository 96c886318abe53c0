"""Decides which cases the golden vectors of deliveries hold: shards, shuffled epochs, streams, restarts, refusals."""

from collections.abc import Iterator
from itertools import product

from .partition import cut as cut_positions
from .partition import shard
from .policies import LAYOUTS, POLICIES, cut, padded_to_steps, shards, steps_of_ranks
from .shuffle import LEAST_SEED, MOST_EPOCH, MOST_SEED, check_epoch, check_seed, permutation
from .splitting import LAYOUTS as SPLITS
from .splitting import share

Case = dict[str, object]

# (samples, combined batch, ranks); of each one: less than a round, one pass too few, a rest of each kind, and none.
SHARDS = (
    (0, 2, 2), (1, 1, 4), (3, 2, 4), (5, 1, 3), (7, 2, 2), (8, 2, 2), (9, 2, 3), (10, 2, 4), (10, 3, 4), (12, 2, 3),
)  # fmt: skip
# (samples, seed, epoch, combined batch, ranks)
EPOCHS = (
    (9, 0, 0, 2, 2), (9, 0, 1, 2, 2), (9, 1, 0, 2, 2), (9, 42, 3, 2, 3), (10, -1, 2, 3, 2), (4, 5, 70_000, 1, 3),
)  # fmt: skip
# (elements, ranks, workers, combined batch); 0 workers: the rank's own process reads.
STREAMS = (
    (0, 2, 2, 2), (1, 1, 2, 1), (5, 1, 0, 2), (5, 2, 0, 2), (10, 2, 2, 2), (10, 1, 3, 2), (13, 2, 3, 2), (100, 1, 7, 4),
)  # fmt: skip
# (samples, combined batch, ranks, drop_last, steps taken on every rank, ranks of the new job, its combined batch)
RESTARTS = (
    (5, 1, 1, False, 2, 1, 1), (5, 2, 1, False, 0, 1, 2), (5, 2, 1, False, 3, 1, 2), (5, 2, 1, True, 1, 1, 2),
    (9, 2, 2, False, 1, 2, 2), (9, 2, 2, True, 2, 2, 2), (6, 1, 2, False, 1, 3, 1), (12, 2, 3, False, 1, 2, 2),
    (12, 1, 3, False, 3, 1, 1), (12, 2, 2, True, 2, 2, 3), (13, 2, 2, True, 1, 3, 1),
)  # fmt: skip
FACTORS = ("batch_size", "gradient_accumulation", "replication_factor", "device_iterations", "world_size")


def policy_vectors() -> Iterator[Case]:
    """Yield every rank's steps under each policy, in both layouts, over an unshuffled dataset."""
    for (samples, step, ranks), drop_last, policy, layout in product(SHARDS, (True, False), POLICIES, LAYOUTS):
        case: Case = {"samples": samples, "combined_batch": step, "ranks": ranks, "drop_last": drop_last}
        case |= {"policy": policy, "layout": layout}
        order = range(samples)
        found = {"steps_of_rank": steps_of_ranks(order, step, ranks, drop_last, policy, layout)}
        if policy != "pad" or drop_last:
            yield {**case, **found}
            continue
        yield {**case, "padding": "last round", **found}
        full = shards(order, padded_to_steps(samples, step, ranks), layout)
        yield {**case, "padding": "last step", "steps_of_rank": [cut(each, step, drop_last) for each in full]}


def epoch_vectors() -> Iterator[Case]:
    """Yield every rank's steps over shuffled epochs of this reference: the whole order, cut as unshuffled."""
    for (samples, seed, epoch, step, ranks), drop_last in product(EPOCHS, (True, False)):
        order = permutation(samples, seed, epoch).tolist()
        parts = [shard(samples, step, ranks, rank, drop_last) for rank in range(ranks)]
        steps = [[[order[at] for at in positions] for positions in cut_positions(part, step)] for part in parts]
        asked = {"samples": samples, "seed": str(seed), "epoch": epoch, "combined_batch": step, "ranks": ranks}
        yield {**asked, "drop_last": drop_last, "order": order, "steps_of_rank": steps}


def stream_vectors() -> Iterator[Case]:
    """Yield the steps that each worker of each rank makes of a stream, and how many elements a rank delivers."""
    kinds = (*(("split", layout) for layout in SPLITS), ("replicated", ""))
    for (elements, ranks, workers, step), drop_last, (kind, layout) in product(STREAMS, (True, False), kinds):
        count = max(1, workers)
        shares = [_read(elements, *place, layout) for place in product(range(ranks), [ranks], range(count), [count])]
        read = [shares[rank * count : (rank + 1) * count] for rank in range(ranks)]
        of_worker = [[cut(mine, step, drop_last) for mine in rank] for rank in read]
        totals = [sum(map(len, rank)) for rank in read]
        yield {
            "elements": elements,
            "ranks": ranks,
            "workers": workers,
            "combined_batch": step,
            "drop_last": drop_last,
            "iterable_workers": kind,
            **({"layout": layout} if layout else {}),
            "steps_of_rank_and_worker": of_worker,
            "delivered": [sum(len(one) for steps in rank for one in steps) for rank in of_worker],
            "dropped_at_most": count * ranks * (step - 1) if drop_last else 0,
            "delivered_if_rebatched": [total // step * step if drop_last else total for total in totals],
        }


def _read(elements: int, rank: int, ranks: int, worker: int, workers: int, layout: str) -> list[int]:
    """The elements that a worker reads and delivers: its share, or without a layout all."""
    stream = list(range(elements))
    return stream[share(elements, rank, ranks, worker, workers, layout)] if layout else stream


def restart_vectors() -> Iterator[Case]:
    """Yield what comes after a restart after some steps of an epoch, strided, with "drop" and "uneven"."""
    for samples, step, ranks, drop_last, taken, new_ranks, new_step in RESTARTS:
        steps = steps_of_ranks(range(samples), step, ranks, drop_last, "drop" if drop_last else "uneven", "strided")
        before = [each[:taken] for each in steps]
        case: Case = {"samples": samples, "combined_batch": step, "ranks": ranks, "drop_last": drop_last}
        case |= {"steps_taken": taken, "delivered": before}
        if (new_ranks, new_step) == (ranks, step):
            rests = {"rest_of_rank": [each[taken:] for each in steps]}
            rests |= {"rest_after_a_step_more": [each[taken + 1 :] for each in steps]}
            yield {**case, **rests, "next_epoch_of_rank": steps}
            continue
        gone = {index for rank in before for each in rank for index in each}
        # Each of the two requests may drop a rest of its own.
        bounds = [one * other if drop_last else 1 for one, other in ((step, ranks), (new_step, new_ranks))]
        yield {
            **case,
            "new_ranks": new_ranks,
            "new_combined_batch": new_step,
            "left": sorted(set(range(samples)) - gone),
            "may_be_missing": sum(bounds) - 2,
        }


def bound_of_seed_vectors() -> Iterator[Case]:
    """Yield seeds and epochs at the bounds of chapter 3's two methods, as text, and whether they are refused."""
    for name, check, least, most in (
        ("seed", check_seed, LEAST_SEED, MOST_SEED),
        ("epoch", check_epoch, 0, MOST_EPOCH),
    ):
        for value in (least - 1, least, most, most + 1):
            try:
                check(value)
                refused = False
            except ValueError:
                refused = True
            yield {"name": name, "value": str(value), "refused": refused}


def refusal_vectors() -> Iterator[Case]:
    """Yield values of one factor, and whether they are refused; the rest of the request is valid."""
    for name, (value, clause) in product(FACTORS, ((0, "BATCH-4"), (-1, "BATCH-4"), (1, ""), (2, ""))):
        yield {"name": name, "value": value, "refused": bool(clause), "clause": clause}
    for name, odd in product(FACTORS, (True, 1.5)):
        yield {"name": name, "value": odd, "refused": True, "clause": "BATCH-5"}
    for rank, ranks in ((0, 1), (1, 2), (2, 2), (-1, 2), (0, 0), (5, 3)):
        refused = not 0 <= rank < ranks
        clause = "BATCH-4" if refused else ""
        yield {"name": "rank", "value": rank, "world_size": ranks, "refused": refused, "clause": clause}
