"""Known failures: what an entry may say, what it excuses, and what it does not."""

import datetime
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conformance import check
from conformance.clauses import CLAUSES, FAMILIES
from conformance.cli import main
from conformance.contract import AdapterError, Claims
from conformance.loader.scenario import Scenario
from conformance.processes.sources import source_of
from conformance.trial.campaign import Campaign
from conformance.trial.known import parse_case, parse_known
from conformance.trial.outcome import Report
from conformance.trial.result import Result
from conformance.trial.session import Options, Session
from conformance.trial.tiers import TIERS
from tests.harness import plain_loader, runs

TODAY = datetime.date(2026, 6, 1)
CASE = "PART-1-n1,w2,b1,keep"
ENTRY = dict(case=CASE, reason="DistributedSampler pads")


class Doubles(plain_loader.PlainLoader):
    """Deliver the first sample of each step twice."""

    def __iter__(self) -> Any:
        for batch in super().__iter__():
            yield [*batch, batch[0]]


DOUBLED = "PART-1-n1,w1,b1,keep"


def doubles(request: Any) -> Any:
    """Its loader."""
    return Doubles(request)


def judged(known: dict[str, Any], load: Any = doubles, clauses: tuple[str, ...] = ("PART-1",)) -> Report:
    """The report on a few clauses, with these known failures."""
    from conformance.clauses import CLAUSES

    source, name = source_of(load, dict(when_dropping="drop", when_keeping="uneven"))
    with Session(source, name, Options(tier="quick", known=known)) as session:
        return session.report([CLAUSES[clause] for clause in clauses])


@pytest.mark.parametrize(
    ("entries", "sentence"),
    [
        ({"PART-99": ENTRY}, "the known failure of PART-99 names no clause of this version"),
        ({"PART-1": "n1,w2,b1,keep"}, "but must be a table with a case and a reason; fill them in"),
        ({"PART-1": dict(case=CASE)}, "but must be a table with a case and a reason"),
        ({"PART-1": dict(reason="x")}, "but must be a table with a case and a reason"),
        ({"PART-1": dict(case=CASE, reason="")}, "but must be a table with a case and a reason"),
        (
            {"PART-1": dict(ENTRY, resaon="x")},
            "has an unknown field 'resaon'; the fields are case, reason, issue, until",
        ),
        ({"PART-1": dict(ENTRY, reason="TODO: why")}, "still has the template's reason; say why it is tolerated"),
        ({"PART-2": ENTRY}, f"stores the case '{CASE}' of PART-1; store one of PART-2"),
        ({"PART-1": dict(ENTRY, case="nonsense")}, "the case 'nonsense' names no clause"),
        ({"PART-1": dict(ENTRY, case="PART-1-n1,q2")}, "'q2' in the case 'n1,q2' can't be read"),
        ({"PART-1": dict(ENTRY, case=7)}, "the case '7' names no clause"),
        (
            {"PART-1": dict(ENTRY, until="2026-05-31")},
            "expired on 2026-05-31; fix the loader, or give the entry a later",
        ),
        ({"PART-1": dict(ENTRY, until=datetime.date(2026, 5, 31))}, "expired on 2026-05-31"),
        ({"PART-1": dict(ENTRY, until=datetime.datetime(2026, 5, 31, 12))}, "expired on 2026-05-31"),
        ({"PART-1": dict(ENTRY, until="soon")}, "has until='soon', which is no date; write it as 2027-01-31"),
        ({"PART-1": dict(ENTRY, until=7)}, "has until=7, which is no date"),
        ({"PART-1": dict(ENTRY, race=True)}, "has race=True, but a race is named by the kind of its finding"),
    ],
)
def test_a_malformed_entry_gets_a_sentence(entries: dict[str, Any], sentence: str) -> None:
    """The sentence names the entry, the rule and the fix."""
    with pytest.raises(AdapterError) as error:
        parse_known(entries, TODAY)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("until", [None, "2026-06-01", datetime.date(2026, 6, 2), datetime.datetime(2026, 6, 2, 3)])
def test_an_entry_holds_to_the_end_of_its_last_day(until: Any) -> None:
    """An entry without a date, or with one that is not past, is read."""
    fields = ENTRY if until is None else dict(ENTRY, until=until)
    (known,) = parse_known({"PART-1": fields}, TODAY)["PART-1"]
    assert ("PART-1", Scenario(1, 2), "DistributedSampler pads") == (known.clause, known.scenario, known.reason)


def test_a_case_id_is_a_clause_and_a_scenario() -> None:
    """`--case` takes what a block shows."""
    assert ("PART-1", Scenario(1, 2)) == parse_case(CASE)
    assert ("ORDER-14", Scenario(8, shuffle=True, variant="seed+1")) == parse_case(
        "ORDER-14-n8,w1,b1,keep,shuffle,seed+1"
    )


def test_a_known_failure_is_tolerated() -> None:
    """The clause is KNOWN with its reason, and does not fail the run."""
    report = judged({"PART-1": dict(case=DOUBLED, reason="we live with it")})
    assert ("KNOWN", "we live with it") == (report.outcome("PART-1").status, report.outcome("PART-1").note)
    assert report.passed


@pytest.mark.deep
def test_a_reason_is_told_once() -> None:
    """Several kinds of one fault have one reason."""
    entries = [dict(case=f"PART-1-n{samples},w1,b1,keep", reason="we live with it") for samples in (1, 2)]
    assert "we live with it" == judged({"PART-1": entries}).outcome("PART-1").note


def test_what_is_not_known_is_violated() -> None:
    """Without the entry the same clause fails the run."""
    report = judged({})
    assert ("VIOLATED", False) == (report.outcome("PART-1").status, report.passed)


def test_a_stale_entry_fails_the_run() -> None:
    """An entry whose case does not fail any more is to be removed."""
    report = judged({"PART-1": dict(case=DOUBLED, reason="fixed since")}, plain_loader.load)
    outcome = report.outcome("PART-1")
    assert ("INVALID", False) == (outcome.status, report.passed)
    assert f"the known failure {DOUBLED} does not fail (any more); remove it, or store a case that does" in outcome.note


@pytest.mark.deep
@pytest.mark.parametrize("load", [doubles, plain_loader.load])
def test_a_race_is_known_whether_it_fails_this_time_or_not(load: Any) -> None:
    """Its kind is tolerated and its case is not replayed, so that the verdict is the same in every run."""
    (kind,) = {finding.case.finding.kind for finding in judged({"PART-1": ENTRY | {"case": DOUBLED}}).outcomes[0].known}
    outcome = judged({"PART-1": dict(case=DOUBLED, reason="a race", race=kind)}, load).outcome("PART-1")
    assert ("KNOWN", "a race") == (outcome.status, outcome.note)


@pytest.mark.deep
def test_a_race_of_another_kind_excuses_nothing() -> None:
    """An entry names the kind that it tolerates."""
    report = judged({"PART-1": dict(case=DOUBLED, reason="a race", race="hung-after-error")})
    assert "VIOLATED" == report.outcome("PART-1").status


def test_another_kind_of_the_same_clause_still_fails() -> None:
    """An entry excuses one kind of finding: a loader that can't be built does not excuse a step that fails."""

    def load(request: Any) -> Any:
        if len(request.dataset) == 2:
            raise RuntimeError("never two")
        loader = plain_loader.load(request)
        return loader if len(request.dataset) < 5 else (1 / 0 for _ in loader)

    known = {"COUNT-7": dict(case="COUNT-7-n2,w1,b1,keep", reason="never two")}
    outcome = judged(known, load, ("COUNT-7",)).outcome("COUNT-7")
    assert outcome.case is not None
    assert ("VIOLATED", "raised-in-step") == (outcome.status, outcome.case.finding.kind)


def test_an_entry_of_what_is_not_claimed_changes_nothing() -> None:
    """A clause that is not owed is NOT CLAIMED, whatever is known of it."""
    report = judged({"ORDER-5": dict(case="ORDER-5-n2,w1,b1,keep,shuffle", reason="x")}, clauses=("ORDER-5",))
    assert "NOT CLAIMED" == report.outcome("ORDER-5").status


@pytest.mark.deep
def test_a_template_waits_for_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--write-known lists what is violated; it is refused until somebody says why, and then it works."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(runs.HERE))
    adapter = tmp_path / "adapter.py"
    adapter.write_text(
        "from tests.harness.plain_loader import PlainLoader\n"
        "claims = dict(when_dropping='drop', when_keeping='uneven')\n"
        "class load:\n    def __init__(self, request):\n        self.right = PlainLoader(request)\n"
        "    def __iter__(self):\n        return iter(self.right)\n"
        "    def __len__(self):\n        return len(self.right) + 1\n"
    )
    command = ["run", "adapter.py", "--tier=quick"]
    assert 1 == main([*command, "--write-known=known.toml"])
    entries = tomllib.loads(Path("known.toml").read_text())
    assert ["COUNT-4"] == list(entries)
    assert 4 == main([*command, "--known=known.toml"])
    Path("known.toml").write_text(Path("known.toml").read_text().replace("TODO: why this is tolerated", "we know"))
    assert 0 == main([*command, "--known=known.toml"])


def test_known_failures_of_the_adapter_count_too() -> None:
    """An adapter may list them itself."""

    class Adapter:
        claims = dict(when_dropping="drop", when_keeping="uneven")  # noqa: RUF012
        known_failures = {"PART-1": dict(case=DOUBLED, reason="x", until="2000-01-01")}  # noqa: RUF012
        load = doubles

    with pytest.raises(AdapterError, match="the known failure of PART-1 expired on 2000-01-01"):
        check(Adapter, tier="quick")


@pytest.mark.parametrize(("kind", "unconfirmed"), [("known", False), ("", True)])
def test_a_known_failure_that_shows_as_another_once_is_still_known(kind: str, unconfirmed: bool) -> None:
    """What new processes show decides; where they show nothing, that it was seen once is told."""
    scenario = next(iter(FAMILIES["map"].listed(Claims(), TIERS["quick"])))
    case = SimpleNamespace(finding=SimpleNamespace(kind=kind))
    seen: Any = SimpleNamespace(
        _smallest=lambda clause, known, result: scenario,
        _violating=lambda clause, known: [scenario],
        _hung=set(),
        _replayed=lambda clause, scenario: case if kind else None,
    )
    result = Result({})
    Campaign.confirm(seen, CLAUSES["PART-1"], frozenset({"known"}), result)
    assert ({}, unconfirmed) == (result.cases, "PART-1" in result.unconfirmed)
