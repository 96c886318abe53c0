"""The loaders of specs/which-claims.md promise what the page says, and what is often claimed of them is refuted."""

import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from conformance.claiming.claims import refuted
from conformance.clauses import CLAUSES, FAMILIES
from conformance.contract import Claims, Implementation, parse_claims
from conformance.device.models import warm_up
from conformance.processes.resolve import FILE_MODULE, resolve
from conformance.processes.sources import ForkedSource, SpawnedSource
from conformance.trial.known import parse_case
from conformance.trial.session import Options, Session
from conformance.trial.tiers import TIERS
from tests.docs.programs import ROOT
from tests.docs.readme_blocks import Block, blocks_of

PAGE = ROOT / "specs" / "which-claims.md"
HOME = ROOT / "specs" / "examples" / "which_claims"
NAMES = sorted(path.name for path in HOME.glob("*.py"))
REACH = ("equal", "draws", "endless", "alone", "peek", "batches", "streams", "subsets", "mixtures", "loop")
# What a loader is shown for, if it is of another chapter.
ELSEWHERE = {"prefetcher.py": ("async",), "stateful.py": ("resume",)}


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of an adapter is on the path as long as it is judged."""
    monkeypatch.setattr(sys, "path", [*sys.path])


def shown(kind: str) -> list[tuple[str, Block]]:
    """The blocks of the page that have this marker, each with the adapter of its section."""
    found = []
    for section in PAGE.read_text(encoding="utf-8").split("\n## "):
        (name,) = set(re.findall(r"\(examples/which_claims/(\w+\.py)\)", section)) or {""}
        found += [(name, block) for block in blocks_of(name, section) if block.kind == kind]
    return found


def adapter(name: str, change: str = "") -> Implementation:
    """An adapter of the page, with other claims if they are given, as arguments are."""
    found = resolve(str(HOME / name))
    if found.claims.loop:
        # Here, and not in each process: an optimizer of torch imports much.
        warm_up()
    if not change:
        return found
    claims = parse_claims({**sys.modules[FILE_MODULE + name.removesuffix(".py")].claims, **eval(f"dict({change})")})
    # A loop is asked for no dataset.
    return replace(found, claims=claims if found.claims.datasets else replace(claims, datasets=()))


def owed(claims: Claims, families: tuple[str, ...]) -> list[str]:
    """The clauses of the families that bind a loader."""
    return [each.id for each in CLAUSES.values() if each.family in families and each.applies(claims)]


def test_the_page_shows_the_claims_of_every_adapter() -> None:
    """Word for word, and no adapter is left out."""
    assert NAMES == sorted(block.argument for _, block in shown("claims"))
    for name, block in shown("claims"):
        assert name == block.argument
        assert f"\n{block.text}" in (HOME / name).read_text(encoding="utf-8")


def test_every_clause_of_chapters_11_and_12_binds_one_of_them() -> None:
    """All that only some loaders promise has an example."""
    bound = {clause for name in NAMES for clause in owed(adapter(name).claims, REACH)}
    assert {each.id for each in CLAUSES.values() if each.family in REACH} == bound


@pytest.mark.parametrize(
    ("name", "block"), shown("wrong"), ids=lambda each: each if isinstance(each, str) else each.text
)
def test_what_is_often_claimed_is_refuted(name: str, block: Block) -> None:
    """By the case that the page shows, with what it shows of it."""
    implementation, text = adapter(name, block.argument), block.text.strip()
    assert implementation.claims != adapter(name).claims
    case = text.partition(": ")[0]
    options = Options(case=parse_case(case) if case.split("-")[0].isupper() else None)
    with Session(ForkedSource(implementation), name, options) as session:
        (outcome,) = session.report().outcomes if options.case else (None,)
        assert text == (refuted(outcome.case) if outcome else session.invalid).strip()


def a_few(lane: object, tier: object, scenarios: Sequence[Any]) -> list[Any]:
    """Every third scenario, and two with workers."""
    alone = [each for each in scenarios if not getattr(each, "num_workers", 0)]
    return [*alone[::3], *[each for each in scenarios if each not in alone][:2]]


@pytest.mark.parametrize("name", NAMES)
def test_it_keeps_what_it_is_shown_for(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few scenarios of chapters 11 and 12, or of the chapter that its section names."""
    implementation = adapter(name)
    families = tuple(each for each in (*REACH, *ELSEWHERE.get(name, ())) if owed(implementation.claims, (each,)))
    monkeypatch.setitem(TIERS, "quick", replace(TIERS["quick"], floor_share=0.01))
    for family in families:
        monkeypatch.setitem(FAMILIES, family, replace(FAMILIES[family], drawn=None, few=a_few))
    with Session(ForkedSource(implementation), name, Options(tier="quick")) as session:
        outcomes = session.report([CLAUSES[clause] for clause in owed(implementation.claims, families)]).outcomes
    # Of so few scenarios some clauses see none; the deep tests see to it that they hold as well.
    assert {} == {each.clause: each.status for each in outcomes if each.status in ("VIOLATED", "INVALID")}
    assert sum(each.status == "HOLDS" for each in outcomes) > len(outcomes) / 2


@pytest.mark.deep
@pytest.mark.parametrize("name", NAMES)
def test_it_keeps_all_that_it_claims(name: str) -> None:
    """A whole run at the quick tier is green, in an interpreter of its own: here torch's warnings are errors."""
    with Session(SpawnedSource(str(HOME / name)), name, Options(tier="quick")) as session:
        assert [] == [each.clause for each in session.report().outcomes if each.fails(strict=False)]
