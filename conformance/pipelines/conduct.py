"""How a loader of pipelines is read: decides, call by call, what each conduct is that other loaders do not meet."""

from typing import Any

from conformance.loader import datasets
from conformance.loader.reading import Pass, Reader, read_epochs
from conformance.pipelines.scenario import HALTED, LIMIT, PAUSE
from conformance.processes import calls
from conformance.processes.calls import Remarks
from conformance.trace import Epoch

Epochs = list[Epoch]


def reseed(reader: Reader, loader: Any, numbers: tuple[int, ...], seed: int, epochs: Epochs) -> None:
    """Read the epochs, and again after the same seed; then one of another seed."""
    times = len(numbers)
    read_epochs(reader, numbers, epochs)
    calls.called("load", None, lambda: loader.seed(seed))
    read_epochs(reader, tuple(range(times, 2 * times)), epochs)
    calls.called("load", None, lambda: loader.seed(seed + 1))
    read_epochs(reader, (2 * times,), epochs)


def leave(reader: Reader, numbers: tuple[int, ...], epochs: Epochs, place: int) -> None:
    """Leave every epoch but the last, and read that one whole."""
    for number in numbers[:-1]:
        going, _ = _some(reader, number, place)
        epochs.append(going.epoch(left=True))
        del going
    read_epochs(reader, numbers[-1:], epochs)


def two(reader: Reader, epochs: Epochs, remarks: Remarks, place: int, words: frozenset[str]) -> None:
    """Make a second iterator in mid-epoch, ask the first one for more, and read the second to its end.

    `words`: whether the first one is paused before, by hand or by a limit at which a loop came to its end.
    """
    older, more = _as_asked(reader, place, words)
    newer = reader.begin(1)
    goes_on = reader.step(newer)
    # A rank that has come to its end before may say so again.
    if more:
        remarks.append(("older", asked(older)))
    epochs.append(older.epoch(left=True))
    try:
        if goes_on:
            reader.rest(newer)
    finally:
        epochs.append(newer.epoch())


def shut(reader: Reader, loader: Any, epochs: Epochs, remarks: Remarks, place: int, words: frozenset[str]) -> None:
    """Read some elements, or make no iterator at all; shut down, and see what can be done after that.

    `words`: whether the iterator is paused before.
    """
    going, more = _as_asked(reader, place, words) if place else (None, False)
    if going is not None:
        epochs.append(going.epoch(left=True))
    calls.close(loader, times=2, names=("shutdown",))
    if going is not None and more:
        remarks.append(("after-end", f"next() {asked(going)}"))
    try:
        newer = Pass(1, None, iter(reader.loader))
    except Exception:
        return
    remarks.append(("after-end", f"a new iterator {asked(newer)}"))


def drop(reader: Reader, epochs: Epochs) -> None:
    """Read one epoch and begin another; the caller releases everything."""
    read_epochs(reader, (0,), epochs)
    epochs.append(_some(reader, 1, 1)[0].epoch(left=True))


def limit(reader: Reader, epochs: Epochs, samples: int) -> None:
    """Read an epoch in pieces."""
    going = reader.begin(0)
    iterator = _own(going)
    calls.called("step", 0, lambda: iterator.limit(LIMIT))
    for _ in range(samples + 2):
        if _piece(reader, going, epochs) < LIMIT:
            return
        calls.called("step", 0, lambda: iterator.resume())


def pause(reader: Reader, epochs: Epochs) -> None:
    """Read two elements, pause, read the rest; pause the next epoch, and begin another one in its place."""
    going = _paused(reader, 0, PAUSE)
    # Nothing comes from a pass that is paused.
    _piece(reader, going, epochs, begin=0)
    iterator = _own(going)
    calls.called("step", 0, lambda: iterator.limit(None))
    calls.called("step", 0, lambda: iterator.resume())
    _piece(reader, going, epochs)
    _paused(reader, 1, 1)
    read_epochs(reader, (1,), epochs)


def begun(reader: Reader, epochs: Epochs, share: int) -> None:
    """Pause an epoch, at one place after the other and in several ways, and begin another one in its place.

    `share`: how many elements this rank has. A pause after the last one is no end of the epoch.
    """
    # The limit, and how often it is reached; None: a pause by hand.
    ways = ((1, 1), (LIMIT, 1), (PAUSE, 2), (None, 1), (max(1, share - 1), 1), (max(1, share), 1))
    for number, (most, times) in enumerate(ways):
        going = _paused(reader, 2 * number, PAUSE) if most is None else _limited(reader, 2 * number, most, times)
        # A pause is asked for more as well, as a loop does that looks for its end.
        for _ in range(2):
            reader.rest(going)
        epochs.append(going.epoch(left=True))
        del going
        read_epochs(reader, (2 * number + 1,), epochs)
    # Resumed, and not read on.
    going = _limited(reader, 2 * len(ways), PAUSE, 1)
    iterator = _own(going)
    calls.called("step", 0, lambda: iterator.resume())
    epochs.append(going.epoch(left=True))
    read_epochs(reader, (2 * len(ways) + 1,), epochs)


def _limited(reader: Reader, number: int, most: int, times: int) -> Pass:
    """A pass that has come to its limit so often, and was resumed in between."""
    going = reader.begin(number)
    iterator = _own(going)
    calls.called("step", number, lambda: iterator.limit(most))
    reader.rest(going)
    for _ in range(times - 1):
        calls.called("step", number, lambda: iterator.resume())
        reader.rest(going)
    return going


def _paused(reader: Reader, number: int, count: int) -> Pass:
    """A pass that is paused after this many steps; by a limit, where the iterator has nothing else for that."""
    going = reader.begin(number)
    iterator = _own(going)
    by_hand = hasattr(iterator, "pause")
    if not by_hand:
        calls.called("step", number, lambda: iterator.limit(count))
    reader.up_to(going, count)
    if by_hand:
        calls.called("step", number, lambda: iterator.pause())
    return going


def _some(reader: Reader, number: int, count: int) -> tuple[Pass, bool]:
    """A pass with this many steps read, and whether it has not ended before."""
    going = reader.begin(number)
    return going, reader.up_to(going, count)


def _as_asked(reader: Reader, count: int, words: frozenset[str]) -> tuple[Pass, bool]:
    """A pass with this many steps read, paused if it is to be, and whether it has not ended before."""
    return _halted(reader, count, words) if count and words & HALTED else _some(reader, 0, count)


def _halted(reader: Reader, count: int, words: frozenset[str]) -> tuple[Pass, bool]:
    """A pass that is paused after this many steps, and whether it is."""
    going = _paused(reader, 0, count) if "paused" in words else _limited(reader, 0, count, 1)
    return going, len(going.steps) == count


def _piece(reader: Reader, going: Pass, epochs: Epochs, begin: int | None = None) -> int:
    """Read on until the iterator ends, for now or for good; how many steps that were."""
    before = len(going.steps) if begin is None else begin
    reader.rest(going)
    epochs.append(Epoch(going.number, tuple(going.steps[before:]), left=True))
    return len(going.steps) - before


def _own(going: Pass) -> Any:
    """The loader's own iterator, which alone has its methods."""
    return going.iterator.inner  # type: ignore[attr-defined]


def asked(going: Pass) -> str:
    """What one more `next` does: ``raised``, ``ended``, ``gave element 3``."""
    try:
        element = next(going.iterator)
    except StopIteration:
        return "ended"
    except Exception:
        return "raised"
    numbers = (value - datasets.FIRST_SAMPLE for value in datasets.decode(element))
    return f"gave element {' '.join(map(str, numbers))}"
