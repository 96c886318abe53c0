"""The suite's own golden vectors: they are what its judges and its bridge say."""

import json
import re
from collections import Counter
from typing import Any

import pytest

from conformance.clauses import CLAUSES
from conformance.contract import parse_claims
from conformance.loader.scenario import Scenario
from conformance.trace import Epoch, RankRun, Run, Trace
from conformance.vectors.__main__ import FOLDER, differences
from conformance.vectors.verdicts import verdict

VERDICTS: list[dict[str, Any]] = json.loads((FOLDER / "verdicts.json").read_text("utf-8"))["cases"]


def test_the_files_are_what_the_suite_says() -> None:
    """The stored vectors are up to date, the conversation with the example as well."""
    assert [] == differences(FOLDER)


def test_no_right_delivery_fires_anything() -> None:
    """What is made by the policy table violates no clause."""
    rights = [case for case in VERDICTS if case["name"] == "right"]
    assert 12 == len(rights)
    assert [] == [case for case in rights if case["fires"]]


def test_every_clause_of_a_single_delivery_fires_and_holds_somewhere() -> None:
    """Who ports a judge sees each of these both ways."""
    fires = Counter(clause for case in VERDICTS for clause in case["fires"])
    holds = Counter(clause for case in VERDICTS for clause in case["holds"])
    both = [
        *(f"BATCH-{number}" for number in range(1, 6)),
        *(f"COUNT-{number}" for number in (1, 2, 3, 4, 5, 6, 7)),
        *(f"PART-{number}" for number in (1, 2, 3, 4, 5, 6, 8)),
        *("ORDER-1", "ORDER-2", "ORDER-3", "ORDER-4", "ORDER-6", "WORK-3", "WORK-4", "WORK-5", "WORK-6"),
    ]
    assert [] == [clause for clause in both if not (fires[clause] and holds[clause])]
    assert set(both) <= set(CLAUSES)


def test_every_wrong_answer_of_the_bridge_is_told() -> None:
    """Each wrong line is named by its number, the last that was said."""
    cases = [case for case in json.loads((FOLDER / "bridge.json").read_text("utf-8"))["cases"] if "said" in case]
    assert [f"line {len(case['said'])} of the command" for case in cases] == [
        case["told"].partition(",")[0] for case in cases
    ]


def test_an_exchange_ends_with_a_line_of_the_command() -> None:
    """What is told, or nothing, is told of the last line, and the suite goes on after no line that it can't read."""
    cases = [case for case in cases_of("bridge.json") if "lines" in case and "told" in case]
    assert {True, False} == {bool(case["told"]) for case in cases}
    assert [] == [case for case in cases if not case["lines"][-1].startswith("< ")]
    assert [] == [case for case in cases if ("understood" == case["name"]) == bool(case["told"])]


def cases_of(name: str) -> list[dict[str, Any]]:
    """The cases of a file."""
    found: list[dict[str, Any]] = json.loads((FOLDER / name).read_text("utf-8"))["cases"]
    return found


def test_no_judge_accuses_a_shard_of_the_vectors() -> None:
    """What the reference's table says is right is right by the clauses of chapters 1 to 3."""
    for case in cases_of("shards.json"):
        claims = dict.fromkeys(("when_dropping", "when_keeping"), case["policy"])
        request = Scenario(case["samples"], case["ranks"], case["combined_batch"], drop_last=case["drop_last"])
        found = verdict(request, {**claims, "layout": case["layout"]}, [[each] for each in case["steps_of_rank"]], "")
        assert [] == found["fires"], case
        assert len(found["holds"]) > (2 if case["samples"] else 0)


def test_no_judge_accuses_a_stream_of_the_vectors() -> None:
    """The steps of all workers, one worker after the other, are right by the clauses of chapter 4."""
    for case in cases_of("streams.json"):
        request = Scenario(
            case["elements"],
            case["ranks"],
            case["combined_batch"],
            drop_last=case["drop_last"],
            num_workers=case["workers"],
            dataset="iterable",
        )
        claims = {"datasets": ["iterable"], "iterable_workers": case["iterable_workers"], "in_order": False}
        steps = [[[step for worker in rank for step in worker]] for rank in case["steps_of_rank_and_worker"]]
        assert [] == verdict(request, claims, steps, "")["fires"], case


def test_the_bound_of_reading_ahead_is_the_judges() -> None:
    """ASYNC-3 holds with as many reads as a vector says, and fires with one more."""
    claims = parse_claims({"asynchronous": True, "hooks": ["buffer_size"]})
    for case in cases_of("ahead.json"):
        given, most = case["steps_given"], case["most_samples_read"]
        conduct, when = (f"look@{given - 1}", "held") if given else ("before", "before")
        request = Scenario(
            most + 2,
            batch_size=case["combined_batch"],
            num_workers=case["workers"],
            epochs=2,
            asynchronous=True,
            buffer_size=case["buffer_size"],
            conduct=conduct,
        )
        for more in (0, 1):
            remarks = ((when, str(most + more)), ("read", str(most + 5)), ("loaded", "0"))
            ranks = (RankRun(0, (Epoch(0, ()), Epoch(1, ())), remarks=remarks),)
            found = CLAUSES["ASYNC-3"].judge(request, claims, Trace(request, (Run("main", ranks),)))
            assert found is not None
            assert bool(more) == bool(found), case


@pytest.mark.parametrize(
    ("name", "fires"),
    [
        ("64 epochs alike, where ranks take from one queue", ["PART-8"]),
        ("64 epochs alike, where one rank takes from a queue", []),
        ("more comes again, and no padding is claimed", ["WORK-3"]),
        ("as much comes again as may", []),
        ("a padded stream, out of order before its padding", ["WORK-6"]),
    ],
)
def test_a_loader_is_judged_by_all_that_it_claims(name: str, fires: list[str]) -> None:
    """No claim hides a fault that nothing else names, and what one of them allows is no fault by another."""
    assert [fires] == [case["fires"] for case in VERDICTS if name == case["name"]]


def test_no_verdict_asks_for_what_its_claims_exclude() -> None:
    """The claims are such as an adapter may make, and its datasets and files are claimed."""
    for case in VERDICTS:
        claims = parse_claims(case["claims"])
        assert case["request"].get("dataset", "map") in claims.datasets, case["name"]
        assert claims.drops or "shards" not in case["request"], case["name"]


def test_no_conversation_asks_for_a_larger_seed_than_the_contract() -> None:
    """A loader may refuse seeds from 2^31 on, and its lines can be understood all the same."""
    text = (FOLDER / "bridge.json").read_text("utf-8")
    assert 2**31 - 1 == max(map(int, re.findall(r'seed\\":\\"(-?\d+)', text)))


def test_chapter_3_counts_the_orders_of_its_vectors() -> None:
    """Chapter 3 says how many orders feistel.json has."""
    assert f"samples of {len(cases_of('feistel.json'))} orders" in (FOLDER.parent / "3-order.md").read_text("utf-8")
