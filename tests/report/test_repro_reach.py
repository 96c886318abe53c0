"""The scripts of chapter 11: each known-bad loader gives one that reproduces, and says fixed of a correct loader."""

import os
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest

from conformance.chosen.scenario import from_code as chosen_from_code
from conformance.clauses import CLAUSES
from conformance.contract import parse_claims
from conformance.loader.scenario import from_code as loader_from_code
from conformance.report.choice import has_script
from conformance.report.repro import script
from conformance.report.script.checks import OF_REACH
from conformance.report.script.probe import decode
from conformance.trace import Trace
from conformance.trial.clause import Finding
from conformance.trial.result import Case
from tests.deep import deep_where
from tests.known_bad import MUSEUM
from tests.known_bad.correct import KnownBad
from tests.known_bad.endless import OneStream
from tests.known_bad.equal import InRounds
from tests.report.test_repro import run

ROOT = Path(__file__).parents[2]
_CHOSEN = ("batches", "streams", "subsets", "mixtures")
# A process group, a second restart, an epoch that is set twice, a list that is used again: no script has these, and
# `replay` shows them.
_WITHOUT = (
    "TakesARankFromTheProcessGroup",
    "CountsFromItsFirstStep",
    "KeepsItsPlaceInAMixtureForOneCall",
    "LooksAtAListOnce",
)
EXHIBITS = [loader for loader in MUSEUM if loader.clause in OF_REACH and loader.__name__ not in _WITHOUT]
# The correct loader that a bad one differs from, where it is not one of its bases.
_MENDS: dict[str, type[Any]] = {"SharesOutElements": InRounds, "LoopsByItself": OneStream}
# One for each way in which ranks read, tried as it is; the others are deep.
_IN_PROCESSES = ("TakesARankFromItsEnvironment", "ReadsTheEpochAhead", "CountsStepsOfAllPasses", "SharesItsOrder")
_ADAPTER = """
import sys
sys.path.insert(0, {root!r})
from importlib import import_module

class Loader(getattr(import_module({module!r}), {base!r})):
    claims = {claims!r}

load = Loader.load
"""


def case_of(loader: type[KnownBad]) -> Case:
    """The loader's own case, with a finding that says little."""
    of_chosen = CLAUSES[loader.clause].family in _CHOSEN
    scenario: Any = chosen_from_code(loader.smallest) if of_chosen else loader_from_code(loader.smallest)
    finding = Finding("kind", "what is right", ("rank 0: 0",), "so it is")
    return Case(loader.clause, scenario, finding, Trace(scenario, ()))


def mended(loader: type[KnownBad]) -> type[Any]:
    """A correct loader of the same claims."""
    base = next(each for each in loader.__mro__ if not issubclass(each, KnownBad))
    return type("Mended", (_MENDS.get(loader.__name__, base),), {"claims": loader.claims})


def judged_here(text: str, load: Callable[[Any], Any], root: Path) -> list[str]:
    """What a script says whose ranks are read one after the other in this process."""
    names: dict[str, Any] = {"__name__": "a_script", "__file__": "a_script.py"}
    exec(compile(text, "a_script.py", "exec"), names)

    def run_all(_: str, runs: list[str], shift: int = 0) -> dict[str, list[Any]]:
        noted: list[list[Any]] = [[] for _ in names["RANKS"]]
        for position, mine in enumerate(noted):
            names["run_rank"](position, f"{root}/rank-{position}-{shift}", runs, SimpleNamespace(send=mine.append))
        return {name: [mine[at] for mine in noted] for at, name in enumerate(runs)}

    calm: dict[str, Any] = {**vars(os), "setsid": lambda: None, "_exit": lambda code: None}
    names |= {"run_all": run_all, "implementation": lambda: (load, decode), "os": SimpleNamespace(**calm)}
    names["faulthandler"] = SimpleNamespace(dump_traceback_later=lambda *_, **__: None)
    with redirect_stdout(StringIO()) as said, suppress(SystemExit), patch.dict(os.environ):
        names["main"]()
    return said.getvalue().splitlines()


# Another process has another hash seed, which alone shows some faults.
@pytest.mark.parametrize("loader", [each for each in EXHIBITS if not each.spawned], ids=lambda each: each.__name__)
def test_a_script_tells_the_fault_from_its_mend(loader: type[KnownBad], tmp_path: Path) -> None:
    """It says "still violated" of the faulty loader, and "fixed" of a correct one of the same claims."""
    text = script(case_of(loader), "mine", parse_claims(loader.claims))
    faulty = judged_here(text, loader.load, tmp_path / "faulty")
    assert faulty[-1].startswith("still violated: "), faulty
    assert "fixed" == judged_here(text, mended(loader).load, tmp_path / "mended")[-1]


@pytest.mark.parametrize(
    "loader",
    deep_where(
        lambda loader: not loader.spawned and loader.__name__ not in _IN_PROCESSES,
        EXHIBITS,
        lambda loader: loader.__name__,
    ),
)
def test_a_script_needs_nothing_but_the_loader(loader: type[KnownBad], tmp_path: Path) -> None:
    """Its exit code is 1 for the faulty loader, and 0 for a correct one."""
    base = mended(loader).__base__
    assert base is not None
    codes = []
    for name, each in (("faulty", loader), ("mended", base)):
        named = {"module": each.__module__, "base": each.__name__, "claims": loader.claims}
        (tmp_path / f"{name}.py").write_text(_ADAPTER.format(root=str(ROOT), **named))
        path = tmp_path / f"script_of_{name}.py"
        path.write_text(script(case_of(loader), name, parse_claims(loader.claims)))
        codes.append(run(path, tmp_path).returncode)
    assert [1, 0] == codes


def test_every_check_is_tried() -> None:
    """Each check of the chapter has a loader that it tells from a correct one."""
    assert set(OF_REACH) == {loader.clause for loader in EXHIBITS}


def test_every_case_has_a_script() -> None:
    """No case of a known-bad loader of the chapter is left to be replayed only, but for a second restart."""
    without = [loader for loader in MUSEUM if loader.clause in OF_REACH and not has_script(case_of(loader))]
    assert list(_WITHOUT) == [loader.__name__ for loader in without]
