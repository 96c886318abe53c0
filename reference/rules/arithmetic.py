"""Decides how many samples, batches and steps there are: pure integers, exact at any size.

One step of one rank:

    replica batch = micro-batch x gradient accumulation
    global batch  = replica batch x replicas
    N             = combined batch = global batch x device iterations

Nothing here loops over samples, batches or ranks, so a plan for 10^15 samples on 10^6 ranks costs as much as
one for 10 samples. The remainder of an epoch follows one of two policies:

    drop_last=True   every rank takes N * floor(n / (N * R)) samples; what is left over is dropped
    drop_last=False  "uneven": every sample once; shards differ by at most one sample, larger ones first
"""

from dataclasses import dataclass

from .checks import check_flag, check_integer, check_rank


@dataclass(frozen=True, slots=True)
class Share:
    """What one rank gets in one epoch."""

    rank: int
    first: int
    """Position, in the order of the epoch, of the rank's first sample."""
    samples: int
    steps: int
    last_step: int
    """Samples in the rank's last step; 0 when it has no step."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Every number of one epoch. Make it with `make_plan`, which checks the request."""

    samples: int
    micro_batch: int
    gradient_accumulation: int
    replicas: int
    """Replicas that each rank drives."""
    device_iterations: int
    ranks: int
    drop_last: bool

    replica_batch: int
    global_batch: int
    combined_batch: int
    """N: the samples of one full step of one rank."""

    micro_batches: int
    """Micro-batches in the whole dataset; when the rest is kept, a smaller last one counts."""
    micro_batches_per_rank: int
    """Micro-batches that rank 0 delivers; when the rest is kept, a smaller last one counts."""
    micro_batches_per_replica: int
    """Micro-batches that each replica of rank 0 gets in full steps."""
    superfluous_micro_batches: int
    """Whole micro-batches of the dataset that no replica gets."""

    steps: int
    """Steps of rank 0: no rank has more."""
    fewest_steps: int
    """Steps of the last rank: no rank has fewer."""
    last_step: int
    """Samples in rank 0's last step; 0 when there is no step."""
    samples_used: int
    samples_left_over: int

    def share(self, rank: int) -> Share:
        """Return what one rank gets; raises as `check_rank` does."""
        rank, _ = check_rank(rank, self.ranks)
        samples = shard_size(self.samples, self.combined_batch, self.ranks, rank, self.drop_last)
        steps = count_steps(samples, self.combined_batch, self.drop_last)
        first = shard_start(self.samples, self.combined_batch, self.ranks, rank, self.drop_last)
        return Share(rank, first, samples, steps, last_step_size(samples, self.combined_batch, steps))


def ceil_div(count: int, size: int) -> int:
    """Return count / size, rounded up, without leaving the integers."""
    return -(-count // size)


def chained_floors(count: int, *sizes: int) -> tuple[int, ...]:
    """Cut in stages and return what each stage leaves: (50000, 32, 4, 2) gives (1562, 390, 195).

    COUNT-3: the last number equals one cut by the product of all sizes, whatever the stages and their order.
    """
    stages = []
    for size in sizes:
        count //= size
        stages.append(count)
    return tuple(stages)


def shard_size(samples: int, combined_batch: int, ranks: int, rank: int, drop_last: bool) -> int:
    """Return how many samples the rank takes of one epoch."""
    if drop_last:
        # PART-3: only whole rounds of all ranks are taken, so fewer than N * R samples are dropped.
        # PART-6: all shards are equal.
        return combined_batch * (samples // (combined_batch * ranks))
    # PART-2, PART-4: every sample is taken once and nothing is padded.
    # PART-6: the first (samples mod ranks) ranks take one sample more.
    return samples // ranks + (1 if rank < samples % ranks else 0)


def shard_start(samples: int, combined_batch: int, ranks: int, rank: int, drop_last: bool) -> int:
    """Return at which position of the epoch the rank's samples begin: after those of the ranks before."""
    smallest = shard_size(samples, combined_batch, ranks, ranks - 1, drop_last)
    larger_before = 0 if drop_last else min(rank, samples % ranks)
    return rank * smallest + larger_before


def count_steps(shard: int, combined_batch: int, drop_last: bool) -> int:
    """Return the steps that a shard of this many samples yields."""
    if drop_last:
        # COUNT-1: floor(shard / N).
        return shard // combined_batch
    # COUNT-2: ceil(shard / N); the last step holds at least one sample.
    return ceil_div(shard, combined_batch)


def last_step_size(shard: int, combined_batch: int, steps: int) -> int:
    """Return the samples in the last of `steps` steps over a shard; 0 when there is none."""
    if steps == 0:
        return 0
    # BATCH-2: all steps before the last are full, so the last one holds what they leave.
    return min(combined_batch, shard - combined_batch * (steps - 1))


def combine(micro_batch: int, gradient_accumulation: int, replicas: int, device_iterations: int) -> int:
    """Return N, the samples of one full step of one rank."""
    # BATCH-1: N = micro-batch x gradient accumulation x replicas x device iterations.
    return micro_batch * gradient_accumulation * replicas * device_iterations


def make_plan(
    samples: int,
    micro_batch: int,
    gradient_accumulation: int = 1,
    replicas: int = 1,
    device_iterations: int = 1,
    ranks: int = 1,
    drop_last: bool = True,
) -> Plan:
    """Return every number of an epoch. Raises TypeError or ValueError for a bad factor (BATCH-4, BATCH-5)."""
    n = check_integer("samples", samples, least=0)
    m = check_integer("micro-batch", micro_batch)
    g = check_integer("gradient accumulation", gradient_accumulation)
    r = check_integer("replicas", replicas)
    d = check_integer("device iterations", device_iterations)
    world = check_integer("ranks", ranks)
    drop = check_flag("drop_last", drop_last)

    combined = combine(m, g, r, d)
    # COUNT-5: under drop_last all ranks have rank 0's steps; "uneven" lets the last rank have one step less.
    largest = shard_size(n, combined, world, 0, drop)
    smallest = shard_size(n, combined, world, world - 1, drop)
    steps = count_steps(largest, combined, drop)
    # A smaller last step is not divided over the replicas here: that is the device's affair.
    per_replica = largest // combined * g * d
    used = largest * world if drop else n
    return Plan(
        samples=n,
        micro_batch=m,
        gradient_accumulation=g,
        replicas=r,
        device_iterations=d,
        ranks=world,
        drop_last=drop,
        replica_batch=m * g,
        global_batch=m * g * r,
        combined_batch=combined,
        micro_batches=n // m if drop else ceil_div(n, m),
        micro_batches_per_rank=per_replica * r if drop else ceil_div(largest, m),
        micro_batches_per_replica=per_replica,
        superfluous_micro_batches=n // m - per_replica * r * world if drop else 0,
        steps=steps,
        fewest_steps=count_steps(smallest, combined, drop),
        last_step=last_step_size(largest, combined, steps),
        samples_used=used,
        samples_left_over=n - used,
    )
