"""A second implementation, written from the chapters of `specs/`, that shares nothing with the reference.

`ANSWERS` has, by the name of a file of golden vectors, a function from a case to what its answers should be. It is
kept as one text that stands alone, so that the tests can change a line of it.
"""

import hashlib


def arithmetic(case):
    """Chapter 1."""
    n, m, d = case["samples"], case["micro_batch"], case["device_iterations"]
    g, r, ranks, drop = case["gradient_accumulation"], case["replicas"], case["ranks"], case["drop_last"]
    step = m * g * r * d
    most = n // (step * ranks) * step if drop else n // ranks + (n % ranks > 0)
    fewest = most if drop else n // ranks
    steps = most // step if drop else -(-most // step)
    per_replica = most // step * g * d
    used = most * ranks if drop else n
    return {
        "replica_batch": m * g,
        "global_batch": m * g * r,
        "combined_batch": step,
        "micro_batches": n // m if drop else -(-n // m),
        "micro_batches_per_rank": per_replica * r if drop else -(-most // m),
        "micro_batches_per_replica": per_replica,
        "superfluous_micro_batches": n // m - per_replica * r * ranks if drop else 0,
        "steps": steps,
        "fewest_steps": fewest // step if drop else -(-fewest // step),
        "last_step": most - (steps - 1) * step if steps else 0,
        "samples_used": used,
        "samples_left_over": n - used,
    }


def cut(shard, step, drop):
    """A shard in steps."""
    whole = len(shard) // step * step
    steps = [shard[at : at + step] for at in range(0, whole, step)]
    return steps if drop or whole == len(shard) else [*steps, shard[whole:]]


def sizes_of(n, step, ranks, policy, padding):
    """The sizes of the shards."""
    size, rest = n // ranks, n % ranks
    if policy == "drop":
        return [size] * ranks
    if policy == "uneven":
        return [size + 1] * rest + [size] * (ranks - rest)
    if padding == "last step":
        return [-(-n // (step * ranks)) * step] * ranks
    return [size + (rest > 0)] * ranks


def shards(case):
    """The policy rule, and ORDER-2."""
    n, ranks = case["samples"], case["ranks"]
    sizes = sizes_of(n, case["combined_batch"], ranks, case["policy"], case.get("padding"))
    found, start = [], 0
    for rank, size in enumerate(sizes):
        places = range(rank, rank + size * ranks, ranks) if case["layout"] == "strided" else range(start, start + size)
        found.append(cut([place % n for place in places], case["combined_batch"], case["drop_last"]))
        start += size
    return {"steps_of_rank": found}


def blocks(order, step, ranks, drop):
    """Contiguous shards of an order: whole rounds, or uneven ones."""
    n = len(order)
    size, rest = (n // (step * ranks) * step, 0) if drop else (n // ranks, n % ranks)
    starts = [rank * size + min(rank, rest) for rank in range(ranks)]
    return [cut(order[start : start + size + (rank < rest)], step, drop) for rank, start in enumerate(starts)]


def partition(case):
    """Chapter 2, contiguous."""
    order = list(range(case["samples"]))
    return {"steps_of_rank": blocks(order, case["combined_batch"], case["ranks"], case["drop_last"])}


def layout(case):
    """BATCH-3."""
    m, g, r, d = (case[name] for name in ("micro_batch", "gradient_accumulation", "replicas", "device_iterations"))
    return {"places": [[i, a, p, j] for i in range(d) for a in range(g) for p in range(r) for j in range(m)]}


def read_by(n, ranks, workers, layout):
    """Which elements each worker of each rank reads."""
    every = list(range(n))
    if layout == "strided":
        return [[every[rank + ranks * worker :: ranks * workers] for worker in range(workers)] for rank in range(ranks)]

    def cut_in(elements, part, parts):
        size, rest = divmod(len(elements), parts)
        start = part * size + min(part, rest)
        return elements[start : start + size + (part < rest)]

    return [[cut_in(cut_in(every, rank, ranks), worker, workers) for worker in range(workers)] for rank in range(ranks)]


def splitting(case):
    """Chapter 4."""
    return {"of_rank_and_worker": read_by(case["elements"], case["ranks"], case["workers"], case["layout"])}


def streams(case):
    """WORK-3 to WORK-5, and ASYNC-9."""
    n, ranks, step, drop = case["elements"], case["ranks"], case["combined_batch"], case["drop_last"]
    workers = max(case["workers"], 1)
    if case["iterable_workers"] == "replicated":
        read = [[list(range(n))] * workers] * ranks
    else:
        read = read_by(n, ranks, workers, case["layout"])
    steps = [[cut(mine, step, drop) for mine in rank] for rank in read]
    totals = [sum(len(mine) for mine in rank) for rank in read]
    return {
        "steps_of_rank_and_worker": steps,
        "delivered": [sum(len(one) for mine in rank for one in mine) for rank in steps],
        "dropped_at_most": workers * ranks * (step - 1) if drop else 0,
        "delivered_if_rebatched": [total - total % step if drop else total for total in totals],
    }


def seed_words(seed, epoch):
    """Chapter 3, the hash."""
    a, b = 0x43B0D7E5, 0x8B51F9DD

    def hashed(value):
        nonlocal a
        value ^= a
        a = a * 0x931E8875 % 2**32
        value = value * a % 2**32
        return value ^ value >> 16

    def mixed(one, other):
        value = (one * 0xCA01F9DD - other * 0x4973F715) % 2**32
        return value ^ value >> 16

    seed %= 2**64
    pool = [hashed(word) for word in (seed % 2**32, seed >> 32, 0, 0)]
    for at in range(4):
        for to in range(4):
            if to != at:
                pool[to] = mixed(pool[to], hashed(pool[at]))
    pool = [mixed(word, hashed(epoch)) for word in pool]
    words = []
    for at in range(8):
        value = pool[at % 4] ^ b
        b = b * 0x58F38DED % 2**32
        value = value * b % 2**32
        words.append(value ^ value >> 16)
    return words


def keys_of(seed, epoch, count):
    """Chapter 3, the keys."""
    w = seed_words(seed, epoch)
    start = w[1] << 96 | w[0] << 64 | w[3] << 32 | w[2]
    step = (w[5] << 96 | w[4] << 64 | w[7] << 32 | w[6]) * 2 % 2**128 + 1
    multiplier = 0x2360ED051FC65DA44385DF649FCCF645
    state = ((start + step) * multiplier + step) % 2**128
    found = []
    for _ in range(count):
        state = (state * multiplier + step) % 2**128
        folded, turn = (state >> 64 ^ state) % 2**64, state >> 122
        found.append((folded >> turn | folded << 64 - turn) % 2**64)
    return found


def order_of(n, seed, epoch):
    """Chapter 3, the order."""
    keys = keys_of(seed, epoch, n)
    return sorted(range(n), key=lambda sample: keys[sample])


def shuffle(case):
    """The words, the keys, and the order."""
    n, seed, epoch = case["samples"], int(case["seed"]), case["epoch"]
    order = order_of(n, seed, epoch)
    told = {"seed_words": seed_words(seed, epoch)}
    told |= {"first_keys": [f"{key:016x}" for key in keys_of(seed, epoch, 3)]}
    if "order" in case:
        return {**told, "order": order}
    text = " ".join(map(str, order))
    return {**told, "first": order[:8], "sha256": hashlib.sha256(text.encode()).hexdigest()}


def epochs(case):
    """The whole order first, then the shards."""
    order = order_of(case["samples"], int(case["seed"]), case["epoch"])
    steps = blocks(order, case["combined_batch"], case["ranks"], case["drop_last"])
    return {"order": order, "steps_of_rank": steps}


def restarts(case):
    """Chapter 9."""
    n, step, ranks, drop, taken = (
        case[name] for name in ("samples", "combined_batch", "ranks", "drop_last", "steps_taken")
    )
    sizes = sizes_of(n, step, ranks, "drop" if drop else "uneven", None)
    all_steps = [cut(list(range(rank, n, ranks))[:size], step, drop) for rank, size in enumerate(sizes)]
    told = {"delivered": [steps[:taken] for steps in all_steps]}
    if "new_ranks" not in case:
        told |= {"rest_of_rank": [steps[taken:] for steps in all_steps]}
        told |= {"rest_after_a_step_more": [steps[taken + 1 :] for steps in all_steps]}
        return {**told, "next_epoch_of_rank": all_steps}
    gone = [sample for steps in all_steps for one in steps[:taken] for sample in one]
    bounds = (step * ranks, case["new_combined_batch"] * case["new_ranks"]) if drop else (1, 1)
    return {**told, "left": [sample for sample in range(n) if sample not in gone], "may_be_missing": sum(bounds) - 2}


def refusals(case):
    """BATCH-4 and BATCH-5."""
    value, name = case["value"], case["name"]
    if isinstance(value, bool) or not isinstance(value, int):
        return {"refused": True, "clause": "BATCH-5"}
    wrong = not 0 <= value < case["world_size"] if name == "rank" else value < 1
    return {"refused": wrong, "clause": "BATCH-4" if wrong else ""}


def seeds(case):
    """Chapter 3, the bounds of both methods."""
    least, most = (-(2**63), 2**64 - 1) if case["name"] == "seed" else (0, 2**32 - 1)
    return {"refused": not least <= int(case["value"]) <= most}


MOVES = {
    ("free", "assign", "consumer"): "filling",
    ("filling", "fill", "producer"): "ready",
    ("ready", "take", "consumer"): "held",
    ("ready", "skip", "consumer"): "free",
    ("held", "release", "consumer"): "free",
    ("ready", "discard", "consumer"): "free",
    ("filling", "abandon", "consumer"): "stale",
    ("stale", "return", "producer"): "free",
}


def ring(case):
    """Chapter 5, the diagram."""
    return {"becomes": MOVES.get((case["state"], case["move"], case["by"]))}


def ahead(case):
    """ASYNC-3."""
    steps = case["steps_given"] + case["buffer_size"] + case["workers"]
    return {"most_samples_read": steps * case["combined_batch"]}


ANSWERS = {
    "arithmetic.json": arithmetic,
    "shards.json": shards,
    "partition.json": partition,
    "layout.json": layout,
    "splitting.json": splitting,
    "streams.json": streams,
    "shuffle.json": shuffle,
    "epochs.json": epochs,
    "restarts.json": restarts,
    "refusals.json": refusals,
    "seeds.json": seeds,
    "ring.json": ring,
    "ahead.json": ahead,
}
