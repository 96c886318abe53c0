"""What claims need and contradict is said by specs/README.md, and shown by the vectors."""

from pathlib import Path

import pytest

from conformance.contract import parse_claims
from conformance.contract.contradictions import RULES, Rule, table
from conformance.vectors.starts import CLAIMS

ROOT = Path(__file__).resolve().parents[2]


def test_the_table_of_the_claims_is_what_refuses_them() -> None:
    """The README has a line for each claim that another one can exclude."""
    assert table() in (ROOT / "specs" / "README.md").read_text("utf-8")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.claim} {rule.verb} {rule.other}")
def test_each_rule_refuses_an_answer_to_start(rule: Rule) -> None:
    """A vector of bridge.json makes the mistake, and no other."""
    others = [other for other in RULES if other is not rule]
    listed = [claims for _, claims in CLAIMS if claims and rule.told(claims)]
    assert [each for each in listed if not any(other.told(each) for other in others)]


def test_what_is_no_rule_may_be_claimed() -> None:
    """The claims of a start that can be understood are such as an adapter may make."""
    for understood, claims in CLAIMS:
        if understood:
            parse_claims(claims)
