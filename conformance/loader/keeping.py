"""Batches that are held: decides what a consumer does who keeps what came, and how it is looked at again."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from conformance.loader.reading import Pass, Reader, has_remark, step_text
from conformance.processes.calls import Remarks, close
from conformance.trace import Epoch


def keep_everything(
    reader: Reader, numbers: tuple[int, ...], epochs: list[Epoch], remarks: Remarks, buffer: Callable[[], Any]
) -> None:
    """Hold on to every batch, and look at each again at the end.

    `buffer` gives the object that the dataset writes each sample into, or None. A loader that hands on, in a list, what
    the dataset gave has made nothing that it could keep intact.
    """
    keeping = replace(reader, keep_batches=True)
    passes = [keeping.rest(keeping.begin(number)) for number in numbers]
    epochs += [going.epoch() for going in passes]
    look_again(reader, passes, remarks, buffer)


def hold_what_came(
    reader: Reader, numbers: tuple[int, ...], epochs: list[Epoch], remarks: Remarks, after: int | None
) -> None:
    """Leave the first epoch after some steps, read the others whole and close, with every batch still held.

    `after` is None for an epoch that is read to its error.
    """
    keeping = replace(reader, keep_batches=True)
    first = keeping.begin(numbers[0])
    if after is None:
        keeping.tolerant_rest(first)
    else:
        keeping.up_to(first, after)
    epochs.append(first.epoch(left=after is not None))
    first.iterator = iter(())
    passes = [first, *(keeping.rest(keeping.begin(number)) for number in numbers[1:])]
    epochs += [going.epoch() for going in passes[1:]]
    close(reader.loader)
    look_again(reader, passes, remarks, lambda: None)


def look_again(reader: Reader, passes: list[Pass], remarks: Remarks, buffer: Callable[[], Any]) -> None:
    """Remark on the first batch that is not what it was when it came."""
    for going in passes:
        for at, (batch, first) in enumerate(zip(going.batches, going.steps, strict=True)):
            now = reader.indices(batch, going.number)
            if now != first and not has_remark(remarks, "changed") and not _handed_on(reader.decoded(batch), buffer()):
                told = f"epoch {going.number}, step {at}: {step_text(first)} became {step_text(now)}"
                remarks.append(("changed", told))


def _handed_on(batch: Any, buffer: Any) -> bool:
    return buffer is not None and isinstance(batch, list | tuple) and any(sample is buffer for sample in batch)
