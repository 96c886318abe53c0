"""What is told of the record itself: decides which ranks never came, and what its files may lack."""

from collections.abc import Iterable, Sequence

from conformance.audit.summary import Process, Summary
from conformance.audit.words import listed
from conformance.records.frames import NOT_CLOSED
from conformance.trial.words import count

# Of files without a clean end. Whether somebody still writes is not known of the last start of a rank.
_ENDS = (("cut", "was cut", "were cut"), ("corrupt", "is corrupt", "are corrupt"))
_BESIDE = ": if other nodes have records of theirs, audit all of them together, in one folder"
_WRITTEN = (", or is still being written", ", or are still being written")


def about(summary: Summary) -> Iterable[str]:
    """What may be missing from a record, and ranks that never came."""
    job = [process for process in summary.processes if process.has_epochs]
    ranks = sorted({process.rank for process in job if process.rank >= 0})
    told = [process.facts.get("world_size") for process in summary.processes]
    world = max((number for number in told if isinstance(number, int)), default=0)
    came = {process.facts.get("rank") for process in summary.processes} - {None}
    if world > len(came) and came:
        lacking = sorted(set(range(world)) - {rank for rank in came if isinstance(rank, int)})
        many = count(len(came), "rank")
        yield f"WORLD_SIZE said {world}, and {many} came: nothing is known of rank {listed(lacking)}{_BESIDE}"
    elif world > len(ranks) > 0:
        lacking = sorted(set(range(world)) - set(ranks))
        yield f"rank {listed(lacking)} came, and iterated no loader that was recorded"
    yield from _without_an_end(summary)
    for each in [each for each in summary.processes if each.lost][:1]:
        yield f"{_whose(each)} could not write all of its record ({each.lost[0]})"
    for limit in summary.limits:
        words = ", ".join(f"{value:g} {name}" for name, value in limit.items() if name in ("steps", "seconds"))
        yield f"the run was limited{f' to {words}' if words else ''}: what comes later is not judged"


def _without_an_end(summary: Summary) -> Iterable[str]:
    """Files that are cut or corrupt; one that was started again, or whose job has ended, is written no more."""
    last: dict[int, int] = {}
    for each in summary.processes:
        last[each.rank] = max(each.attempt, last.get(each.rank, 0)) if each.has_epochs else last.get(each.rank, 0)
    for state, one, several in _ENDS:
        files = [each for each in summary.processes if each.state == state and _matters(each)]
        over = [each for each in files if state != "cut" or each.ended or each.attempt < last[each.rank]]
        for some, known in ((over, True), ([each for each in files if each not in over], False)):
            if some:
                names, many = listed(list(dict.fromkeys(map(_whose, some))), 3), len(some) > 1
                whose = f"records of {names} {several}" if many else f"record of {names} {one}"
                yield f"the {whose}{'' if known else _WRITTEN[many]} ({_why(some)}): what came after that is not judged"


def _why(files: Sequence[Process]) -> str:
    """Why these files have no clean end."""
    why = files[0].why
    if files[0].ended and len({each.ended for each in files}) == 1:
        return files[0].ended
    if len(files) == 1:
        return why
    if all(each.why == NOT_CLOSED for each in files):
        return NOT_CLOSED.replace("it has", "they have")
    return f"that of {_whose(files[0])}: {why}"


def _matters(process: Process) -> bool:
    # A worker is ended by its loader, mostly: only its deliveries would be missed, and those are told.
    return process.has_epochs or "closing frame" not in process.why


def _whose(process: Process) -> str:
    return f"rank {process.rank}" if process.rank >= 0 else process.token
