"""The starts of a job: decides which one goes on with the model of which."""

from conformance.audit.summary import Summary


def goes_on_with(summary: Summary) -> dict[int, int]:
    """Of each start that is known to go on with the model of an earlier one: which one that is.

    It loaded a checkpoint that was written while the earlier one ran, or the state of a loader.
    """
    begins = _begins(summary)
    found: dict[int, int] = {}
    for group in summary.groups.values():
        for (start, number), epoch in group.epochs.items():
            for seen in epoch.ranks.values():
                for written in seen.facts.get("loaded") or ():
                    before = [each for each in begins if each < start and begins[each] <= written < begins[start]]
                    found[start] = max([found.get(start, 0), *before]) if before else found.get(start, -1)
                if not number and start and (seen.facts.get("restored") or seen.facts.get("skipped")):
                    found[start] = max(found.get(start, -1), start - 1)
    return {start: before for start, before in found.items() if before >= 0}


def before(start: int, parents: dict[int, int]) -> list[int]:
    """The starts with whose model a start goes on, the last one first."""
    found = []
    while start in parents:
        start = parents[start]
        found.append(start)
    return found


def _begins(summary: Summary) -> dict[int, float]:
    """When each start of the job began, on the first of its ranks."""
    begins: dict[int, float] = {}
    for process in summary.processes:
        moment = process.facts.get("start")
        if process.has_epochs and isinstance(moment, int | float):
            begins[process.attempt] = min(begins.get(process.attempt, moment), moment)
    return begins
