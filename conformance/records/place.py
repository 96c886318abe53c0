"""Where a process stands in its job: decides how its rank is found, and what its random states look like.

Nothing is imported for that: what the job has not loaded has no say.
"""

import hashlib
import os
import pickle
import random
import socket
import sys
import time
from typing import Any

# Of each launcher: rank, world size, local rank. The first whose rank and world size are both there counts.
_LAUNCHERS = (
    ("RANK", "WORLD_SIZE", "LOCAL_RANK"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"),
    ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"),
    ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"),
)


def place() -> dict[str, int]:
    """`rank`, `world_size` and `local_rank`, as far as they are known: from torch.distributed, or the environment."""
    distributed: Any = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        known = {"rank": distributed.get_rank(), "world_size": distributed.get_world_size()}
        local = _number("LOCAL_RANK")
        return known if local is None else {**known, "local_rank": local}
    for names in _LAUNCHERS:
        rank, world_size, local = (_number(name) for name in names)
        if rank is not None and world_size is not None:
            known = {"rank": rank, "world_size": world_size}
            return known if local is None else {**known, "local_rank": local}
    return {}


def _number(name: str) -> int | None:
    value = os.environ.get(name, "")
    return int(value) if value.isdigit() else None


def random_fingerprints() -> dict[str, str]:
    """A digest of each library's global random state, of those that are loaded: "python", "numpy", "torch"."""
    states: dict[str, Any] = {"python": random.getstate()}
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None and "numpy.random" in sys.modules:
        kind, keys, *rest = numpy.random.get_state()
        states["numpy"] = (kind, keys.tobytes(), *rest)
    if torch is not None and hasattr(torch, "get_rng_state"):
        states["torch"] = torch.get_rng_state().numpy().tobytes()
    return {name: hashlib.blake2b(pickle.dumps(state, 4), digest_size=8).hexdigest() for name, state in states.items()}


def gradients_are_off() -> bool:
    """Whether torch is loaded and told to keep no gradients: an evaluation, most likely."""
    torch = sys.modules.get("torch")
    return torch is not None and hasattr(torch, "is_grad_enabled") and not torch.is_grad_enabled()


def about_this_process() -> dict[str, Any]:
    """Where it runs, since when, and who started it."""
    python = sys.version.split()[0]
    host = socket.gethostname()
    return {"pid": os.getpid(), "parent": os.getppid(), "host": host, "time": time.time(), "python": python}


def token_of_this_start() -> str:
    """A name for this start of this process that no other one has, on any host."""
    host = "".join(letter if letter.isalnum() or letter in "-." else "-" for letter in socket.gethostname()) or "host"
    return f"{host}-{os.getpid()}-{time.time_ns():x}"
