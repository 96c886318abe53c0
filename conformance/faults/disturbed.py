"""A pass over a user's sampler that does not come to its end at once: decides how its epoch is read, and the others."""

from conformance.loader.reading import Pass, Reader
from conformance.processes.calls import Stopped
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
        _one_step(reader, begun)
    epochs.append(begun.epoch(left="left" in words))
    held = begun if "held" in words and not begun.failure else None
    del begun
    for number in others:
        epochs.append(_whole(reader, number))
    if held is not None:
        epochs[0] = reader.tolerant_rest(held).epoch()


def _one_step(reader: Reader, begun: Pass) -> None:
    try:
        reader.step(begun)
    except Stopped as stopped:
        begun.failure = stopped.failure


def _whole(reader: Reader, number: int) -> Epoch:
    try:
        begun = reader.begin(number)
    except Stopped as stopped:
        return Epoch(number, (), failure=stopped.failure)
    return reader.tolerant_rest(begun).epoch()
