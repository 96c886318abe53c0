"""Groups of ranks that are one replica: decides which are in force, and what the report says of them."""

from collections.abc import Iterable, Sequence

from conformance.audit.summary import Summary
from conformance.audit.view import Replicas
from conformance.audit.words import listed
from conformance.trial.words import count

_SHOWN = 3


def in_force(summary: Summary, given: Sequence[Sequence[int]]) -> Replicas:
    """The groups of the record and those that are given; what has a rank in common is one group."""
    found: list[set[int]] = []
    for group in (*summary.same_data, *given):
        ranks = set(group)
        for other in [each for each in found if each & ranks]:
            ranks |= other
            found.remove(other)
        found.append(ranks)
    return tuple(sorted(tuple(sorted(group)) for group in found))


def unknown(summary: Summary, given: Iterable[Sequence[int]]) -> str:
    """Which ranks of given groups the job does not have, as a sentence; "" if it has them all, or told no ranks."""
    told = [process.facts for process in summary.processes]
    ranks = {facts["rank"] for facts in told if isinstance(facts.get("rank"), int)}
    worlds = [facts["world_size"] for facts in told if isinstance(facts.get("world_size"), int)]
    known = ranks | set(range(max(worlds, default=0)))
    for group in given:
        lacking = sorted(set(group) - known)
        if lacking and known:
            words = ",".join(map(str, group))
            has = f"the job has {count(len(known), 'rank')}, numbered from 0"
            return f"--same-data {words} names rank {listed(lacking)}, which nothing is known of: {has}"
    return ""


def told(summary: Summary, given: Sequence[Sequence[int]]) -> Iterable[str]:
    """Which groups are in force, and who said so."""
    groups = in_force(summary, given)
    if not groups:
        return
    named = {tuple(sorted(group)) for group in given}
    who = "--same-data" if named >= set(groups) else "the record: a device mesh, or --same-data"
    shown = [f"{{{','.join(map(str, group))}}}" for group in groups]
    if len(groups) == 1 and len(groups[0]) <= 2 * _SHOWN:
        yield f"ranks {listed(groups[0])} are one replica ({who}): they must get the same data, and count once"
    else:
        many = count(len(groups), "group")
        yield f"{many} of ranks must get the same data, and count once ({who}): {listed(shown, _SHOWN)}"
