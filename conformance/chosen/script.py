"""Scripts of chapter 11 for loaders that choose: decides how their cases are read, and what the checks are told."""

from collections.abc import Mapping
from typing import Any

from conformance.chosen import batches, judges_mixtures, judges_streams, judges_subsets
from conformance.chosen import scenario as asked_for
from conformance.chosen.asked import arguments_of, second_of
from conformance.chosen.scenario import ChosenScenario
from conformance.contract import Claims
from conformance.loader.scenario import Scenario
from conformance.trial.scripting import Scripting

_OF_ANY_LOADER = (
    *("samples", "world_size", "batch_size", "drop_last", "shuffle", "num_workers", "persistent_workers", "epochs"),
    *("seed", "variant"),
)


# What no script does yet.
_WITHOUT_SCRIPT = {*asked_for.BEHIND, "retold"}


def _fits(clause: str, scenario: ChosenScenario) -> bool:
    if _WITHOUT_SCRIPT & {*scenario.words}:
        return False
    return clause == "SUBSET-4" or not asked_for.has_second(scenario)


def _reading(scenario: ChosenScenario) -> str:
    if asked_for.has_second(scenario):
        return "read_beside"
    return "read_restarted" if asked_for.stopped_after(scenario) else "read_in_brief"


def _as_loader(scenario: ChosenScenario) -> Scenario:
    both = {name: getattr(scenario, name) for name in _OF_ANY_LOADER}
    return Scenario(**both, dataset="iterable" if scenario.about == "stream" else "map")


def _needs(clause: str, scenario: ChosenScenario) -> Mapping[str, bool]:
    needs = {
        "touched": clause == "SUBSET-5",
        "mixture": scenario.about == "mixture",
        "indices": scenario.about == "subset" and "whole" not in scenario.words,
        "log": clause in ("GROUP-8", "STREAM-5", "SUBSET-1"),
    }
    if scenario.about == "stream":
        own = asked_for.has_own_epoch(scenario)
        needs |= {"iterable": False, "stream": not own, "own": own}
    return needs


def _said(scenario: ChosenScenario, name: str) -> list[str]:
    if asked_for.stopped_after(scenario):
        inside = ["inside=True"] if "inside" in scenario.words else []
        return [f"stops={asked_for.stopped_after(scenario)}", *inside]
    if name == judges_mixtures.UNBROKEN:
        return ["stops=0"]
    if not asked_for.has_second(scenario):
        return []
    changes = second_of(scenario) if name == "second" else {}
    beside = [second_of(scenario)] if name == "main" else []
    return [*(f"{field}={value!r}" for field, value in changes.items()), f"beside={beside!r}"]


def _facts(clause: str, scenario: ChosenScenario, claims: Claims) -> Mapping[str, Any]:
    if scenario.about in asked_for.BATCHES:
        return _of_batches(scenario, claims)
    return {"stream": _of_streams, "subset": _of_subsets, "mixture": _of_mixtures}[scenario.about](scenario, claims)


def _of_batches(scenario: ChosenScenario, claims: Claims) -> dict[str, Any]:
    found: dict[str, Any] = {"oversized": claims.oversized, "too_large": _too_large(scenario)}
    grouped, policy = scenario.about == "grouped", claims.policy(scenario.drop_last)
    found |= {"groups": asked_for.groups_of(scenario)} if grouped else {"sizes": asked_for.sizes_of(scenario)}
    found["amounts"] = (1,) * scenario.samples if grouped else asked_for.sizes_of(scenario)
    found["parts_of_all"] = batches.parts_of(scenario)
    found["least_steps"] = batches.ENOUGH_STEPS
    if policy is not None:
        found["most_lost"] = batches.most_lost(scenario, policy)
        found["most_repeated"] = batches.most_repeated(scenario, policy)
    return found


def _too_large(scenario: ChosenScenario) -> list[int]:
    return asked_for.too_large(scenario) if scenario.about == "budget" else []


def _of_streams(scenario: ChosenScenario, claims: Claims) -> dict[str, Any]:
    return {
        "shards": asked_for.shards_of(scenario),
        "copies": judges_streams.copies_of_each(scenario, claims),
        "replicated": judges_streams.is_replicated(claims),
        "most_lost": judges_streams.most_dropped(scenario, claims),
        "least_steps": 1,
    }


def _of_subsets(scenario: ChosenScenario, claims: Claims) -> dict[str, Any]:
    found: dict[str, Any] = {"indices": asked_for.indices_of(scenario)}
    policy = claims.policy(scenario.drop_last)
    if policy is not None:
        found["most_lost"] = judges_subsets.most_dropped(scenario, policy)
        found["most_repeated"] = judges_subsets.most_padded(scenario, policy)
    return found


def _of_mixtures(scenario: ChosenScenario, claims: Claims) -> dict[str, Any]:
    return {
        "sources": asked_for.sources_of(scenario),
        "weights": asked_for.weights_of(scenario),
        "until_all": asked_for.ends_with_the_last(scenario),
        "most_lost": judges_mixtures.most_lost(scenario),
        "most_repeated": judges_mixtures.most_padded(scenario, claims.policy(scenario.drop_last)),
        "most_apart": judges_mixtures.most_apart(scenario, claims),
        "least_steps": 1,
    }


SCRIPTING = Scripting(_fits, _reading, _as_loader, arguments_of, _needs, _said, facts=_facts)
