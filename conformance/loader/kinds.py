"""How a loader of samples that are no numbers is read: decides what is held against what the dataset gave."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise, permutations
from types import SimpleNamespace
from typing import Any

from conformance.loader import datasets, leaks, samples
from conformance.loader.reading import Pass, Reader
from conformance.processes import freed
from conformance.processes.calls import Remarks, Stopped


@dataclass(frozen=True)
class Growth:
    """How memory is watched: it is compared after the first few epochs, and after `more`.

    A loader that has grown by more than `most` is read on, for as many `windows` of so many epochs: a runtime that
    collects its garbage now and then is level by then.
    """

    warm: int
    more: int
    windows: int
    most: int


# Half of what the epochs of a window held: what allocators, caches and runtimes keep is less.
OF_SAMPLES = Growth(8, 32, 3, 16 * 2**20)
# Half of what so many orders of 100,000 samples hold, at four bytes a sample. To make them takes Python its time.
ORDERED = 100_000
OF_ORDERS = Growth(8, 16, 6, 3 * 2**20)
EPOCHS_OF_MEMORY = OF_SAMPLES.warm + OF_SAMPLES.more


def watch_memory(
    reader: Reader, remarks: Remarks, leaves_after: int = 0, kind: str = "large", growth: Growth = OF_SAMPLES
) -> None:
    """Write down how much memory comes with many epochs: the least of what comes with as many, and as many again.

    `leaves_after`: each epoch is left after this many steps; 0 for those that are read to their end, or to an error.
    """
    # What len() costs is asked of the samples alone.
    light = replace(reader, decodes=False, measures=kind != "")
    # Before there are workers, which are forked from here.
    freed.give_back()
    for number in range(growth.warm):
        _read_lightly(light, _begun(light, kind, number, remarks), leaves_after)
    held, grown = [_held()], growth.most + 1
    for window in range(growth.windows):
        if grown > growth.most:
            for number in range(growth.more):
                at = growth.warm + window * growth.more + number
                _read_lightly(light, light.begin(at), leaves_after)
            held.append(_held())
            grown = min(later - earlier for earlier, later in pairwise(held))
    remarks.append(("memory", str(grown)))


def _held() -> int:
    freed.give_back()
    return leaks.resident_bytes()


def _read_lightly(reader: Reader, going: Pass, leaves_after: int) -> None:
    if not leaves_after:
        reader.tolerant_rest(going)
        if going.failure and "on purpose" not in going.failure.message:
            raise Stopped(going.failure.kind, going.failure.where, going.failure.message, going.number)
    reader.up_to(going, leaves_after)


def watch_types(
    reader: Reader, kind: str, length: int, numbers: tuple[int, ...], remarks: Remarks, in_order: bool = True
) -> None:
    """Hold the one batch of an epoch against its samples; in any order of them if none is promised."""
    keeping = replace(reader, decodes=False, keep_batches=True)
    given = [samples.sample_of(kind, datasets.FIRST_SAMPLE + index, None) for index in range(length)]
    for number in numbers:
        going = _begun(keeping, kind, number, remarks)
        keeping.rest(going)
        batches = going.batches
        told = f"{len(batches)} batches instead of one" if len(batches) != 1 else _lost(reader, given, batches[0])
        if told and len(batches) == 1 and not in_order:
            told = "" if any(not _lost(reader, [*each], batches[0]) for each in permutations(given)) else told
        if told:
            remarks.append(("types", told))
            return


class _Overheard(Iterator[Any]):
    """An iterator of which is written down whether an error names an item or a type, in any of its lines."""

    def __init__(self, steps: Iterator[Any], what: str, names: Iterable[object], remarks: Remarks) -> None:
        self.steps = steps
        self.what = what
        self.names = names
        self.remarks = remarks

    def __next__(self) -> Any:
        try:
            return next(self.steps)
        except Exception as error:
            named = [str(name) for name in self.names if re.search(rf"\b{name}\b", str(error))]
            if named:
                self.remarks.append(("named", f"{self.what} {min(named)}"))
            raise


def _begun(reader: Reader, kind: str, number: int, remarks: Remarks) -> Pass:
    """An epoch of samples of a kind, in which is listened for a refusal that names their type."""
    going = reader.begin(number)
    going.iterator = _Overheard(going.iterator, "type", samples.types_of(kind), remarks)
    return going


def _lost(reader: Reader, given: list[Any], batch: Any) -> str:
    """What a batch lost of its samples: neither itself, nor what the adapter finds in it, holds them."""
    told = samples.infidelity(given, batch)
    if not told or reader.decode is None:
        return told
    try:
        return samples.infidelity(given, reader.decoded(batch)) and told
    except Exception:  # a decode that knows numbers only
        return told


def read_odd(reader: Reader, kind: str, length: int, number: int, remarks: Remarks) -> None:
    """Hold each step, of one sample, against what the dataset gave."""
    light = replace(reader, decodes=False, keep_batches=True)
    going = light.begin(number)
    going.iterator = _Overheard(going.iterator, "item", [samples.odd_one(length)], remarks)
    for at in range(length):
        if not light.step(going):
            remarks.append(("odd", f"the epoch ends before item {at}"))
            return
        given = samples.sample_of(kind, datasets.FIRST_SAMPLE + at, SimpleNamespace(length=length))
        lost = _lost(reader, [given], going.batches.pop())
        if lost:
            remarks.append(("odd", f"item {at}: {lost}"))
            return
    light.rest(going)
