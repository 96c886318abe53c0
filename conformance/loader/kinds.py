"""How a loader of samples that are no numbers is read: decides what is held against what the dataset gave."""

import gc
from dataclasses import replace
from types import SimpleNamespace

from conformance.loader import datasets, leaks, samples
from conformance.loader.reading import Reader
from conformance.processes.calls import Remarks

_WARM_EPOCHS, _MORE_EPOCHS = 8, 32  # memory is compared after the first few epochs, and after many more


def watch_memory(reader: Reader, remarks: Remarks) -> None:
    """Write down how much memory is held after many epochs that was not after the first few."""
    light = replace(reader, decodes=False)
    for number in range(_WARM_EPOCHS):
        light.rest(light.begin(number))
    gc.collect()
    warm = leaks.resident_bytes()
    for number in range(_WARM_EPOCHS, _WARM_EPOCHS + _MORE_EPOCHS):
        light.rest(light.begin(number))
    gc.collect()
    remarks.append(("memory", str(leaks.resident_bytes() - warm)))


def watch_types(reader: Reader, kind: str, length: int, numbers: tuple[int, ...], remarks: Remarks) -> None:
    """Hold the one batch of an epoch against its samples."""
    keeping = replace(reader, decodes=False, keep_batches=True)
    given = [samples.sample_of(kind, datasets.FIRST_SAMPLE + index, None) for index in range(length)]
    for number in numbers:
        going = keeping.rest(keeping.begin(number))
        batches = going.batches
        told = f"{len(batches)} batches instead of one" if len(batches) != 1 else samples.infidelity(given, batches[0])
        if told:
            remarks.append(("types", told))
            return


def read_odd(reader: Reader, kind: str, length: int, number: int, remarks: Remarks) -> None:
    """Hold each step, of one sample, against what the dataset gave."""
    light = replace(reader, decodes=False, keep_batches=True)
    going = light.begin(number)
    for at in range(length):
        if not light.step(going):
            remarks.append(("odd", f"the epoch ends before item {at}"))
            return
        given = samples.sample_of(kind, datasets.FIRST_SAMPLE + at, SimpleNamespace(length=length))
        lost = samples.infidelity([given], going.batches.pop())
        if lost:
            remarks.append(("odd", f"item {at}: {lost}"))
            return
    light.rest(going)
