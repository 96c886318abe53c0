"""A lane without processes: a right loader is read here and now, and one run of a scenario is made to end wrongly."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from conformance.contract import Claims, Implementation, parse_claims
from conformance.loader import member, starting
from conformance.processes.task import Task
from conformance.trace import Epoch, Failure, RankRun, Trace
from conformance.trial.clause import Verdict
from conformance.trial.family import FAMILIES, Family, observe, with_twins
from conformance.trial.replay import family_clauses
from tests.known_bad.pool import Pool
from tests.known_bad.resuming import Resuming

Spoil = Callable[[RankRun], RankRun]


class Alone(Pool):
    """The museum's loader with workers, without starting any."""

    def __init__(self, request: Any) -> None:
        super().__init__(replace(request, num_workers=0))


LOADERS: tuple[type[Any], ...] = (Alone, Resuming)


class OneProcess:
    """Carries out tasks in this process; what the first rank of the run number `at` gives, `spoil` changes."""

    number, patience = 0, 10.0

    def __init__(self, loader: type[Any], folder: str) -> None:
        self.implementation = Implementation(loader.__name__, loader.load, parse_claims(loader.claims))
        self.folder = folder
        self.at, self.spoil, self.runs = -1, _as_it_is, 0

    @property
    def claims(self) -> Claims:
        """What the loader promises."""
        return self.implementation.claims

    def learned(self, name: str, find_out: Callable[[], Any]) -> Any:
        """What was found out: no worker is a new interpreter."""
        return starting.Start()

    def run(
        self, tasks: Sequence[Task], shift: int = 0, patience: float | None = None, stage: float | None = None
    ) -> tuple[RankRun, ...]:
        """One run of all ranks."""
        places = [os.path.join(self.folder, f"{shift}-{task.rank}") for task in tasks]
        ranks = [member.read_once(self.implementation, *each) for each in zip(tasks, places, strict=True)]
        if self.runs == self.at:
            ranks[0] = self.spoil(ranks[0])
        self.runs += 1
        return tuple(ranks)

    def observed(self, family: Family[Any], scenario: Any, at: int = -1, spoil: Spoil | None = None) -> Trace:
        """What the scenario's runs give when the one at that place is spoilt."""
        self.at, self.spoil, self.runs = at, spoil or _as_it_is, 0
        return observe(self, family, scenario)  # type: ignore[arg-type]

    def verdicts(self, family: Family[Any], trace: Trace) -> tuple[dict[str, Verdict], Trace]:
        """What each clause of the family says, those in doubt after they have seen more runs."""
        self.at = -1
        found: dict[str, Verdict] = {}
        for clause in family_clauses(family.name, self.claims):
            found[clause.id] = clause.judge(trace.scenario, self.claims, trace)
            if found[clause.id] and clause.twin:
                trace = with_twins(self, FAMILIES[clause.family], trace)  # type: ignore[arg-type]
                found[clause.id] = clause.judge(trace.scenario, self.claims, trace)
        return found, trace


def _as_it_is(rank: RankRun) -> RankRun:
    return rank


def hangs(rank: RankRun) -> RankRun:
    """Nothing is known of a rank that hangs."""
    return RankRun(rank.rank, (), Failure("hung", "step", "no answer within 10 s"))


def dies(rank: RankRun) -> RankRun:
    """Nor of one whose process ends."""
    return RankRun(rank.rank, (), Failure("died", "step", "the process ended with exit code 1"))


def raises(rank: RankRun) -> RankRun:
    """An error in place of the last step of the last epoch."""
    failure = Failure("raised", "step", "RuntimeError: no reason", rank.epochs[-1].number if rank.epochs else None)
    return replace(rank, epochs=_shortened(rank, failure), failure=failure)


def is_short(rank: RankRun) -> RankRun:
    """The last epoch ends a step early, and nothing says so."""
    return replace(rank, epochs=_shortened(rank, None))


def _shortened(rank: RankRun, failure: Failure | None) -> tuple[Epoch, ...]:
    if not rank.epochs:
        return ()
    last = rank.epochs[-1]
    return (*rank.epochs[:-1], replace(last, steps=last.steps[:-1], failure=failure or last.failure))
