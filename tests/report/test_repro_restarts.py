"""The scripts of chapter 9: a state is taken in one process and loaded in others."""

from pathlib import Path

import pytest

from conformance.contract import parse_claims
from conformance.loader.scenario import from_code
from conformance.report.choice import has_script
from conformance.report.repro import write
from conformance.report.script.checks import OF_RESTARTS
from conformance.trace import Trace
from conformance.trial.clause import Finding
from conformance.trial.result import Case
from tests.deep import deep_but_one_of_each
from tests.known_bad import MUSEUM
from tests.known_bad.correct import KnownBad
from tests.known_bad.resuming import CorrectStopping
from tests.report.test_repro import run

ROOT = Path(__file__).parents[2]
# An adapter of the faulty loader, or of a correct one that claims the same.
_ADAPTER = """
import sys
sys.path.insert(0, {root!r})
from importlib import import_module

class Loader(getattr(import_module({module!r}), {base!r})):
    claims = {claims!r}

load = Loader.load
"""
# What differs between two requests, and states that are looked at, are shown by `replay`.
WITHOUT = ("RESUME-6", "RESUME-10", "RESUME-11")
EXHIBITS = [loader for loader in MUSEUM if loader.clause.startswith("RESUME")]


def case_of(loader: type[KnownBad]) -> Case:
    """The loader's own case, with a finding that says little."""
    scenario = from_code(loader.smallest)
    finding = Finding("kind", "what is right", ("rank 0: 0",), "so it is")
    return Case(loader.clause, scenario, finding, Trace(scenario, ()))


# A refusal that comes late is shown by `replay` as well; the finding of `case_of` does not say that it is one.
_REFUSES_LATE = ("RefusesInTheMiddle",)
SCRIPTED = [each for each in EXHIBITS if has_script(case_of(each)) and each.__name__ not in _REFUSES_LATE]


@pytest.mark.parametrize(
    "loader", deep_but_one_of_each(lambda loader: loader.clause, SCRIPTED, lambda loader: loader.__name__)
)
def test_a_script_tells_the_fault_from_its_mend(
    loader: type[KnownBad], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The script exits 1 on the faulty loader, and 0 on a correct one of the same claims."""
    monkeypatch.chdir(tmp_path)
    case, claims = case_of(loader), parse_claims(loader.claims)
    codes = []
    for name, base in (("faulty.py", loader), ("mended.py", CorrectStopping)):
        named = {"module": base.__module__, "base": base.__name__}
        Path(name).write_text(_ADAPTER.format(root=str(ROOT), claims=loader.claims, **named))
        codes.append(run(write(case, name, Path(name).stem, claims=claims), tmp_path).returncode)
    assert [1, 0] == codes


def test_every_check_is_tried() -> None:
    """Each check of the chapter has a loader that it tells from a correct one."""
    assert set(OF_RESTARTS) == {loader.clause for loader in SCRIPTED}


def test_a_case_of_two_requests_has_no_script() -> None:
    """It can't be said by one request."""
    assert {False} == {has_script(case_of(loader)) for loader in EXHIBITS if loader.clause in WITHOUT}
