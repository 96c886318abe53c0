"""Scripts of chapter 11: decides which of its cases get one, how they are read, and what their checks are told."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from conformance.chosen import judges_batches, judges_mixtures, judges_streams, judges_subsets
from conformance.chosen import scenario as chosen
from conformance.chosen.asked import second_of
from conformance.chosen.scenario import ChosenScenario
from conformance.contract import Claims
from conformance.loader.scenario import Scenario
from conformance.processes.task import Task
from conformance.reach import draws, endless, equal
from conformance.reach import scenario as reach
from conformance.trial.campaign import Case
from conformance.trial.words import place_of

# The loops that stand at the beginning of a script: how its ranks read.
LOOPS = ("read_in_brief", "read_launched", "read_beside", "read_restarted", "read_stopped")
# Clauses whose checks want to know what was read, and when.
LOGGED = ("PEEK-1", "GROUP-8", "STREAM-5", "SUBSET-1")
_VARIED = ("read_beside", "read_restarted")  # loops that are told more of a run than its epochs
_CONDUCTS = ("", "sharded", "weighted", "peeking", "endless", "stopped", "launched")
_ASKED = (
    *("samples", "world_size", "batch_size", "drop_last", "shuffle", "num_workers", "persistent_workers", "epochs"),
    *("seed", "seeds", "variant", "dataset", "conduct"),
)
_STEPS_BEFORE_A_RESTART = 2


def is_scripted(case: Case) -> bool:
    """Whether a script can show a case of a clause of this chapter: it asks for nothing unusual."""
    scenario = case.scenario
    if isinstance(scenario, ChosenScenario):
        return case.clause == "SUBSET-4" or not chosen.has_second(scenario)
    usual = (getattr(scenario, each.name) == each.default for each in fields(scenario) if each.name not in _ASKED)
    return scenario.conduct.partition("@")[0] in _CONDUCTS and all(usual)


def reading_of(case: Case) -> str:
    """How the ranks of a case read, of LOOPS."""
    scenario = case.scenario
    if isinstance(scenario, ChosenScenario):
        if chosen.has_second(scenario):
            return "read_beside"
        return "read_restarted" if "saved" in scenario.words else "read_in_brief"
    conduct = scenario.conduct.partition("@")[0]
    return {"launched": "read_launched", "stopped": "read_stopped"}.get(conduct, "read_in_brief")


def as_loader(scenario: Any) -> Scenario:
    """The scenario as far as it is one of any loader."""
    if not isinstance(scenario, ChosenScenario):
        loader: Scenario = scenario
        return loader
    both = {name: getattr(scenario, name) for name in _ASKED if hasattr(scenario, name)}
    return Scenario(**both, dataset="iterable" if scenario.about == "stream" else "map")


def needs_of(case: Case) -> Mapping[str, bool]:
    """The lines that only scripts of this chapter need."""
    scenario, about = case.scenario, getattr(case.scenario, "about", "")
    varied = reading_of(case) in _VARIED
    needs = {
        "epochs": not varied,
        "varied": varied,
        "peeks": scenario.conduct == "peeking" if isinstance(scenario, Scenario) else False,
        "endless": scenario.conduct == "endless" if isinstance(scenario, Scenario) else False,
        "stopped": reading_of(case) == "read_stopped",
        "touched": case.clause == "SUBSET-5",
        "mixture": about == "mixture",
        "indices": about == "subset" and "whole" not in scenario.words,
    }
    if about == "stream":
        own = chosen.has_own_epoch(scenario)
        needs |= {"iterable": False, "stream": not own, "own": own}
    return needs


def epochs_of(task: Task) -> Sequence[int]:
    """The epochs that a run begins: of passes without an end only one."""
    endless = isinstance(task.scenario, Scenario) and task.scenario.conduct.startswith(("endless", "stopped"))
    return task.epochs[:1] if endless else task.epochs


def said_of_a_run(task: Task, name: str) -> list[str]:
    """What a run does that no field of the request says."""
    scenario = task.scenario
    if not isinstance(scenario, ChosenScenario):
        return []
    if "saved" in scenario.words:
        return [f"stops={_STEPS_BEFORE_A_RESTART}"]
    if name == "unbroken":
        return ["stops=0"]
    if not chosen.has_second(scenario):
        return []
    changes = second_of(scenario) if name == "second" else {}
    beside = [second_of(scenario)] if name == "main" else []
    return [*(f"{field}={value!r}" for field, value in changes.items()), f"beside={beside!r}"]


# --- what the checks are told ---------------------------------------------------------------------------------------


def facts_of(case: Case, claims: Claims) -> dict[str, Any]:
    """The numbers that the checks of this chapter read, by name."""
    scenario = case.scenario
    if not isinstance(scenario, ChosenScenario):
        return _of_any_loader(case.clause, scenario, claims)
    if scenario.about in chosen.BATCHES:
        return _of_batches(case.clause, scenario, claims)
    return {"stream": _of_streams, "subset": _of_subsets, "mixture": _of_mixtures}[scenario.about](scenario, claims)


def _of_any_loader(clause: str, scenario: Scenario, claims: Claims) -> dict[str, Any]:
    found: dict[str, Any] = {"weights": reach.weights_of(scenario), "steps": reach.steps_to_read(scenario)}
    found["place"] = place_of(scenario.conduct) if "@" in scenario.conduct else 0
    found["shards"] = reach.shards_of(scenario) if scenario.conduct.startswith("sharded") else ()
    if clause == "EQUAL-2":
        found["most_lost"] = equal.most_lost(scenario, claims)
    if clause == "ENDLESS-2":
        found["most_lost"] = endless.may_lack(scenario, claims) - 1
    if clause == "DRAW-1":
        found["shares"] = sorted(draws.allowed_shares(scenario, claims) or ())
        found["most_off"] = draws.most_off(scenario, claims)
    return found


def _of_batches(clause: str, scenario: ChosenScenario, claims: Claims) -> dict[str, Any]:
    found: dict[str, Any] = {"oversized": claims.oversized, "too_large": _too_large(scenario)}
    grouped, policy = scenario.about == "grouped", claims.policy(scenario.drop_last)
    found |= {"groups": chosen.groups_of(scenario)} if grouped else {"sizes": chosen.sizes_of(scenario)}
    found["amounts"] = (1,) * scenario.samples if grouped else chosen.sizes_of(scenario)
    found["parts_of_all"] = judges_batches.parts_of(scenario)
    found["least_steps"] = judges_batches.ENOUGH_STEPS
    if policy is not None:
        found["most_lost"] = judges_batches.most_lost(scenario, policy)
        found["most_repeated"] = judges_batches.most_repeated(scenario, policy)
    return found


def _too_large(scenario: ChosenScenario) -> list[int]:
    return chosen.too_large(scenario) if scenario.about == "budget" else []


def _of_streams(scenario: ChosenScenario, claims: Claims) -> dict[str, Any]:
    return {
        "shards": chosen.shards_of(scenario),
        "copies": judges_streams.copies_of_each(scenario, claims),
        "replicated": judges_streams.is_replicated(claims),
        "most_lost": judges_streams.most_dropped(scenario),
        "least_steps": 1,
    }


def _of_subsets(scenario: ChosenScenario, claims: Claims) -> dict[str, Any]:
    found: dict[str, Any] = {"indices": chosen.indices_of(scenario)}
    policy = claims.policy(scenario.drop_last)
    if policy is not None:
        found["most_lost"] = judges_subsets.most_dropped(scenario, policy)
        found["most_repeated"] = judges_subsets.most_padded(scenario, policy)
    return found


def _of_mixtures(scenario: ChosenScenario, claims: Claims) -> dict[str, Any]:
    return {
        "sources": chosen.sources_of(scenario),
        "weights": chosen.weights_of(scenario),
        "until_all": chosen.ends_with_the_last(scenario),
        "most_lost": judges_mixtures.most_lost(scenario),
        "most_repeated": judges_mixtures.most_padded(scenario, claims.policy(scenario.drop_last)),
        "most_apart": judges_mixtures.most_apart(scenario, claims),
        "least_steps": 1,
    }
