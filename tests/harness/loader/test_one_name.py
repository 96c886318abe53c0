"""One fault has one name: what hangs or is spoilt anyway is not held against clauses of faults and conducts as well."""

from collections.abc import Iterator
from typing import Any

import pytest

from conformance.clauses import FAMILIES
from conformance.loader import patience
from conformance.loader.scenario import from_code
from tests.harness.plain_loader import PlainLoader
from tests.harness.trial.test_campaign import campaign


class HangsOnOneSample(PlainLoader):
    """Never answer for a dataset of one sample, before anything is read."""

    def __iter__(self) -> Iterator[Any]:
        while len(self.request.dataset) == 1:
            pass
        return super().__iter__()


class CountsAllLoaders(PlainLoader):
    """Deal out the samples by how many loaders were made in the process before."""

    made = 0

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        CountsAllLoaders.made += 1
        self.turn = self.made

    def shard(self) -> list[int]:
        whole = super().shard()
        return whole[self.turn :]


class OrdersByAllLoaders(PlainLoader):
    """Shuffle by how many loaders were made in the process before."""

    made = 0

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        OrdersByAllLoaders.made += 1

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch is read next."""
        self.epoch = epoch + 100 * self.made


@pytest.fixture(autouse=True)
def _no_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "GRACE", 0.1)
    monkeypatch.setattr(patience, "SHORT_GRACE", 0.1)


def accusing(load: Any, code: str, family: str, patience: float = 10.0, **claims: Any) -> dict[str, str]:
    """The clauses that accuse in a case, each with the kind of what it finds."""
    with campaign(load, family, patience=patience, **claims) as trying:
        verdicts = trying._judge(from_code(code))
    return {clause: verdict[0].kind for clause, verdict in verdicts.items() if verdict}


@pytest.mark.parametrize("trouble", ["raise@0", "stop@0", "leave@1", "two@0", "ended", "kept"])
def test_what_hangs_without_a_fault_is_no_clause_of_a_fault(trouble: str) -> None:
    """A request that hangs by itself is COUNT-6's alone: no clause of the fault or of the conduct accuses."""
    assert {} == accusing(HangsOnOneSample, f"n1,w1,b1,keep,e2,{trouble}", "life", patience=0.3, workers=None)


def test_a_shard_that_an_earlier_loader_spoils_is_named_so() -> None:
    """Where a shard differs in the usual state of the generators too, it is not their fault."""
    found = accusing(CountsAllLoaders, "n4,w1,b1,keep,random-state", "map", shuffle=None, epochs=None)
    assert found["PART-7"] == "shard-differs-after"


def test_an_order_that_an_earlier_loader_spoils_is_not_the_generators_fault() -> None:
    """ORDER-9 accuses of the global generators only; ORDER-5 names what depends on earlier loaders."""
    found = accusing(OrdersByAllLoaders, "n8,w1,b1,keep,shuffle,random-state", "map")
    assert "ORDER-9" not in found


def test_hangs_are_counted_by_what_goes_wrong() -> None:
    """A fault whose cases hang keeps no other fault, and no conduct, from being tried."""
    blamed = FAMILIES["life"].blamed
    codes = ("n2,w1,b1,keep,raise@0", "n2,w1,b1,keep,raise@1", "n2,w1,b1,keep,leave@1", "n2,w1,b1,keep,kept")
    assert ["raise", "raise", "leave", "kept"] == [blamed(from_code(code)) for code in codes]
