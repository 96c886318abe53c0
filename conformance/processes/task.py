"""What one process is asked to do: the plain data that goes to it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conformance.trace import Saved


@dataclass(frozen=True)
class Task:
    """One rank's part in a run: the scenario, and the circumstances.

    `performer` is the module whose `perform(implementation, task, workdir)` carries it out, and knows the scenario;
    `epochs` are the numbers of the epochs to read. `meets`: the ranks need torch.distributed; `process_group` is then
    (file for the rendezvous, rank, world size). `conducts` is the module that knows the scenario's conduct, if the
    performer doesn't. `others`: how the loaders differ that are read before this one, in the same process. `saved`: the
    states of all ranks from which this run resumes, if it does. `starting`: the seconds that worker processes may take
    to start, where they are no forks.
    """

    performer: str
    scenario: Any
    rank: int
    epochs: tuple[int, ...]
    random_seed: int = 0
    others: tuple[Mapping[str, Any], ...] = ()
    meets: bool = False
    process_group: tuple[str, int, int] | None = None
    conducts: str = ""
    saved: tuple[Saved, ...] = ()
    starting: float = 0.0
