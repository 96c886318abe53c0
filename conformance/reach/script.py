"""Scripts of chapter 11 for equal steps, draws and passes: decides how cases are read, and what the checks are told."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from conformance.contract import Claims
from conformance.loader.scenario import Scenario
from conformance.reach import draws, endless, equal
from conformance.reach.scenario import shards_of, steps_to_read, weights_of
from conformance.trial.scripting import Scripting
from conformance.trial.words import place_of

_CONDUCTS = ("", "sharded", "weighted", "peeking", "endless", "stopped", "launched")
_ASKED = (
    *("samples", "world_size", "batch_size", "drop_last", "shuffle", "num_workers", "persistent_workers", "epochs"),
    *("seed", "seeds", "variant", "dataset", "conduct"),
)


def _fits(clause: str, scenario: Scenario) -> bool:
    usual = (getattr(scenario, each.name) == each.default for each in fields(scenario) if each.name not in _ASKED)
    return _conduct(scenario) in _CONDUCTS and all(usual)


def _conduct(scenario: Scenario) -> str:
    return scenario.conduct.partition("@")[0]


def _reading(scenario: Scenario) -> str:
    return {"launched": "read_launched", "stopped": "read_stopped"}.get(_conduct(scenario), "read_in_brief")


def _needs(clause: str, scenario: Scenario) -> Mapping[str, bool]:
    conduct = _conduct(scenario)
    needs = {"log": clause == "PEEK-1", "peeks": conduct == "peeking"}
    return {**needs, "endless": conduct == "endless", "stopped": conduct == "stopped"}


def _once(scenario: Scenario) -> bool:
    return _conduct(scenario) in ("endless", "stopped")


def _facts(clause: str, scenario: Scenario, claims: Claims) -> Mapping[str, Any]:
    found: dict[str, Any] = {"weights": weights_of(scenario), "steps": steps_to_read(scenario)}
    found["place"] = place_of(scenario.conduct) if "@" in scenario.conduct else 0
    found["shards"] = shards_of(scenario) if scenario.conduct.startswith("sharded") else ()
    if clause == "EQUAL-2":
        found["most_lost"] = equal.most_lost(scenario, claims)
    if clause == "ENDLESS-2":
        found["most_lost"] = endless.may_lack(scenario, claims) - 1
    if clause == "DRAW-1":
        found["shares"] = sorted(draws.allowed_shares(scenario, claims) or ())
        found["most_off"] = draws.most_off(scenario, claims)
    return found


SCRIPTING = Scripting(_fits, _reading, needs=_needs, once=_once, facts=_facts)
