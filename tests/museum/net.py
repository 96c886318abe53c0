"""Writes tests/museum/net.json: digests of everything that is tried, so that a move of code can't change a verdict.

Run `python -m tests.museum.net` from the root after what is tried was changed on purpose; the difference of the file
says which families changed. What Hypothesis draws is the same for one of its versions only, which stands in the file.
"""

import json
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

import hypothesis

from conformance.clauses import CLAUSES, FAMILIES
from conformance.contract import Claims
from conformance.processes.resolve import resolve
from conformance.report.json_report import as_json
from conformance.trace import Scenario
from conformance.trial.drawing import draw
from conformance.trial.known import parse_case
from conformance.trial.outcome import Report
from conformance.trial.tiers import TIERS
from tests.known_bad import MUSEUM
from tests.known_bad.correct import KnownBad
from tests.museum.judged import judged

FILE = Path(__file__).with_suffix(".json")
# Tier and seed; with a seed of None, what is tried before anything is drawn, or without drawing.
_TRIED = (("quick", None), ("gate", None), ("quick", 0), ("quick", 1), ("gate", 0))
_MAY_CHANGE = ("suite", "specs", "versions", "adapter")


def claims_of() -> dict[str, Claims]:
    """The claims that are looked at: nearly all, a usual loader's, and none."""
    return {"reference": resolve("reference").claims, "torch": resolve("torch").claims, "none": Claims()}


def digests(name: str, claims: Claims, drawing: bool) -> dict[str, str]:
    """For each family and tier that these claims reach, how many scenarios there are, and a digest of all of them."""
    found = {}
    for family in dict.fromkeys(clause.family for clause in CLAUSES.values() if clause.applies(claims)):
        for tier, seed in _TRIED:
            if (seed is not None) == drawing and (seed is None or FAMILIES[family].drawn):
                scenarios = list(tried(family, claims, tier, seed))
                found[f"{name} {family} {tier} {'' if seed is None else f'seed {seed}'}".strip()] = digest(scenarios)
    return found


def tried(family: str, claims: Claims, tier: str, seed: int | None) -> Iterable[Scenario]:
    """What is drawn with this seed, or what is tried without one."""
    kind = FAMILIES[family]
    if seed is None or kind.drawn is None:
        return kind.listed(claims, TIERS[tier])
    found: list[Scenario] = []
    draw(kind.drawn(claims), kind.examples[tier], seed, found.append)
    return found


def digest(scenarios: list[Scenario]) -> str:
    """``208 3f2a...``: the number of scenarios, and twelve digits for their codes, words and fields."""
    lines = (f"{each.code}\t{each.describe()}\t{json.dumps(each.fields(), sort_keys=True)}" for each in scenarios)
    return f"{len(scenarios)} {blake2b(chr(10).join(lines).encode(), digest_size=6).hexdigest()}"


def one_of_each_family() -> dict[str, type[KnownBad]]:
    """The first known-bad loader of the museum that a family's clause kills."""
    # How much memory was held, which LEAK-5 writes down, is another number each time.
    return {CLAUSES[loader.clause].family: loader for loader in reversed(MUSEUM) if loader.clause != "LEAK-5"}


def report_of(loader: type[KnownBad]) -> str:
    """A digest of the report over the loader's own case, byte by byte."""
    return _digest_of(judged(loader, case=parse_case(f"{loader.clause}-{loader.smallest}")))


def whole_report() -> str:
    """A digest of the report over a loader that was tried at the quick tier."""
    return _digest_of(judged(MUSEUM[0], tier="quick"))


def _digest_of(report: Report) -> str:
    # Versions, and digests of sources and specs, are allowed to change.
    told = {name: value for name, value in json.loads(as_json(report)).items() if name not in _MAY_CHANGE}
    for clause in told["clauses"].values():
        del clause["words"]
    return blake2b(json.dumps(told, sort_keys=True).encode(), digest_size=6).hexdigest()


def cases_of(data: Any) -> Iterator[dict[str, Any]]:
    """Every case in the JSON of a report, or in what holds reports."""
    if isinstance(data, dict):
        if "scenario" in data and "id" in data:
            yield data
        data = list(data.values())
    if isinstance(data, list):
        for each in data:
            yield from cases_of(each)


def main() -> None:
    """Write the file."""
    found: dict[str, Any] = {"hypothesis": hypothesis.__version__, "listed": {}, "drawn": {}}
    for name, claims in claims_of().items():
        found["listed"] |= digests(name, claims, drawing=False)
        found["drawn"] |= digests(name, claims, drawing=True)
    found["reports"] = {family: report_of(loader) for family, loader in one_of_each_family().items()}
    found["whole report"] = whole_report()
    FILE.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    main()
