"""Before the job starts: decides what of a call can be known to be wrong already, without running any of its code."""

import ast
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path

from conformance.audit.accepted import acceptances
from conformance.audit.counted import configured
from conformance.records.names import NoIdentity


def check_identify(name: str | None, job: Sequence[str] = ()) -> None:
    """NoIdentity if ``module:function`` or ``file.py:function`` is not there, as far as its source shows."""
    if name is None:
        return
    where, _, attribute = name.rpartition(":")
    if not where:
        raise NoIdentity(f"--identify takes module:function, and {name!r} has no colon")
    source = _source(where, job)
    if source is None:
        raise NoIdentity(
            f"--identify {name}: there is no module {where} here, beside the script, or installed; "
            "give its file instead: path/to/file.py:function"
        )
    if source.suffix == ".py" and not _has(source, attribute):
        raise NoIdentity(f"--identify {name}: {source.name} has no {attribute}")


def check_accepted() -> None:
    """Unfit if pyproject.toml can't be read, or accepts a finding without a reason. Of comments the report says so."""
    acceptances([], Path.cwd())
    configured(Path.cwd())


def scripts(job: Sequence[str]) -> list[Path]:
    """The files of Python that the words of a job name."""
    return [path for path in map(Path, job) if path.suffix == ".py" and path.is_file()]


def _source(where: str, job: Sequence[str]) -> Path | None:
    """The file of a module, or None if there is none that could be found."""
    if where.endswith(".py"):
        return Path(where) if Path(where).is_file() else None
    parts = where.split(".")
    for folder in (*(path.parent for path in scripts(job)), Path.cwd()):
        for path in (folder.joinpath(*parts).with_suffix(".py"), folder.joinpath(*parts, "__init__.py")):
            if path.is_file():
                return path
    try:
        # The top alone: what is below it would be imported for that.
        found = importlib.util.find_spec(parts[0])
    except (ImportError, ValueError):
        found = None
    if found is None:
        return None
    origin = found.origin or ""
    return Path(origin) if len(parts) == 1 and origin.endswith(".py") else Path(sys.executable)


def _has(source: Path, attribute: str) -> bool:
    """Whether a file may give a name at its top; if it can't be read, or takes names from elsewhere, it may."""
    try:
        tree = ast.parse(source.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, SyntaxError):
        return True
    names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    names |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= {each.asname or each.name for each in node.names}
    return bool({attribute, "*", "__getattr__"} & names)
