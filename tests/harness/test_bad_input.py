"""Whatever is wrong with a call or an adapter gets one sentence, a code that is not 0, and leaves nothing behind."""

import os
from pathlib import Path

import pytest

from conformance.clauses import FAMILIES
from conformance.cli import main
from tests.harness import runs

ADAPTERS: dict[str, tuple[str, str]] = {
    "missing": ("import no_such_module", "can't be imported: it needs 'no_such_module', which is not installed"),
    "raising": ("1 / 0", "can't be imported: it raises ZeroDivisionError: division by zero"),
    "leaving": ("import sys; sys.exit(0)", "can't be imported: it raises SystemExit: 0"),
    "ending": ("import os; os._exit(0)", "the implementation's process ended while importing it"),
    "empty": ("", "has no load(request)"),
    "unknown_claim": ("claims = dict(shufle=1)\nload = list", "the claim 'shufle' is unknown"),
    "contradiction": ("claims = dict(elastic=True)\nload = list", "elastic=True needs resume=True"),
    "none": ("def load(request): return None", "gives no loader: load(request) gives None, which can't be iterated"),
    "number": ("def load(request): return 7", "gives no loader: load(request) gives a int, which can't be iterated"),
    "raises": ("def load(request): raise KeyError('x')", "raises in load: KeyError: 'x'"),
    "exits": ("import os\ndef load(request): os._exit(3)", "ends its process: the process ended with exit code 3"),
    "leaves": ("import sys\ndef load(request): sys.exit(3)", "raises in load: SystemExit: 3"),
    "hangs": ("import threading\ndef load(request): threading.Event().wait()", "hangs: no answer within 0.5 s"),
    "endless": ("import itertools\ndef load(request): return itertools.repeat([1000])", "never ends an epoch: after"),
    "nothing": (
        "def load(request): return []",
        "delivers nothing at all; see that load(request) reads request.dataset",
    ),
    "empty_steps": ("def load(request): return [[], []]", "delivers nothing at all"),
    "text": ("def load(request): return [['a']]", "delivers what can't be read: Undecodable: a batch holds 'a'"),
    "indices": (
        "def load(request): return [[0, 1], [2, 3]]",
        "delivers the number 0, which is no sample of the dataset",
    ),
    "foreign": ("def load(request): return [[1000, 5000]]", "delivers the number 5000, which is no sample"),
    "known_text": ("known_failures = 'PART-1'\ndef load(request): ...", "known_failures in"),
    "known_unknown": (
        "known_failures = {'PART-99': dict(case='PART-99-n1,w1,b1,keep', reason='x')}\ndef load(request): ...",
        "the known failure of PART-99 names no clause of this version",
    ),
    "signature": ("def load(): return []", "raises in load: TypeError"),
}
OPTIONS: dict[str, tuple[str, str]] = {
    "tier": ("--tier=x", "the tier 'x' is not one of quick, gate, deep; choose one of them"),
    "seed": ("--seed=-1", "--seed=-1 is no seed; give a whole number from 0 on, or 'random'"),
    "seed_text": ("--seed=one", "--seed=one is no seed"),
    "seed_digit": ("--seed=\u00b2", "is no seed"),
    "patience": ("--patience=0", "a patience of 0 s lets no loader answer; give seconds above 0"),
    "negative_patience": ("--patience=-2", "a patience of -2 s lets no loader answer"),
    "nan_patience": ("--patience=nan", "a patience of nan s lets no loader answer"),
    "endless_patience": ("--patience=inf", "a patience of inf s"),
    "case": ("--case=nonsense", "the case 'nonsense' names no clause; a case looks like PART-1-n1,w2,b1,keep"),
    "case_clause": ("--case=PART-99-n1,w2,b1,keep", "the case 'PART-99-n1,w2,b1,keep' names no clause"),
    "case_code": ("--case=PART-1-n1,q2", "'q2' in the case 'n1,q2' can't be read"),
    "case_zero": ("--case=PART-1-n1,w0,b1,keep", "says world_size below 1"),
    "case_empty": ("--case=PART-1", "'PART-1' names a clause and no case of it"),
    "known": ("--known=nowhere.toml", "--known=nowhere.toml can't be read (No such file or directory)"),
    "known_folder": ("--known=.", "--known=. can't be read (Is a directory)"),
    "known_text": ("--known=known.toml", "--known=known.toml is no TOML"),
    "known_bytes": ("--known=known.bin", "--known=known.bin is no TOML"),
    "json_folder": ("--report-json=no/such/folder.json", "--report-json=no/such/folder.json can't be written"),
    "write_known": ("--write-known=.", "--write-known=. can't be written"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the adapters, to stand in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.syspath_prepend(str(runs.HERE))
    for name, (text, _) in ADAPTERS.items():
        (tmp_path / f"{name}.py").write_text(text + "\n")
    (tmp_path / "known.toml").write_text("= nothing\n")
    (tmp_path / "known.bin").write_bytes(b"\xff\xfe\x00")
    return tmp_path


def listing(folder: Path) -> list[str]:
    """What lies in a folder."""
    return sorted(os.listdir(folder))


@pytest.mark.parametrize("name", ADAPTERS)
def test_a_bad_adapter_gets_a_sentence_from_the_command(
    name: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """`loaderspec run` says what it judges, then one line, and ends with code 4."""
    before = listing(folder)
    assert 4 == main(["run", f"{name}.py", "--tier=quick", "--patience=0.5"])
    out, err = capfd.readouterr()
    begun, told = err.splitlines()
    assert ("", f"judging {name}.py: quick, {len(FAMILIES)} families") == (out, begun)
    assert ADAPTERS[name][1] in told
    assert f"{name}.py: {name}.py" not in told
    assert before == listing(folder)


@pytest.mark.parametrize("name", OPTIONS)
def test_a_bad_option_gets_a_sentence_from_the_command(
    name: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """`loaderspec run` ends with code 4 and one line, before the loader is looked at."""
    before = listing(folder)
    option, sentence = OPTIONS[name]
    assert 4 == main(["run", "none.py", option])
    out, err = capfd.readouterr()
    assert ("", 1) == (out, len(err.splitlines()))
    assert sentence in err
    assert before == listing(folder)


@pytest.mark.parametrize("name", ["missing", "none", "foreign"])
def test_a_bad_adapter_gets_a_sentence_from_pytest(name: str, folder: Path, installed: Path) -> None:
    """pytest ends with code 4 and one line, and has run nothing."""
    before = listing(folder)
    ran = runs.run_pytest(folder, f"--impl={name}.py", "--patience=0.5", installed=installed)
    assert (4, 1) == (ran.code, len(ran.sentences))
    assert ADAPTERS[name][1] in ran.sentences[0]
    assert "Traceback" not in ran.out + ran.err
    assert before == listing(folder)


@pytest.mark.parametrize("name", ["tier", "seed", "patience", "case", "known", "json_folder"])
def test_a_bad_option_gets_a_sentence_from_pytest(name: str, folder: Path, installed: Path) -> None:
    """pytest ends with code 4 and one line, and has run nothing."""
    before = listing(folder)
    option, sentence = OPTIONS[name]
    ran = runs.run_pytest(folder, f"--impl={runs.PLAIN}", option, installed=installed)
    assert (4, 1) == (ran.code, len(ran.sentences))
    assert sentence in ran.sentences[0]
    assert "Traceback" not in ran.out + ran.err
    assert before == listing(folder)


def test_a_bad_adapter_gets_a_sentence_from_pytest_with_xdist(folder: Path, installed: Path) -> None:
    """The controller finds it before a worker is started."""
    ran = runs.run_pytest(folder, "--impl=none.py", "-n2", installed=installed)
    assert (4, 1) == (ran.code, len(ran.sentences))
    assert ADAPTERS["none"][1] in ran.sentences[0]


@pytest.mark.parametrize("arguments", [("--pyargs", "conformance"), (str(runs.HOME / "conformance"),)])
def test_pytest_without_an_implementation_says_so(arguments: tuple[str, ...], folder: Path, installed: Path) -> None:
    """No --impl: code 4 and a sentence with an example."""
    ran = runs.run(folder, "-m", "pytest", *arguments, installed=installed)
    sentence = "ERROR: no --impl: say which loader is judged, for example pytest conformance --impl=torch"
    assert (4, [sentence]) == (ran.code, ran.sentences)


def test_the_command_without_an_implementation_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """`loaderspec run` alone is told what is missing."""
    with pytest.raises(SystemExit) as left:
        main(["run"])
    assert 2 == left.value.code
    assert "one of the arguments impl --impl is required" in capsys.readouterr().err
