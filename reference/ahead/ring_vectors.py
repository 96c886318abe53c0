"""Decides which cases the golden vectors of the ring hold: every move from every phase, and how much may be ahead."""

from collections.abc import Iterator
from itertools import product

from .ring import MOVES, Phase

# (buffer size, workers, combined batch, steps that the consumer was given)
_BOUNDS = tuple(product((1, 2, 3), (0, 1, 2), (1, 2), (0, 1, 4)))


def ring_vectors() -> Iterator[dict[str, object]]:
    """Yield each phase with each move by each side, and the phase that comes of it; null where it is refused."""
    for phase, move, who in product(Phase, MOVES, ("consumer", "producer")):
        goes = move.before is phase and move.who == who
        yield {"state": phase.value, "move": move.name, "by": who, "becomes": move.after.value if goes else None}


def bound_vectors() -> Iterator[dict[str, object]]:
    """Yield how many samples may have been read while a step is held, and before the first iterator (ASYNC-3)."""
    for buffer_size, workers, step, given in _BOUNDS:
        yield {
            "buffer_size": buffer_size,
            "workers": workers,
            "combined_batch": step,
            "steps_given": given,
            "most_samples_read": (given + buffer_size + workers) * step,
        }
