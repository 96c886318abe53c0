"""What one process is asked to do: decides the plain data that goes to it."""

from dataclasses import dataclass
from math import prod
from typing import Any

from conformance.subjects import Subject
from conformance.trace import Saved

_HOOK_TIMEOUT = 1.0  # seconds a worker may hang where a time-out is asked for


@dataclass(frozen=True)
class Task:
    """One rank's part in a run: the request in plain numbers, and the circumstances.

    `arguments` are the fields of `Request` but for dataset, workdir and hooks; `epochs` the numbers of the epochs to
    read; `process_group` is (file for the rendezvous, rank, world size) where ranks need torch.distributed. `watch`:
    the dataset logs its reads; `leaks`: what is left behind is looked for. `dataset`, `fault`, `conduct`, `kind`,
    `subject` and `details` are those of the scenario. `awaited`: the reads that are waited for before the first
    iterator and before the second. `saved`: the states of all ranks with which this run goes on, if it does.
    """

    samples: int
    arguments: dict[str, Any]
    epochs: tuple[int, ...]
    random_seed: int = 0
    after_others: bool = False
    process_group: tuple[str, int, int] | None = None
    watch: bool = False
    dataset: str = "map"
    fault: str = ""
    conduct: str = ""
    kind: str = ""
    leaks: bool = False
    awaited: tuple[int, int] = (0, 0)
    subject: Subject = ""
    details: str = ""
    saved: tuple[Saved, ...] = ()

    @property
    def words(self) -> list[str]:
        """The words of the details."""
        return self.details.split("+")

    @property
    def step(self) -> int:
        """N, of a task that asks for what is possible."""
        factors = ("batch_size", "gradient_accumulation", "replication_factor", "device_iterations")
        return prod(self.arguments[name] for name in factors)

    @property
    def hooked(self) -> dict[str, Any]:
        """The hooks of the request that this task needs, but for those that need its watch."""
        return {"timeout": _HOOK_TIMEOUT} if self.fault.startswith("hang") else {}
