"""No run is green in which something failed that no clause reports."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from conformance.clauses import CLAUSES, FAMILIES
from conformance.contract import Claims
from conformance.processes.resolve import resolve
from conformance.processes.sources import source_of
from conformance.trace import Epoch, Failure, RankRun, Run, Trace
from conformance.trial.replay import family_clauses
from conformance.trial.result import Result
from conformance.trial.session import Options, Session
from conformance.trial.tiers import TIERS
from conformance.trial.unowned import unowned_failure
from tests.harness.plain_loader import PlainLoader

CLAIMS = {"reference": resolve("reference").claims, "torch": resolve("torch").claims, "none": Claims()}
HUNG = Failure("hung", "step", "no answer within 10 s")
DIED = Failure("died", "step", "the process ended with exit code 1")
RAISED = Failure("raised", "step", "RuntimeError: no reason", 0)
# How each rank may end: at once, or after the beginning of an epoch.
ENDS = {
    "hangs": RankRun(0, (), HUNG),
    "dies": RankRun(0, (), DIED),
    "raises": RankRun(0, (Epoch(0, ((0,),), failure=RAISED),), RAISED),
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("name", CLAIMS)
def test_a_failure_in_any_listed_scenario_is_told(name: str, end: str) -> None:
    """A clause accuses the run; or nobody does, and then the run of the suite is not green, unless it may fail so."""
    claims, silent = CLAIMS[name], []
    for family in FAMILIES.values():
        clauses = family_clauses(family.name, claims)
        for scenario in family.listed(claims, TIERS["gate"]) if clauses else ():
            trace = Trace(scenario, (Run("main", (ENDS[end],)),))
            verdicts = {clause.id: clause.judge(scenario, claims, trace) for clause in clauses}
            told = any(verdicts.values()) or unowned_failure(family, claims, trace, verdicts)
            looked = any(verdict is not None for verdict in verdicts.values()) or family.may_fail(scenario, claims)
            allowed = looked if end == "raises" else end == "hangs" and family.may_hang(scenario)
            if not told and not allowed:
                silent.append(f"{family.name} {scenario.code}")
    assert [] == silent


class HangsWithFive(PlainLoader):
    """It waits for ever before it delivers any of 5 samples."""

    def __iter__(self) -> Iterator[list[int]]:
        if len(self.request.dataset) == 5:
            threading.Event().wait()
        return super().__iter__()


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    """The quick tier over that loader, without the clauses that would accuse it."""
    for clause in ("COUNT-6", "COUNT-7"):
        monkeypatch.setitem(CLAUSES, clause, replace(CLAUSES[clause], judge=lambda *_: None))
    source, name = source_of(lambda request: HangsWithFive(request), dict(when_keeping="uneven"))
    with Session(source, name, Options(tier="quick", patience=0.5)) as session:
        yield session


def test_a_hang_that_no_clause_reports_is_not_green(session: Session) -> None:
    """One clause of the family says so, with the case; the others hold."""
    wanted = [CLAUSES[clause] for clause in ("PART-1", "PART-7")]
    first, *others = session.report(wanted).outcomes
    assert ("NOT EXERCISED", True) == (first.status, first.fails(strict=False))
    assert "no clause of its family says why; if COUNT-7 is violated elsewhere, fix that first" in first.note
    assert "in the case n5," in first.note
    assert "rank 0 hung: no answer within 0.5 s (in step)" in first.note
    assert {"HOLDS"} == {outcome.status for outcome in others}


def test_the_failure_of_a_family_is_told_once() -> None:
    """Also where a clause judges two families: neither a second one tells it, nor the first hides the other's."""
    source, name = source_of(
        lambda request: PlainLoader(request), dict(workers=True, length=True, when_keeping="uneven")
    )
    one, other = (next(iter(FAMILIES[each].listed(Claims(), TIERS["gate"]))) for each in ("map", "workers"))
    with Session(source, name, Options()) as session:
        exercised = dict.fromkeys(CLAUSES, 1000)
        session._results |= {"map": Result(exercised, unowned=(one, "it hung"))}
        session._results |= {"workers": Result(exercised, unowned=(other, "it hung"))}
        wanted = [CLAUSES[clause] for clause in ("COUNT-4", "PART-1", "ORDER-10", "WORK-1")]
        outcomes = [session.outcome(clause) for clause in wanted]
    assert ["NOT EXERCISED", "HOLDS", "NOT EXERCISED", "HOLDS"] == [outcome.status for outcome in outcomes]
    for scenario, outcome in zip((one, other), outcomes[::2], strict=True):
        assert f"in the case {scenario.code} " in outcome.note


def test_an_error_that_a_clause_has_looked_at_is_owned() -> None:
    """It found nothing wrong with it; a hang needs a clause that accuses."""
    family: Any = FAMILIES["map"]
    scenario = next(iter(family.listed(Claims(), TIERS["gate"])))
    for end, expected in (("raises", ""), ("hangs", "rank 0 hung: no answer within 10 s (in step)")):
        trace = Trace(scenario, (Run("main", (ENDS[end],)),))
        assert expected == unowned_failure(family, Claims(), trace, {"PART-1": []})


def test_what_closing_raises_has_one_name() -> None:
    """WORK-15 accuses of it among the lives of a loader; where the caller's generators are looked at, nobody does."""
    claims, raised = CLAIMS["torch"], RankRun(0, (), Failure("raised", "close", "AttributeError: no pipeline"))
    told: dict[str, set[str]] = {}
    for name in ("life", "cut short"):
        family = FAMILIES[name]
        closed = [each for each in family.listed(claims, TIERS["gate"]) if each.conduct.startswith("closed")]
        assert closed
        for scenario in closed:
            trace = Trace(scenario, (Run("main", (raised,)),))
            verdicts = {each.id: each.judge(scenario, claims, trace) for each in family_clauses(name, claims)}
            told.setdefault(name, set()).update(clause for clause, verdict in verdicts.items() if verdict)
            assert "" == unowned_failure(family, claims, trace, verdicts)
    assert {"life": {"WORK-15"}, "cut short": set()} == told
