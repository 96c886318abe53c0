"""The caller's global random generators: decides how they are set, told apart and kept, for random, numpy and torch.

A library that the implementation did not import is left alone, so that this works without torch. A state is told by
what would be drawn from it next: two states that agree in that are the same, and drawing is far quicker than reading
the thousands of bytes that a state has.
"""

import hashlib
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

LIBRARIES = ("random", "numpy", "torch")
# What the caller's generators are seeded with before a run; any other number is another state.
USUAL_STATE = 20_240_001
ANOTHER_STATE = 77_003


def seed_all(seed: int) -> None:
    """Put every global generator in a known state."""
    random.seed(seed)
    if "numpy" in sys.modules:
        _numpy().seed(seed % 2**32)
    if "torch" in sys.modules:
        # torch.manual_seed would also queue a call for every accelerator, with a stack trace, each time.
        _torch().default_generator.manual_seed(seed)


def digests() -> dict[str, str]:
    """A short digest of each library's global state. Equal digests: nothing was drawn, nothing was seeded."""
    with undisturbed():
        return last_digests()


def last_digests() -> dict[str, str]:
    """The same digests in a quarter of the time, by drawing: the state is lost, so that it must be seeded again."""
    return {name: hashlib.blake2b(repr(drawn).encode(), digest_size=6).hexdigest() for name, drawn in _draws().items()}


def draw() -> None:
    """Draw from each library, as a consumer does who trains."""
    _draws()


def told_after(seed: int, times: int) -> list[dict[str, str]]:
    """The digests of a state from which a consumer has drawn, not yet, once, and so on up to so many times."""
    found = []
    for drawn in range(times + 1):
        seed_all(seed)
        for _ in range(drawn):
            draw()
        found.append(last_digests())
    return found


def seed_all_and_tell(seed: int) -> dict[str, str]:
    """Put every global generator in a known state; the digests of that state, as quickly."""
    seed_all(seed)
    found = last_digests()
    seed_all(seed)
    return found


@contextmanager
def undisturbed() -> Iterator[None]:
    """Put all global generators back as they were."""
    states = _states()
    try:
        yield
    finally:
        random.setstate(states["random"])
        if "numpy" in states:
            _numpy().set_state(states["numpy"])
        if "torch" in states:
            _torch().set_rng_state(states["torch"])


def _draws() -> dict[str, tuple[Any, ...]]:
    # A normal number first: the second of a pair waits in a place of its own, which a uniform number leaves alone.
    found: dict[str, tuple[Any, ...]] = {"random": (random.gauss(0, 1), random.getrandbits(64))}
    if "numpy" in sys.modules:
        found["numpy"] = (float(_numpy().standard_normal()), float(_numpy().random_sample()))
    if "torch" in sys.modules:
        generator, place = _torch().default_generator, _torch().empty(1, dtype=_torch().float64, device="cpu")
        found["torch"] = (place.normal_(generator=generator).item(), place.uniform_(generator=generator).item())
    return found


def _states() -> dict[str, Any]:
    states: dict[str, Any] = {"random": random.getstate()}
    if "numpy" in sys.modules:
        states["numpy"] = _numpy().get_state(legacy=True)
    if "torch" in sys.modules:
        states["torch"] = _torch().get_rng_state()
    return states


def _numpy() -> Any:
    return sys.modules["numpy"].random


def _torch() -> Any:
    return sys.modules["torch"]
