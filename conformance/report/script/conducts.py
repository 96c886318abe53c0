"""What a consumer does: decides each conduct, call by call, as `conformance.loader.reading` does.

In a case with a fault, or with a second iterator, a failure ends its epoch only: it is noted, and the consumer goes on
as a person would.
"""

import gc
import itertools
from itertools import pairwise
from typing import Any

from conformance.report.script.consumer import (
    begin_epoch,
    close_loader,
    failure_of,
    finish_epoch,
    numbers_in,
    take_step,
)
from conformance.report.script.kinds import infidelity, make_sample, reused_buffer
from conformance.report.script.resources import resident_bytes

SAMPLES = AFTER = 0


def read_whole(loader: Any, decode: Any, numbers: Any, noted: dict[str, Any]) -> None:
    """Read epoch after epoch."""
    for number in numbers:
        epoch, iterator = begin_epoch(loader, number, noted)
        while take_step(epoch, iterator, decode):
            pass


def read_through_fault(loader: Any, decode: Any, numbers: Any, noted: dict[str, Any]) -> None:
    """Read epoch after epoch, going on after a failure as a consumer does that tries again."""
    for number in numbers:
        try:
            epoch, iterator = begin_epoch(loader, number, noted)
        except (Exception, SystemExit) as error:
            noted["epochs"][-1]["failure"] = failure_of(error)
        else:
            finish_epoch(epoch, iterator, decode)
            del iterator


def leave_early(loader: Any, decode: Any, numbers: Any, noted: dict[str, Any]) -> None:
    """Leave the first epoch after some steps, then read the others whole."""
    epoch, iterator = begin_epoch(loader, numbers[0], noted)
    while len(epoch["steps"]) < AFTER and take_step(epoch, iterator, decode):
        pass
    del iterator
    for number in numbers[1:]:
        epoch, iterator = begin_epoch(loader, number, noted)
        while take_step(epoch, iterator, decode):
            pass


def read_two(loader: Any, decode: Any, numbers: Any, noted: dict[str, Any]) -> None:
    """Begin a second iterator after some steps of the first; read the second to its end, then the first."""
    first, iterator = begin_epoch(loader, numbers[0], noted)
    while len(first["steps"]) < AFTER and take_step(first, iterator, decode):
        pass
    try:
        finish_epoch(*begin_epoch(loader, numbers[0], noted), decode)
    except (Exception, SystemExit) as error:
        noted["epochs"][-1]["failure"] = failure_of(error)
    finish_epoch(first, iterator, decode)


def keep_everything(loader: Any, decode: Any, numbers: Any, noted: dict[str, Any]) -> None:
    """Hold on to every batch, and look at each again at the end."""
    kept: list[Any] = []
    for number in numbers:
        epoch, iterator = begin_epoch(loader, number, noted)
        for batch in iterator:
            epoch["steps"].append(numbers_in(batch, decode))
            kept.append((epoch, len(kept), batch))
    look_again(decode, noted, kept)


def hold_what_came(loader: Any, decode: Any, numbers: Any, noted: dict[str, Any]) -> None:
    """Leave the first epoch after some steps, read the others whole and close, with every batch still held."""
    kept: list[Any] = []
    for number in numbers:
        epoch, iterator = begin_epoch(loader, number, noted)
        most = AFTER if number == numbers[0] else None
        for batch in itertools.islice(iterator, most):
            epoch["steps"].append(numbers_in(batch, decode))
            kept.append((epoch, len(kept), batch))
        del iterator
    close_loader(loader)
    look_again(decode, noted, kept)


def look_again(decode: Any, noted: dict[str, Any], kept: list[Any]) -> None:
    """Note the first batch that is not what it was when it came."""
    steps = [each for epoch in noted["epochs"] for each in epoch["steps"]]
    for epoch, at, batch in kept:
        # A loader that hands on, in a list, what the dataset gave has made nothing that it could keep intact.
        if isinstance(batch, list | tuple) and any(each is reused_buffer() for each in batch):  # only: buffer
            continue  # only: buffer
        now = numbers_in(batch, decode)
        if now != steps[at]:
            noted["remark"] = f"a kept batch of epoch {epoch['number']} was {steps[at]} and has become {now}"
            return


def read_beyond_the_end(loader: Any, decode: Any, numbers: Any, noted: dict[str, Any]) -> None:
    """After the end of each epoch, ask for more, twice."""
    for number in numbers:
        epoch, iterator = begin_epoch(loader, number, noted)
        while take_step(epoch, iterator, decode):
            pass
        for _ in range(2):
            try:
                if take_step({"steps": []}, iterator, decode):
                    noted["remark"] = f"after the end of epoch {number} comes another step"
            except (Exception, SystemExit) as error:
                noted["remark"] = f"after the end of epoch {number} comes {failure_of(error)['message']}"


def look_at_types(loader: Any, decode: Any, numbers: Any, noted: dict[str, Any]) -> None:
    """Hold each batch against the samples that it was made from."""
    given = [make_sample(index) for index in range(SAMPLES)]
    for number in numbers:
        _, iterator = begin_epoch(loader, number, noted)
        batches = list(iterator)
        told = f"{len(batches)} batches come, not one" if len(batches) != 1 else infidelity(given, batches[0])
        noted["remark"] = noted["remark"] or told


def watch_memory(loader: Any, decode: Any, numbers: Any, noted: dict[str, Any]) -> None:
    """Read 8 epochs and 32 more, and as many more as long as memory grows; note the least that came with 32."""
    held: list[int] = []
    noted["grown"] = limit = 16 * SAMPLES * 2**16
    for number in range(104):
        _, iterator = begin_epoch(loader, number, noted)
        for _ in iterator:
            pass
        del iterator
        if number % 32 == 7:
            gc.collect()
            held.append(resident_bytes())
            noted["grown"] = min((here - there for there, here in pairwise(held)), default=limit + 1)
            if noted["grown"] <= limit:
                break
