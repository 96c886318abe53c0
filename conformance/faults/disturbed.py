"""A pass over a user's sampler that does not come to its end at once: decides how its epoch is read, and the others."""

from conformance.loader.reading import Reader
from conformance.trace import Epoch

# What becomes of the first epoch.
DISTURBED = {
    "left": "the first epoch left after a step",
    "failed": "the first epoch ended by an error",
    "held": "the first epoch held after a step, and read to its end after the others",
}


def read(reader: Reader, words: list[str], numbers: tuple[int, ...], epochs: list[Epoch]) -> None:
    """Disturb the first epoch, and read the others; what raises ends no more than its epoch."""
    first, *others = numbers
    begun = reader.begin(first)
    if "failed" in words:
        reader.tolerant_rest(begun)
    else:
        reader.tolerant_step(begun)
    epochs.append(begun.epoch(left="left" in words))
    held = begun if "held" in words and not begun.failure else None
    del begun
    epochs += map(reader.tolerant_epoch, others)
    if held is not None:
        epochs[0] = reader.tolerant_rest(held).epoch()
