"""The findings name cases that can be replayed, clauses that there are, and peers that are judged."""

import re
from contextlib import suppress
from pathlib import Path

from conformance.clauses import CLAUSES, FAMILIES
from conformance.peers.catalog import PEERS
from conformance.trial.known import parse_case

TEXT = (Path(__file__).parent.parent.parent / "specs" / "findings.md").read_text(encoding="utf-8")
CODES = re.findall(r"`(n\d+,w\d+,[^`]*)`", TEXT)
CASES = re.findall(r"`([A-Z]+-\d+-n\d+,[^`]*)`", TEXT)


def _code_read_back(code: str) -> str:
    """What a code says, written again by the first family that can read it."""
    for family in FAMILIES.values():
        with suppress(ValueError):
            return str(family.read(code).code)
    return f"no family reads {code}"


def test_the_cases_can_be_replayed() -> None:
    """Each is what --case takes, with its clause or in a row that names one."""
    assert len(CODES) > 10
    assert len(CASES) >= 4
    assert [_code_read_back(code) for code in CODES] == CODES
    assert [f"{clause}-{scenario.code}" for clause, scenario in map(parse_case, CASES)] == CASES


def test_the_clauses_are_there() -> None:
    """No finding is about a clause that this version has not."""
    assert set(re.findall(r"\b[A-Z]{4,}-\d+\b", TEXT)) <= set(CLAUSES)


def test_the_names_can_be_judged() -> None:
    """What --impl is given is the name of a peer."""
    assert set(re.findall(r"--impl=([a-z0-9-]+)", TEXT)) <= {peer.name for peer in PEERS}
