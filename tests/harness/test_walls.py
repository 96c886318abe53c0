"""What each room may import: a chapter knows no other chapter, and the middle knows none."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WINGS = (
    "epochs",
    "workers",
    "ahead",
    "device",
    "launch",
    "pipelines",
    "restarts",
    "faults",
    "chosen",
    "reach",
    "loops",
)
# What a room may import of the others, nearest first. What two wings need stands in `loader` (if it is about loaders)
# or in `trial`; what a wing is asked by the middle is a field of `trial.family.Family`.
BELOW = {
    "shapes": (),
    "contract": ("shapes",),
    "trace": (),
    # What a job that is recorded imports.
    "records": (),
    # What stands in front of a job that is watched, and the command that starts it.
    "watch": ("audit", "records", "trial"),
    "peers": ("contract",),
    "bridge": ("contract",),
    # A judge of a record may ask the judge of a trace.
    "audit": ("records", "epochs", "loader", "trial", "report"),
    "processes": ("contract", "trace", "peers", "shapes", "bridge"),
    "trial": ("processes", "contract", "trace", "shapes"),
    "loader": ("trial", "processes", "bridge", "contract", "trace"),
    **dict.fromkeys(WINGS, ("loader", "trial", "processes", "contract", "trace")),
    # What a loader lives through is tried with what other chapters ask for.
    "lives": ("chosen", "loader", "trial", "processes", "contract", "trace"),
    "clauses": (*WINGS, "lives", "trial"),
    "report": ("shapes", "clauses", "loader", "trial", "processes", "peers", "bridge", "contract", "trace"),
    "vectors": ("clauses", "bridge", "loader", "trial", "contract", "trace"),
    "matrix": ("report", "clauses", "trial", "processes", "peers", "contract"),
    "plugin": ("report", "clauses", "trial", "processes", "contract"),
    "command": (),
    "claiming": ("report", "shapes", "clauses", "trial", "processes", "contract"),
    "cli": (
        "command",
        "claiming",
        "audit",
        "watch",
        "matrix",
        "report",
        "clauses",
        "trial",
        "processes",
        "bridge",
        "contract",
    ),
    "conftest": ("plugin",),
    # `check()`, `parametrize_with_clauses()` and `record()`, which import when they are asked for.
    "": ("plugin", "report", "trial", "processes", "records"),
}


def modules(package: str) -> dict[str, Path]:
    """The modules of a package by their names."""
    found = {}
    for path in (ROOT / package).rglob("*.py"):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path
    return found


ALL = {**modules("conformance"), **modules("reference")}


@cache
def imported(name: str) -> frozenset[str]:
    """The modules of ours that a module imports, anywhere in it, but for those that only a type checker reads."""
    return frozenset(_imported(name)) - {name}


def _imported(name: str) -> Iterator[str]:
    package = name if ALL[name].name == "__init__.py" else name.rpartition(".")[0]
    for node in statements(ast.parse(ALL[name].read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name in ALL)
        elif isinstance(node, ast.ImportFrom):
            above = package.rsplit(".", node.level - 1)[0] if node.level else ""
            module = ".".join(part for part in (above, node.module) if part)
            for each in node.names:
                yield from [full for full in (f"{module}.{each.name}", module) if full in ALL][:1]


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those below `if TYPE_CHECKING`."""
    for node in ast.iter_child_nodes(tree):
        if not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)):
            yield node
            yield from statements(node)


def room(name: str) -> str:
    """``pipelines`` for ``conformance.pipelines.judges``."""
    return name.partition(".")[2].partition(".")[0]


@pytest.mark.parametrize("name", BELOW)
def test_a_room_imports_only_what_is_below_it(name: str) -> None:
    """Of the suite itself, a room imports what BELOW says."""
    wrong = [
        f"{module} imports {other}"
        for module in modules("conformance")
        for other in imported(module)
        if room(module) == name != room(other) and other.startswith("conformance")
        if not any(f"{other}.".startswith(f"conformance.{each}.") for each in BELOW[name])
    ]
    assert [] == wrong, f"{name} may import {', '.join(BELOW[name]) or 'nothing'}"


def test_every_room_has_its_walls() -> None:
    """A folder or a file that is added says what it may import."""
    assert set(BELOW) == {room(name) for name in modules("conformance")}


def test_the_suite_and_the_reference_do_not_know_each_other() -> None:
    """The reference is judged like any other loader; only the command that shows its plans imports it."""
    both = {(name, other) for name in ALL for other in imported(name) if name.split(".")[0] != other.split(".")[0]}
    assert {("conformance.command", "reference.rules.plan")} == both


def test_no_module_imports_itself_round_a_circle() -> None:
    """There is an order in which all modules can be read."""
    try:
        TopologicalSorter({name: imported(name) for name in ALL}).prepare()
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' <- '.join(error.args[1])}")


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        ("conformance.loader.member", {"hypothesis", "torch", "pytest"}),
        ("conformance.ahead.conduct", {"hypothesis", "torch", "pytest"}),
        ("conformance.restarts.conduct", {"hypothesis", "torch", "pytest"}),
        ("conformance.chosen.run", {"hypothesis", "torch", "pytest"}),
        ("conformance.launch.run", {"hypothesis", "torch", "pytest"}),
        ("conformance.device.run", {"hypothesis", "pytest"}),
        ("conformance.pipelines.run", {"hypothesis", "pytest"}),
        ("conformance.processes.zygote", {"hypothesis", "torch", "pytest"}),
        ("conformance.cli", {"torch"}),
        ("conformance.command", {"hypothesis", "torch", "numpy", "pytest"}),
        ("reference.rules.plan", {"torch", "numpy"}),
        ("conformance.watch.watching", {"hypothesis", "torch", "pytest"}),
        ("conformance.records.wrapper", {"hypothesis", "torch", "pytest", "numpy", "json.tool"}),
        ("conformance.plugin", {"hypothesis", "torch", "numpy"}),
    ],
)
def test_what_a_process_need_not_have_is_not_imported(module: str, absent: set[str]) -> None:
    """A loader without torch is judged where there is none, and what a rank's process imports costs each of them."""
    program = f"import sys, {module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert set() == absent & set(done.stdout.split())
