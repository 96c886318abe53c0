"""Decides the order of a shuffled epoch: a permutation that is a pure function of (n, seed, epoch).

The method, for implementers in other languages: seed numpy's PCG64 with SeedSequence(seed,
spawn_key=(epoch,)), draw n keys of 64 bits, and sort the indices 0 .. n - 1 by their keys. numpy guarantees
the stream of PCG64 and of SeedSequence from version to version, so the orders do not change under an upgrade.

A seed is any int that `torch.manual_seed` takes: from -2**63 to 2**64 - 1. As in torch a negative seed counts
from the top: -1 and 2**64 - 1 are the same seed. An epoch is an int from 0 to 2**32 - 1.
"""

import numpy as np
import numpy.typing as npt

from .checks import check_integer

LEAST_SEED = -(2**63)
MOST_SEED = 2**64 - 1
MOST_EPOCH = 2**32 - 1


def check_seed(value: object) -> int:
    """Return the seed as given; raise TypeError or ValueError if torch.manual_seed would not take it."""
    return check_integer("random seed", value, least=LEAST_SEED, most=MOST_SEED)


def check_epoch(value: object) -> int:
    """Return the epoch as an int; raise TypeError or ValueError if it is none."""
    return check_integer("epoch", value, least=0, most=MOST_EPOCH)


def permutation(samples: int, seed: int, epoch: int) -> npt.NDArray[np.intp]:
    """Return the order of the epoch: the sample at position p of the epoch is permutation[p].

    Shape (samples,). Raises TypeError or ValueError for a bad argument.
    """
    n = check_integer("samples", samples, least=0)
    # ORDER-9, ORDER-10, ORDER-11: a generator of our own; the global ones are neither read, drawn from nor
    # seeded.
    # ORDER-4, ORDER-5: the rank and the process play no part, so all of them find the same order.
    keys = np.random.PCG64(_mixed(seed, epoch)).random_raw(n)
    # ORDER-3: sorting indices neither loses nor repeats one.
    # ORDER-12: the keys are drawn independently, so every order of them is equally likely. (Two of n keys are
    # equal with a chance below n**2 / 2**65, one in thirty million for n = 10**6; the sort then keeps their
    # order.)
    # ORDER-13: any sample may come to any position, hence to any rank.
    return np.argsort(keys, kind="stable")


def worker_seed(seed: int, epoch: int, rank: int) -> int:
    """Return the 64-bit seed for the worker processes of one rank in one epoch."""
    rank = check_integer("rank", rank, least=0, most=MOST_EPOCH)
    return int(_mixed(seed, epoch, rank).generate_state(1, np.uint64)[0])


def _mixed(seed: int, epoch: int, *more: int) -> np.random.SeedSequence:
    """Hash the seed and the epoch into the start of a random stream."""
    # ORDER-6, ORDER-7, ORDER-14: the numbers are hashed side by side, not added, so (seed, epoch + 1) and
    # (seed + 1, epoch) start unrelated streams. The bounds keep each number in words of its own.
    return np.random.SeedSequence(check_seed(seed) % 2**64, spawn_key=(check_epoch(epoch), *more))
