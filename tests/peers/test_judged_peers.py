"""Two loaders of others are judged in these tests too, over a few map-style scenarios, and keep what they promise."""

from dataclasses import replace

import pytest

from conformance.clauses import CLAUSES, FAMILIES
from conformance.processes.sources import SpawnedSource
from conformance.trial.session import Options, Session
from conformance.trial.tiers import TIERS


@pytest.fixture(autouse=True)
def _few_scenarios(monkeypatch: pytest.MonkeyPatch) -> None:
    """Less than the quick tier tries: this shows that the adapters work, and a matrix shows what the peers do."""
    monkeypatch.setitem(TIERS, "quick", replace(TIERS["quick"], floor_share=0.01))
    monkeypatch.setitem(FAMILIES, "map", replace(FAMILIES["map"], examples={"quick": 50}))


@pytest.mark.deep
@pytest.mark.parametrize("name", ["torchdata", "webdataset"])
def test_a_peer_keeps_its_promises(name: str) -> None:
    """Nothing is lost, repeated or out of order."""
    clauses = [clause for clause in CLAUSES.values() if clause.family == "map" and clause.level == "MUST"]
    with Session(SpawnedSource(name, ("1",)), name, Options(tier="quick")) as session:
        outcomes = session.report(clauses).outcomes
    assert {} == {each.clause: each.status for each in outcomes if each.status in ("VIOLATED", "INVALID")}
    assert sum(each.status == "HOLDS" for each in outcomes) > len(outcomes) / 2
