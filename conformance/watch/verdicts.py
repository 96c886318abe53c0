"""From a record to what is shown: decides what of the verdict is accepted, and what the report begins with."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from conformance.audit.accepted import Unfit
from conformance.audit.accepting import accepting
from conformance.audit.counted import Counted, configured
from conformance.audit.gather import gather
from conformance.audit.page import write_page
from conformance.audit.summary import GroupKey, Summary
from conformance.audit.text import shown
from conformance.audit.verdict import Verdict, judged
from conformance.watch.over import mark

SameData = Sequence[Sequence[int]]


def verdict_of(
    folder: Path,
    same_data: SameData = (),
    limited: bool = False,
    html: Path | None = None,
    over: Mapping[int, str] = MappingProxyType({}),
    samples: Sequence[Counted] = (),
) -> tuple[Verdict, list[str]]:
    """The verdict over a record, without what is accepted; and what is said of the acceptances, and where the page is.

    `over`: which processes have ended, and how. `limited`: the job was stopped, so that what was not found may be
    there. If pyproject.toml can't be read, nothing is accepted, and that is said: a job has run for this verdict.
    """
    summary = gather(folder)
    mark(summary, over)
    try:
        verdict = judged(summary, same_data, [*samples, *configured(Path.cwd())])
        verdict, told = accepting(verdict, limited)
    except Unfit as error:
        verdict, told = judged(summary, same_data, samples), [f"nothing is accepted: {error}"]
    return verdict, told if html is None else [*told, _page(summary, verdict, html)]


def most_samples(folder: Path, loader: GroupKey) -> int:
    """How many different samples of a loader a record has, in the epoch in which most of them came."""
    group = gather(folder).groups.get(loader)
    if group is None:
        return 0
    came = [epoch.histogram() for epoch in group.epochs.values()]
    return max((sum(number for times, number in told.items() if times) for told in came), default=0)


def _page(summary: Summary, verdict: Verdict, folder: Path) -> str:
    try:
        return f"picture: {write_page(summary, verdict, folder)}"
    except OSError as error:
        return f"no picture: {error}"


def report(verdict: Verdict, first: Sequence[str], last: Sequence[str], done: str) -> str:
    """The text: what was not seen, then the findings, then what is said of acceptances."""
    lines = [*first, shown(verdict, Path.cwd(), done), *last]
    return os.linesep.join(lines)
