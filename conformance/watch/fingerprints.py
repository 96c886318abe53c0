"""Fingerprints of random states: decides by what two processes are seen to begin alike, and which state was drawn from.

Nothing is imported and nothing is drawn: a module that the job has not imported has no state that matters.
"""

import random
from hashlib import blake2b
from typing import Any

from conformance.records.place import random_fingerprints

# How deep generators are looked for in a dataset: dataset.transform.generator is two.
_DEPTH = 3
_MANY = 64

Prints = dict[str, str]


def fingerprints(dataset: Any) -> Prints:
    """A print of each random state that a sample may be made from: python, numpy, torch, and a dataset's generators."""
    found = random_fingerprints()
    for name, generator in generators(dataset).items():
        state = _state(generator)
        if state is not None:
            found[name] = _print(state)
    return found


def generators(root: Any) -> dict[str, Any]:
    """The generators that an object holds, by their paths: ``dataset.transform.rng``."""
    found: dict[str, Any] = {}
    seen: set[int] = set()
    _collect("dataset", root, _DEPTH, found, seen)
    return found


def _collect(path: str, value: Any, depth: int, found: dict[str, Any], seen: set[int]) -> None:
    if id(value) in seen or len(seen) > _MANY * _DEPTH:
        return
    seen.add(id(value))
    if _is_generator(value):
        found[path] = value
        return
    if depth == 0:
        return
    if isinstance(value, list | tuple) and len(value) <= _MANY:
        inside = ((f"{path}[{at}]", each) for at, each in enumerate(value))
    else:
        held = getattr(value, "__dict__", None)
        if not isinstance(held, dict) or isinstance(value, type):
            return
        inside = ((f"{path}.{name}", each) for name, each in list(held.items())[:_MANY])
    for where, each in inside:
        _collect(where, each, depth - 1, found, seen)


def _is_generator(value: Any) -> bool:
    kind = type(value)
    if isinstance(value, random.Random):
        return True
    return (kind.__module__.split(".")[0], kind.__name__) in (
        ("numpy", "Generator"),
        ("numpy", "RandomState"),
        ("torch", "Generator"),
    )


def _state(generator: Any) -> bytes | None:
    try:
        if isinstance(generator, random.Random):
            return repr(generator.getstate()).encode()
        if hasattr(generator, "bit_generator"):
            return repr(generator.bit_generator.state).encode()
        if hasattr(generator, "get_state"):
            state = generator.get_state()
            whole: bytes = (
                state.numpy().tobytes() if hasattr(state, "numpy") else state[1].tobytes() + repr(state).encode()
            )
            return whole
    except Exception:  # a generator of a device that is gone, SystemRandom: it has no state that could be compared
        return None
    return None


def _print(state: bytes) -> str:
    return blake2b(state, digest_size=8).hexdigest()
