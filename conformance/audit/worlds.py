"""How many ranks each start of a job has: decides which start of a rank belongs to which start of the job.

A job may go on with more ranks than it had, or with fewer. The first start of rank 3 is then not the first of the job:
it is the first one that has four ranks.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from conformance.audit.summary import Epoch, EpochKey, Group, Process, Summary, Witnesses

Worlds = Sequence[int | None]  # of each start of a rank, how many ranks the job said it has


def numbered(worlds: Mapping[int, Worlds]) -> dict[int, list[int]]:
    """Of each rank, which starts of the job its starts are, by those of the lowest rank, which is in all of them.

    Where what they say does not fit together, or they say nothing, its first start is the first of the job.
    """
    of_job = worlds[min(worlds)] if worlds else []
    found = {}
    for rank, told in worlds.items():
        there = [start for start, world in enumerate(of_job) if world is not None and world > rank]
        fits = None not in of_job and list(told) == [of_job[start] for start in there[: len(told)]]
        found[rank] = there[: len(told)] if fits else list(range(len(told)))
    return found


def of_starts(processes: Iterable[Process]) -> dict[int, int]:
    """How many ranks each start of a job has, if all of them say it and not all say the same; else {}."""
    told: dict[int, set[int | None]] = {}
    for process in processes:
        if process.rank >= 0 and process.facts.get("loaders"):
            told.setdefault(process.attempt, set()).add(world_of(process.facts))
    known = {start: next(iter(some)) for start, some in told.items() if len(some) == 1}
    worlds = {start: world for start, world in known.items() if world is not None}
    return worlds if len(worlds) == len(told) and len(set(worlds.values())) > 1 else {}


def world_of(facts: Mapping[str, Any]) -> int | None:
    """How many ranks the job has, as a process says it."""
    told = facts.get("world_size")
    return told if isinstance(told, int) else None


def fitted(one: Summary, other: Summary) -> tuple[Summary, Summary]:
    """Two parts of a record, each of all starts of some ranks, with the starts of both numbered alike."""
    lowest = [_lowest(part) for part in (one, other)]
    starts = numbered({rank: told for rank, told in lowest if rank >= 0})
    (mine, _), (theirs, _) = lowest
    return _renumbered(one, starts.get(mine, [])), _renumbered(other, starts.get(theirs, []))


def _lowest(part: Summary) -> tuple[int, Worlds]:
    """The lowest rank of a part, and the world of each of its starts; -1 if it has none."""
    placed = [process for process in part.processes if process.rank >= 0 and process.facts.get("loaders")]
    rank = min((process.rank for process in placed), default=-1)
    own = sorted((process for process in placed if process.rank == rank), key=lambda process: process.attempt)
    return rank, [world_of(process.facts) for process in own]


def _renumbered(part: Summary, starts: Sequence[int]) -> Summary:
    used = {process.attempt for process in part.processes if process.rank >= 0}
    if list(starts) == list(range(len(starts))) or max(used, default=0) >= len(starts):
        return part
    processes = [
        replace(process, attempt=starts[process.attempt]) if process.rank >= 0 else process
        for process in part.processes
    ]
    groups = {key: _group(group, starts) for key, group in part.groups.items()}
    return replace(part, processes=processes, groups=groups)


def _group(group: Group, starts: Sequence[int]) -> Group:
    rows = group.witnesses.rows().copy()
    rows[:, 1] = [starts[start] for start in rows[:, 1].tolist()]
    by_digest = any(epoch.digests.total for epoch in group.epochs.values())
    stored = {"bits": group.witnesses.bits, "rows": rows.astype("<i8").tobytes()}
    epochs: dict[EpochKey, Epoch] = {(starts[start], epoch): of for (start, epoch), of in group.epochs.items()}
    contents = {
        index: {(starts[start], epoch): content for (start, epoch), content in told.items()}
        for index, told in group.contents.items()
    }
    died = [{**one, "attempt": starts[one["attempt"]]} for one in group.died]
    return Group(group.loaders, epochs, contents, died, Witnesses.restored(stored, by_digest))
