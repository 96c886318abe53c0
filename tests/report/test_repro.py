"""The reproduction script exits 1 while the bug is there, 0 once it is fixed and 2 when it can't tell, on its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.clauses import CLAUSES
from conformance.contract import Claims
from conformance.loader.scenario import from_code
from conformance.processes.fleet import Fleet
from conformance.processes.resolve import resolve
from conformance.processes.sources import ForkedSource, SpawnedSource
from conformance.report.repro import script, write
from conformance.report.script.checks import CHECKS, OF_CONSUMERS, OF_REACH, OF_RESTARTS
from conformance.trial.replay import replay
from conformance.trial.result import Case
from tests.deep import deep_but_one_of_each
from tests.report.adapters import FAULTS, Fault

PATIENCE = 1.0
BY_NAME = {fault.name: fault for fault in FAULTS}


def case_of(implementation: str, fault: Fault) -> tuple[Case, Claims]:
    """The fault's case, as the suite finds it."""
    source = SpawnedSource(implementation) if fault.spawned else ForkedSource(resolve(implementation))
    with Fleet(source, PATIENCE) as fleet:
        case, _ = replay(fleet, fleet.claims, CLAUSES[fault.clause], from_code(fault.case))
        assert case is not None
        return case, fleet.claims


def run(path: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a script in a folder where the suite can't be imported, installed or not."""
    environment = {**os.environ, "PYTHONPATH": str(first_on_path(folder))}
    command = [sys.executable, str(path)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def first_on_path(folder: Path) -> Path:
    """Where imports look before site-packages; the suite's name is taken there by a module that can't be imported."""
    first = folder / "first_on_path"
    first.mkdir(exist_ok=True)
    (first / "conformance.py").write_text("raise ModuleNotFoundError('a script asked for the suite')\n")
    return first


@pytest.mark.parametrize(
    "fault",
    deep_but_one_of_each(
        lambda fault: fault.clause.partition("-")[0], FAULTS, lambda fault: f"{fault.clause}-{fault.name}"
    ),
)
def test_a_script_tells_the_fault_from_its_mend(fault: Fault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The script exits 1 on the faulty adapter, and 0 once the same file is mended."""
    monkeypatch.chdir(tmp_path)
    adapter = fault.write(tmp_path / f"{fault.name}.py")
    case, claims = case_of(str(adapter), fault)
    path = write(case, str(adapter), claims=claims, patience=PATIENCE)

    faulty = run(path, tmp_path)
    fault.write(adapter, mended=True)
    mended = run(path, tmp_path)

    assert (1, 0) == (faulty.returncode, mended.returncode), faulty.stdout + faulty.stderr + mended.stderr
    assert "still violated: " in faulty.stdout.splitlines()[-1]
    assert "fixed" == mended.stdout.splitlines()[-1]


def test_every_clause_has_a_check() -> None:
    """No clause of loaders can be violated without a script, and no check of chapters 1 to 3 is without a clause."""
    # A case of a model, a launch, a loop, a pipeline, of LEFT-1, of a life or a killed reader has no script: `replay`
    # shows it. So with a restart as another.
    without = ("device", "launch", "loop", "pipeline", "resume", "left", "lives", "killed")
    # What a hook was called for is seen in the suite's own log.
    unscripted = {"WORK-18", "WORK-19", "WORK-20"}
    assert {name for name, clause in CLAUSES.items() if clause.family not in without} - unscripted <= set(CHECKS)
    assert set(CHECKS) - set(OF_CONSUMERS) <= set(CLAUSES)


def test_every_check_is_tried() -> None:
    """Each check of chapters 1 to 3 stands in the table of faults."""
    assert set(CHECKS) - {*OF_CONSUMERS, *OF_RESTARTS, *OF_REACH} == {fault.clause for fault in FAULTS}


@pytest.fixture
def duplicate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Case, Claims]:
    """An adapter that duplicates, in the current folder, with its case."""
    monkeypatch.chdir(tmp_path)
    adapter = BY_NAME["duplicate"].write(tmp_path / "mine.py")
    return adapter, *case_of(str(adapter), BY_NAME["duplicate"])


def test_a_script_says_what_it_can_not_import(duplicate: tuple[Path, Case, Claims], tmp_path: Path) -> None:
    """Without the implementation there is no answer: exit code 2, and a sentence."""
    adapter, case, claims = duplicate
    path = write(case, "mine.py", claims=claims)
    adapter.unlink()
    ended = run(path, tmp_path)
    sentence = "ImportError: there is no file mine.py; run this script from the folder that holds it"
    assert (2, f"this script can't judge: {sentence}\n") == (ended.returncode, ended.stderr)


def test_a_missing_module_is_no_answer(duplicate: tuple[Path, Case, Claims], tmp_path: Path) -> None:
    """A module that is not installed is exit code 2 as well."""
    _, case, claims = duplicate
    ended = run(write(case, "mypkg_that_is_not_there", claims=claims), tmp_path)
    assert 2 == ended.returncode
    assert "No module named 'mypkg_that_is_not_there'" in ended.stderr


def test_a_loader_that_breaks_elsewhere_is_no_answer(duplicate: tuple[Path, Case, Claims], tmp_path: Path) -> None:
    """A loader that raises says nothing about duplicates: neither violated nor fixed."""
    adapter, case, claims = duplicate
    path = write(case, "mine.py", claims=claims)
    adapter.write_text("def load(request):\n    raise RuntimeError('not today')\n")
    ended = run(path, tmp_path)
    sentence = "this script can't judge: a rank raised (RuntimeError: not today)"
    assert (2, sentence) == (ended.returncode, ended.stderr.splitlines()[-1])


@pytest.mark.parametrize("spec", ["mine", "mine:Loader.made", "mine.py:load", "package"])
def test_a_script_finds_what_impl_finds(spec: str, duplicate: tuple[Path, Case, Claims], tmp_path: Path) -> None:
    """A module, an attribute, a file's attribute, and a package with an adapter inside are found from the folder."""
    adapter, case, claims = duplicate
    adapter.write_text(adapter.read_text() + "\n\nLoader.made = staticmethod(load)\n")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").touch()
    (tmp_path / "package" / "loaderspec.py").write_text(adapter.read_text())
    assert 1 == run(write(case, spec, claims=claims), tmp_path).returncode


def test_a_script_finds_a_file_from_another_folder(duplicate: tuple[Path, Case, Claims], tmp_path: Path) -> None:
    """Beside its own folder, a script finds the adapter wherever it is run from."""
    _, case, claims = duplicate
    path = write(case, "mine.py", claims=claims).resolve()
    (tmp_path / "elsewhere").mkdir()
    assert 1 == run(path, tmp_path / "elsewhere").returncode


def test_a_script_asks_for_the_claims_it_is_not_given(duplicate: tuple[Path, Case, Claims]) -> None:
    """Without claims the implementation is asked, and the script is the same."""
    _, case, claims = duplicate
    assert script(case, "mine.py", claims) == script(case, "mine.py")


def test_a_script_begins_with_what_a_person_looks_for(duplicate: tuple[Path, Case, Claims]) -> None:
    """The loader, the loop and the assertion take fifty lines with the docstring; what scripts share stands below."""
    _, case, claims = duplicate
    above, _, below = script(case, "mine.py", claims).partition("# --- What all scripts share")
    parts = ("IMPLEMENTATION = 'mine.py'", "def read(", "def check(")
    assert sorted(parts, key=above.index) == list(parts)
    assert len(above.splitlines()) <= 50
    assert len(below.splitlines()) <= 150


def test_a_script_needs_nothing_of_this_package(duplicate: tuple[Path, Case, Claims], tmp_path: Path) -> None:
    """Where scripts are tried, the suite can't be imported, and no script asks for it."""
    _, case, claims = duplicate
    for spec in ("mine.py", "torch-exact", "reference"):
        imported = [line for line in script(case, spec, claims).splitlines() if "import " in line]
        assert not any("conformance" in line or "numpy" in line or "pytest" in line for line in imported)
    (tmp_path / "asks.py").write_text("import conformance\n")
    tried = run(tmp_path / "asks.py", tmp_path)
    assert (1, "ModuleNotFoundError: a script asked for the suite") == (
        tried.returncode,
        tried.stderr.splitlines()[-1],
    )


@pytest.mark.deep
def test_a_script_holds_our_own_adapter(duplicate: tuple[Path, Case, Claims], tmp_path: Path) -> None:
    """The peer torch-exact is written into the script, which shows its known fault."""
    _, case, claims = duplicate
    ended = run(write(case, "torch-exact", claims=claims), tmp_path)
    assert (1, "still violated: sample 0 comes 2 times; 1 repeats, and padding explains 0") == (
        ended.returncode,
        ended.stdout.splitlines()[-1],
    )


def test_a_script_makes_the_loader_of_a_package_of_poptorchs_shape(
    duplicate: tuple[Path, Case, Claims], tmp_path: Path
) -> None:
    """A package with Options and DataLoader needs no adapter in a script either."""
    _, case, claims = duplicate
    (first_on_path(tmp_path) / "reference.py").write_text(POPTORCH_SHAPE)
    ended = run(write(case, "reference", claims=claims), tmp_path)
    assert (1, "still violated: sample 0 comes 2 times; 1 repeats, and padding explains 0") == (
        ended.returncode,
        ended.stdout.splitlines()[-1],
    )


POPTORCH_SHAPE = """\
class Options:
    class Training:
        gradientAccumulation = staticmethod(lambda factor: None)
    class Distributed:
        configureProcessId = staticmethod(lambda rank, world_size: None)
    deviceIterations = replicationFactor = randomSeed = lambda self, number: None


def DataLoader(options, dataset, batch_size, shuffle, drop_last, num_workers):
    return [[sample] for sample in list(dataset)]
"""


def test_a_script_is_written_whole_or_not_at_all(duplicate: tuple[Path, Case, Claims], tmp_path: Path) -> None:
    """Only the script is left in the folder, and writing it again gives the same bytes."""
    _, case, claims = duplicate
    path = write(case, "mine.py", claims=claims)
    before = path.read_bytes()
    write(case, "mine.py", claims=claims)
    assert ["PART-1-n1,w2,b1,keep.py"] == [each.name for each in path.parent.iterdir()]
    assert before == path.read_bytes()
