"""How a script is put together: decides which functions of `script/` a case needs, and which imports they need.

Functions are copied as they stand, with everything they name. A line marked `# only: x` is copied without the mark if
the case needs x, and otherwise left out.
"""

import ast
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "script"
# The order of a script: first where the loader comes from, then what must hold, then the machinery.
_FILES = (
    "adapter.py",
    "checks/common.py",
    "checks/arithmetic.py",
    "checks/partition.py",
    "checks/order.py",
    "checks/statistics.py",
    "checks/workers.py",
    "checks/reach.py",
    "checks/draws.py",
    "checks/batches.py",
    "checks/streams.py",
    "checks/subsets.py",
    "checks/mixtures.py",
    "checks/life.py",
    "checks/faults.py",
    "checks/ahead.py",
    "checks/restart.py",
    "probe.py",
    "kinds.py",
    "watch.py",
    "conducts.py",
    "late.py",
    "restart.py",
    "consumer.py",
    "ending.py",
    "resources.py",
    "rank.py",
    "judge.py",
    "brief.py",
    "reach.py",
)
_Place = tuple[int, int]  # a line from 1, a byte from 0
_ONLY = re.compile(r"  # only: (\w+)$")


@cache
def pieces() -> dict[str, tuple[str, str]]:
    """Every function and class by name: the file it is from, and its source. A script defines the stand-ins itself."""
    found: dict[str, tuple[str, str]] = {}
    for name in _FILES:
        source = (_FOLDER / name).read_text(encoding="utf-8")
        for each in ast.parse(source).body:
            if isinstance(each, ast.FunctionDef | ast.ClassDef) and not _is_stand_in(each):
                assert each.name not in found, f"two pieces of a script are named {each.name}"
                # Whole lines: a mark after the last statement belongs to it.
                found[each.name] = name, "\n".join(source.split("\n")[each.lineno - 1 : each.end_lineno])
    return found


def _is_stand_in(each: ast.stmt) -> bool:
    return isinstance(each, ast.FunctionDef) and (ast.get_docstring(each) or "").startswith("Stands for ")


@cache
def _imports() -> dict[str, str]:
    """The import statement behind every name that the pieces take from the standard library."""
    found: dict[str, str] = {}
    for name in _FILES:
        for each in ast.parse((_FOLDER / name).read_text(encoding="utf-8")).body:
            if isinstance(each, ast.Import):
                found |= {alias.name: f"import {alias.name}" for alias in each.names}
            elif isinstance(each, ast.ImportFrom) and not (each.module or "").startswith("conformance"):
                found |= {alias.name: f"from {each.module} import {alias.name}" for alias in each.names}
    return found


def pieces_for(roots: dict[str, str], flags: frozenset[str]) -> dict[str, str]:
    """The source of the root functions and of all that they use. `roots` maps each to its name in the script."""
    texts: dict[str, str] = {}
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name not in texts:
            texts[name] = _chosen_lines(pieces()[name][1], flags)
            waiting += [used for used in names_in(texts[name]) if used in pieces()]
    ordered = [name for name in pieces() if name in texts]
    return {name: texts[name].replace(f"def {name}(", f"def {roots.get(name, name)}(", 1) for name in ordered}


def _chosen_lines(source: str, flags: frozenset[str]) -> str:
    chosen = []
    for line in source.split("\n"):
        mark = _ONLY.search(line)
        if mark is None or mark[1] in flags:
            chosen.append(_ONLY.sub("", line).removesuffix("  # type: ignore[misc]"))
    return "\n".join(chosen)


def names_in(source: str) -> list[str]:
    """All names and dotted modules that a piece of source uses, each once, in order."""
    found: dict[str, None] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name):
            found[node.id] = None
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found[f"{node.value.id}.{node.attr}"] = None
    return list(found)


def is_of_the_check(name: str) -> bool:
    """Whether a piece belongs to the assertion, and not to what many scripts share."""
    file, _ = pieces()[name]
    return file.startswith("checks/") and file != "checks/common.py"


def bare(source: str, documented: bool) -> str:
    """A piece in its plainest form: without types and, unless `documented`, docstrings."""
    lines: list[bytes] = [line.encode() for line in source.split("\n")]
    cut = _annotations(source) + ([] if documented else _docstrings(source))
    for (line, start), (last, end) in sorted(cut, reverse=True):
        lines[line - 1 : last] = [lines[line - 1][:start] + lines[last - 1][end:]]
    return "\n".join(line.decode() for line in lines if documented or line.strip())


def _annotations(source: str) -> list[tuple[_Place, _Place]]:
    """Where each annotation begins, with what leads to it, and where it ends."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.arg) and node.annotation:
            found.append(((node.lineno, node.col_offset + len(node.arg.encode())), _end(node.annotation)))
        elif isinstance(node, ast.AnnAssign):
            found.append((_end(node.target), _end(node.annotation)))
        elif isinstance(node, ast.FunctionDef) and node.returns:
            line = source.split("\n")[node.returns.lineno - 1].encode()
            begins = line.rindex(b" ->", 0, node.returns.col_offset)
            found.append(((node.returns.lineno, begins), _end(node.returns)))
    return found


def _docstrings(source: str) -> list[tuple[_Place, _Place]]:
    documented = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    texts = [node.body[0] for node in documented if ast.get_docstring(node) is not None and len(node.body) > 1]
    return [((text.lineno, text.col_offset), _end(text)) for text in texts]


def _end(node: ast.expr | ast.stmt) -> _Place:
    return node.end_lineno or node.lineno, node.end_col_offset or 0


def imports_for(texts: Iterable[str]) -> str:
    """The import statements that these sources need, plain ones first, one a line."""
    needed = {_imports()[name] for text in texts for name in names_in(text) if name in _imports()}
    froms: dict[str, list[str]] = {}
    for statement in sorted(needed):
        if statement.startswith("from "):
            module, _, name = statement.removeprefix("from ").partition(" import ")
            froms.setdefault(module, []).append(name)
    plain = sorted(statement for statement in needed if statement.startswith("import "))
    return "\n".join([*plain, *(f"from {module} import {', '.join(names)}" for module, names in sorted(froms.items()))])
