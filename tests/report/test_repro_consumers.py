"""The scripts of chapters 4 and 10: a watched, breaking dataset and a consumer that does more than read and close."""

import ast
from pathlib import Path

import pytest

from conformance.contract import parse_claims
from conformance.loader.scenario import from_code
from conformance.report import facts, repro
from conformance.report.assemble import pieces
from conformance.report.choice import has_script
from conformance.report.script.checks import OF_CONSUMERS
from conformance.report.spec_text import ClauseText
from conformance.trace import Trace
from conformance.trial.clause import Finding
from conformance.trial.result import Case
from tests.deep import deep_but_one_of_each
from tests.report.consumers import FAULTS as OF_CONSUMERS_FAULTS
from tests.report.consumers import Fault
from tests.report.consumers_ahead import FAULTS as AHEAD_FAULTS
from tests.report.test_repro import run

PATIENCE = 3.0
FAULTS = [*OF_CONSUMERS_FAULTS, *AHEAD_FAULTS]


@pytest.fixture(autouse=True)
def text_of_any_clause(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clause has a text, whichever chapters there are."""
    monkeypatch.setattr(
        repro, "clause_text", lambda name: ClauseText(name, "MUST", "All is well.", "4-workers.md", name.lower(), "")
    )


def case_of(fault: Fault) -> Case:
    """The fault's case, with a finding that says little."""
    scenario = from_code(fault.case)
    finding = Finding("kind", "what is right", ("rank 0: 0",), "so it is")
    return Case(fault.clause, scenario, finding, Trace(scenario, ()))


def script_of(fault: Fault) -> Path:
    """The script of the fault's case, in this folder."""
    return repro.write(case_of(fault), "mine.py", claims=parse_claims(fault.all_claims), patience=PATIENCE)


@pytest.mark.parametrize(
    "fault", deep_but_one_of_each(lambda fault: fault.clause, FAULTS, lambda fault: f"{fault.clause}-{fault.case}")
)
def test_a_script_tells_the_fault_from_its_mend(fault: Fault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The script exits 1 on the faulty adapter, and 0 once the same file is mended."""
    monkeypatch.chdir(tmp_path)
    adapter = fault.write(tmp_path / "mine.py")
    with monkeypatch.context() as hasty:
        # The grace is for busy machines and large frameworks, and is waited for in full at each leak.
        hasty.setattr(facts, "GRACE", 0.2)
        hasty.setattr(facts, "SHORT_GRACE", 0.2)
        faulty = run(script_of(fault), tmp_path)
    fault.write(adapter, mended=True)
    mended = run(script_of(fault), tmp_path)

    assert (1, 0) == (faulty.returncode, mended.returncode), faulty.stdout + faulty.stderr + mended.stderr
    assert "still violated: " in faulty.stdout.splitlines()[-1]
    assert "fixed" == mended.stdout.splitlines()[-1]


def test_every_check_is_tried() -> None:
    """Each check of these chapters stands in the table of faults."""
    assert set(OF_CONSUMERS) == {fault.clause for fault in FAULTS}


def test_every_case_has_a_script() -> None:
    """No case of the table is left to be replayed only."""
    assert [] == [fault for fault in FAULTS if not has_script(case_of(fault))]


def test_no_variable_has_the_name_of_a_function() -> None:
    """A function goes into a script where it is named; only those that every script has may lend a variable theirs."""
    for name, (_, source) in pieces().items():
        nodes = list(ast.walk(ast.parse(source)))
        stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        stored |= {node.arg for node in nodes if isinstance(node, ast.arg)}
        assert set() == stored & set(pieces()) - {"decode", "main", "delivered"}, name
