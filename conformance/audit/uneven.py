"""Ranks with other numbers of steps: decides what comes of the steps that some of them do not have."""

from collections.abc import Iterator
from typing import Any

from conformance.audit.epochs import EpochView
from conformance.audit.finding import Finding
from conformance.audit.words import listed
from conformance.trial.words import count

_ADVICE = "make the steps equal: drop_last=True with a sampler over ranks, or pad; or train under Join"


def judge(epoch: EpochView) -> Iterator[Finding]:
    """A rank was at its end while another one still had steps."""
    seen = epoch.ranks
    ended = {rank: one.steps for rank, one in seen.items() if one.whole}
    if len(seen) < 2 or not ended:
        return
    least, most = min(ended.values()), max(one.steps for one in seen.values())
    if least >= most:
        return
    # Ranks are many: those at both ends tell it.
    few = [rank for rank, steps in ended.items() if steps == least]
    many = [rank for rank, one in seen.items() if one.steps == most]
    # Without ranks there are no collectives, as far as is known.
    apart = min(seen) < 0
    text = f"{ranks_of(epoch, few)} had {count(least, 'step')}, and {ranks_of(epoch, many)} had {most}"
    if epoch.evaluation or apart:
        yield epoch.at_loop(
            "note", "other-steps", f"{text}, in an evaluation: no harm if nothing is gathered at each step"
        )
        return
    if _stopped_together(epoch, least):
        right = f"and {ranks_of(epoch, many)} left after one more: right if ranks agree at each step whether all go on"
        ended_first = f"{ranks_of(epoch, few)} had {count(least, 'step')}"
        yield epoch.at_loop("note", "stopped-together", f"{ended_first}, {right}")
        return
    if all(one.facts.get("joined") for one in seen.values()):
        yield epoch.at_loop("note", "joined", f"{text}: right under Join, in which they are read")
        return
    excerpt = tuple(f"{epoch.view.who(rank)}: {count(seen[rank].steps, 'step')}" for rank in list(seen)[:4])
    text += f": {_outcome(epoch, least)}"
    yield epoch.at_loop("COUNT-5", "other-steps", text, excerpt=excerpt, advice=_ADVICE, worst=9)


def _stopped_together(epoch: EpochView, least: int) -> bool:
    """Whether every rank that had more steps was left by its loop with the first of them: a loop that asks the others
    at each step whether all have a batch must have fetched its own.
    """
    more = [seen for seen in epoch.ranks.values() if seen.steps > least]
    return all(seen.how == "left" and seen.steps == least + 1 for seen in more)


def ranks_of(epoch: EpochView, ranks: list[int]) -> str:
    """``rank 0``, ``ranks 0 and 3``; processes where the job did not tell its ranks."""
    if ranks and ranks[0] < 0:
        return f"process {listed([-1 - rank for rank in ranks], 3)}"
    return f"rank{'s' if len(ranks) > 1 else ''} {listed(ranks, 3)}"


def _outcome(epoch: EpochView, least: int) -> str:
    """What becomes of a collective that only some ranks enter: it waits, or meets the others' next one."""
    what = f"a collective in a step beyond {least}"
    waits = "waits forever, or is paired with one of the next epoch"
    if _have_group(epoch):
        return f"{what} (DDP has one in each backward()) {waits}"
    return f"if ranks meet at each step, as under DDP, {what} {waits}"


def _have_group(epoch: EpochView) -> bool:
    """Whether the ranks are known to have made a process group."""
    told: list[dict[str, Any]] = [process.facts for process in epoch.view.summary.processes]
    return any("groups" in facts for facts in told if facts.get("rank") in epoch.ranks)
