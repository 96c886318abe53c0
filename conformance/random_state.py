"""The caller's global random generators: decides how they are set, read and kept, for random, numpy and torch.

A library that the implementation did not import is left alone, so that this works without torch.
"""

import hashlib
import random
import sys
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

LIBRARIES = ("random", "numpy", "torch")


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
    return {name: hashlib.blake2b(_as_bytes(state), digest_size=6).hexdigest() for name, state in _states().items()}


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


def _states() -> dict[str, Any]:
    states: dict[str, Any] = {"random": random.getstate()}
    if "numpy" in sys.modules:
        states["numpy"] = _numpy().get_state(legacy=True)
    if "torch" in sys.modules:
        states["torch"] = _torch().get_rng_state()
    return states


def _as_bytes(state: Any) -> bytes:
    if hasattr(state, "numpy"):  # torch: a tensor of bytes
        return bytes(state.numpy().tobytes())
    if isinstance(state[0], str):  # numpy: name, 624 words, position, and what is left of the last pair of normals
        return state[1].tobytes() + repr(state[2:]).encode()  # type: ignore[no-any-return]
    return array("L", state[1]).tobytes() + repr(state[2]).encode()  # random: version, 625 words, the same rest


def _numpy() -> Any:
    return sys.modules["numpy"].random


def _torch() -> Any:
    return sys.modules["torch"]
