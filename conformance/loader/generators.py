"""A generator that the request hands over: whether its state decides the order of every epoch, and nothing else does.

The same epochs are read again by other loaders: with a generator in the same state, while the global ones stand
elsewhere, and with one of the same seed from which a number was drawn. Torch is imported for those alone that claim it.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from typing import Any

from conformance.loader.reading import Reader, read_epochs
from conformance.processes import calls, random_state
from conformance.trace import Epoch

WORD = HOOK = "generator"
# So many that two orders don't meet by chance.
SAMPLES = 17
_SEED = 2_147_483_629


def handed_over(drawn: int = 0) -> Any:
    """A generator of torch's from which so many numbers were drawn; None where there is no torch."""
    try:
        torch = import_module("torch")
    except ImportError:
        return None
    generator = torch.Generator().manual_seed(_SEED)
    for _ in range(drawn):
        torch.rand((), generator=generator)
    return generator


def not_decisive(load: Any, reader: Reader, numbers: tuple[int, ...], epochs: Sequence[Epoch]) -> str:
    """How the generator that gave these epochs does not decide their orders, beginning with its name; "" if it does.

    `load` makes another loader, with the generator that it is given.
    """
    alike = [later.number for later, epoch in zip(epochs[1:], epochs, strict=False) if later.samples == epoch.samples]
    if alike:
        return _told(f"epoch {alike[0]} came in the order of the one before", epochs)
    again, moved = _read(load, reader, numbers, handed_over())
    for epoch, other in zip(epochs, again, strict=False):
        if epoch.samples != other.samples:
            told = f"with one in the same state, and the global ones elsewhere, epoch {other.number} came otherwise"
            return _told(told, (epoch, other))
    if moved:
        return f"{HOOK}: torch's global generator moved, though another one was handed over"
    others, _ = _read(load, reader, numbers, handed_over(drawn=1))
    for epoch, other in zip(epochs, others, strict=False):
        if epoch.samples == other.samples:
            return _told(f"with one in another state, epoch {other.number} came alike", (epoch, other))
    return ""


def _read(load: Any, reader: Reader, numbers: tuple[int, ...], generator: Any) -> tuple[list[Epoch], bool]:
    """The epochs of another loader, and whether torch's global generator has moved meanwhile."""
    before = random_state.seed_all_and_tell(random_state.ANOTHER_STATE).get("torch")
    loader, epochs = load(generator), list[Epoch]()
    read_epochs(replace(reader, loader=loader), numbers, epochs)
    after = random_state.last_digests().get("torch")
    with suppress(calls.Stopped):
        calls.close(loader)
    return epochs, before != after


def _told(what: str, epochs: Sequence[Epoch]) -> str:
    orders = (f"epoch {epoch.number}: {' '.join(map(str, epoch.samples))}" for epoch in epochs[:2])
    return f"{HOOK}: {what}; " + "; ".join(orders)
