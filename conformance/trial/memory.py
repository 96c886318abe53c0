"""What was run, drawn and judged, kept: so that a loader can be judged under many claims for the price of few runs.

A judge, and what is tried, is a function of the claims that it reads. Which it reads is noted; under other claims that
agree in those, the answer is the same.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from conformance.contract import Claims
from conformance.processes.fleet import Fleet
from conformance.processes.lane import Lane
from conformance.trace import Scenario, Trace
from conformance.trial.campaign import Campaign
from conformance.trial.clause import Clause, Verdict
from conformance.trial.tiers import Tier

T = TypeVar("T")
_NAMES = frozenset(each.name for each in fields(Claims))


class Noted(Claims):
    """Claims that note which of them are read."""

    def __getattribute__(self, name: str) -> Any:
        if name in _NAMES:
            object.__getattribute__(self, "read").add(name)
        return object.__getattribute__(self, name)


def noted(claims: Claims) -> Noted:
    """The same claims, of which none was read so far."""
    made = object.__new__(Noted)
    object.__setattr__(made, "read", set())
    for name in _NAMES:
        object.__setattr__(made, name, getattr(claims, name))
    return made


@dataclass
class Memory:
    """Traces by family and scenario; answers by what was asked and by the claims that they depend on."""

    traces: dict[tuple[str, Scenario], Trace] = field(default_factory=dict)
    answers: dict[Any, list[tuple[dict[str, Any], Any]]] = field(default_factory=dict)

    def answer(self, question: Any, claims: Claims, ask: Callable[[Claims], T]) -> T:
        """What `ask` says under these claims, if it was not asked under claims that agree in what it reads."""
        known = self.answers.setdefault(question, [])
        for read, answer in known:
            if all(getattr(claims, name) == value for name, value in read.items()):
                return answer  # type: ignore[no-any-return]  # what this question was answered with
        reading = noted(claims)
        answer = ask(reading)
        names = object.__getattribute__(reading, "read")
        known.append(({name: getattr(claims, name) for name in names}, answer))
        return answer


class RememberingCampaign(Campaign):
    """A campaign that runs, draws and judges nothing twice, whatever it is claimed for."""

    def __init__(self, memory: Memory, fleet: Fleet, claims: Claims, family: str, tier: Tier, seed: int = 0) -> None:
        super().__init__(fleet, claims, family, tier, seed)
        self.memory = memory

    def tried(self) -> list[Scenario]:
        """What is listed and drawn."""
        return self.memory.answer(("tried", self.family.name), self.claims, self._tried_under)

    def _tried_under(self, claims: Claims) -> list[Scenario]:
        ours, self.claims = self.claims, claims
        try:
            return super().tried()
        finally:
            self.claims = ours

    def observed(self, lane: Lane, scenario: Scenario) -> Trace:
        """What the implementation delivers in a scenario, once."""
        key = self.family.name, scenario
        if key not in self.memory.traces:
            self.memory.traces[key] = super().observed(lane, scenario)
        return self.memory.traces[key]

    def verdict(self, clause: Clause, trace: Trace) -> tuple[Verdict, Trace]:
        """The clause's verdict; what had to be run for it is kept with the trace."""
        key = self.family.name, trace.scenario

        def judged(claims: Claims) -> Verdict:
            ours, self.claims = self.claims, claims
            try:
                verdict, self.memory.traces[key] = super(RememberingCampaign, self).verdict(clause, trace)
                return verdict
            finally:
                self.claims = ours

        verdict = self.memory.answer((clause.id, *key), self.claims, judged)
        return verdict, self.memory.traces.get(key, trace)
