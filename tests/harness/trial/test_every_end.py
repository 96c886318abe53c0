"""Whichever run of a case hangs, dies, raises or is short: a clause accuses, it is told, or a rule exempts it."""

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.clauses import FAMILIES
from conformance.loader.conducts import BIG_KINDS
from conformance.trace import Run
from conformance.trial.drawing import draw
from conformance.trial.family import Family
from conformance.trial.tiers import TIERS
from conformance.trial.unowned import unowned_failure
from tests.harness.trial.one_process import LOADERS, Alone, OneProcess, Spoil, dies, hangs, is_short, raises

# The families that read loaders; `async` waits for threads, and is walked over in test_unowned.
WALKED = [(Alone, name) for name in ("map", "workers", "iterable", "life", "samples")] + [(LOADERS[1], "resume")]


def exempt(family: str, scenario: Any, run: Run, spoil: Spoil) -> bool:
    """What specs/README.md, "The scope rule", doesn't ask for."""
    if spoil in (hangs, dies):
        return False
    if spoil is raises and (scenario.fault or scenario.conduct.startswith(("leave", "hold")) or run.name == "workers"):
        return True  # an error is right; a loop may be refused; the request without workers is COUNT-7's
    if run.name.startswith("seed+") and spoil is raises:
        return True  # how large a seed may be is nobody's promise
    if run.name == "seed+1" or (spoil is is_short and scenario.drop_last and family in ("workers", "iterable")):
        return True
    if family == "workers" and scenario.variant == "random-state":
        return spoil is is_short  # the order is compared, and how much comes in the cases without that
    if family == "life" and spoil is is_short:
        undisturbed = ("kept", "hold", "ended", "dropped", "unread", "closed", "hooked")
        happens = not scenario.fault or bool(run.ranks[0].remark("fired"))
        # What came before an error, ERROR-2 asks of map-style datasets and of some faults only.
        is_free = scenario.dataset == "iterable" or not scenario.fault.startswith(("raise", "collate"))
        is_last = run.ranks[0].epochs[-1].failure is not None and is_free
        if scenario.kind in BIG_KINDS:
            return True  # megabytes are not read, and what comes is looked at in the same case without them
        return scenario.conduct.partition("@")[0] in undisturbed or not happens or is_last
    # What a word is about, its clause looks at; the rest of a restart is that of the plain cases. And who only saves
    # reads whole epochs, which chapters 1 to 4 read as well.
    return family == "resume" and (scenario.details != "" or (run.name == "main" and spoil is is_short))


def tried(family: Family[Any], claims: Any, tier: str) -> Iterator[Any]:
    """The family's scenarios for a tier; memory is held by large samples, and reading ahead takes threads."""
    found = dict.fromkeys(family.listed(claims, TIERS[tier]))
    if family.drawn is not None:
        examples = family.examples[tier] if tier == "gate" else min(40, family.examples[tier])
        draw(family.drawn(claims), examples, 0, lambda scenario: found.setdefault(scenario))
    return (each for each in found if not each.asynchronous and each.kind != "large")


@pytest.fixture(autouse=True, scope="module")
def _little_garbage() -> Iterator[None]:
    """What a loader leaves is looked for in what it has made, and not in all that the tests before have."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.parametrize("tier", ["quick", pytest.param("gate", marks=pytest.mark.deep)])
@pytest.mark.parametrize(("loader", "name"), WALKED, ids=[name for _, name in WALKED])
def test_no_run_fails_in_silence(loader: type[Any], name: str, tier: str, tmp_path: Path) -> None:
    """Each run of each scenario of a right loader is spoilt in turn."""
    lane, family, silent = OneProcess(loader, str(tmp_path)), FAMILIES[name], []
    for scenario in tried(family, lane.claims, tier):
        right = lane.observed(family, scenario)
        assert not any(lane.verdicts(family, right)[0].values()), f"{scenario.code} is right before it is spoilt"
        for at, run in enumerate(right.runs):
            for spoil in (hangs, dies, raises, is_short):
                whole = bool(run.ranks[0].epochs and run.ranks[0].epochs[-1].steps)
                if run.ranks[0].failure or (spoil is is_short and not whole) or exempt(name, scenario, run, spoil):
                    continue
                verdicts, trace = lane.verdicts(family, lane.observed(family, scenario, at, spoil))
                if not any(verdicts.values()) and not unowned_failure(family, lane.claims, trace, verdicts):
                    silent.append(f"{scenario.code}: {run.name} {spoil.__name__}")
    assert [] == silent
