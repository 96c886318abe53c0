"""How a reproduction script gets the implementation: decides what is imported by name and what is written into it.

Adapters of this package are written into the script, so that it does not need the package; all others are imported as
`--impl` does it. Nothing is imported here: whatever the implementation does, it must not do it in this process.
"""

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TypeGuard

from conformance import peers
from conformance.shapes import source as written
from conformance.shapes.shape import Shape

_PEERS = "conformance.peers"
# What an adapter tells the suite; a script has one case, and knows what it claims.
_OF_THE_SUITE = ("claims", "known_failures")
_PATH = """\
sys.path[:0] = [str(base / {folder!r}) for base in (Path.cwd(), Path(__file__).resolve().parent.parent)]
"""
_GUARD = """\
try:
{imports}
except ImportError as error:
    print(f"this script can't judge: {{error}}; install it first", file=sys.stderr)
    sys.exit(2)
"""


@dataclass(frozen=True)
class Adapter:
    """What a script needs for its implementation.

    `implementation` and `find` name functions of `script/adapter.py`; `text` is top-level code of an adapter.
    """

    implementation: str
    find: str = ""
    constants: dict[str, str] = field(default_factory=dict)
    text: str = ""


def adapter_of(spec: str, shape: Shape | None = None) -> Adapter:
    """The adapter that `--impl=spec` means; that of a `shape` was written by the suite."""
    place, _, attribute = spec.rpartition(":") if ":" in spec else (spec, "", "")
    place = peers.BUILT_IN.get(place, place)
    if shape is not None:
        return Adapter("adapter_in_script", text=_of_shape(shape, place))
    if place.startswith(f"{_PEERS}."):
        return Adapter("adapter_in_script", text=_written_out(place))
    if place == "reference":
        return Adapter("adapter_of_poptorch_shape", "import_module", {"IMPLEMENTATION": place})
    find = "import_file" if place.endswith(".py") else "import_module"
    place = _relative(place) if find == "import_file" else place
    if not attribute and _defines_load(place):
        return Adapter("adapter_with_load", find, {"IMPLEMENTATION": place})
    return Adapter("adapter_of_any_kind", find, {"IMPLEMENTATION": place, "ATTRIBUTE": attribute})


def _of_shape(shape: Shape, place: str) -> str:
    """The adapter that was written, after what it imports: where the target lies, it is looked for."""
    folder = Path(_relative(place)).parent.as_posix() if place.endswith(".py") else "."
    lines = [*written.imports(shape).split("\n"), written.import_of(shape, place)]
    guarded = _GUARD.format(imports="\n".join(f"    {line}" for line in lines if line))
    return f"{_PATH.format(folder=folder)}{guarded}\n\n{written.made(shape)}"


def _relative(place: str) -> str:
    """A path below the current folder as seen from there: the script is found again where the folder goes."""
    path = Path(place)
    if path.is_absolute() and path.is_relative_to(Path.cwd()):
        return path.relative_to(Path.cwd()).as_posix()
    return place


def _defines_load(place: str) -> bool:
    path = Path(place) if place.endswith(".py") else _source_of(place)
    if path is None or not path.is_file():
        return False
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError):
        return False
    return _has_load(tree.body)


def _source_of(module: str) -> Path | None:
    # The parents of a module inside a package would be imported to find it.
    if "." in module:
        return None
    try:
        found = find_spec(module)
    except (ImportError, ValueError):
        return None
    return Path(found.origin) if found and found.origin and found.origin.endswith(".py") else None


def _has_load(statements: Sequence[ast.stmt]) -> bool:
    return any(isinstance(each, ast.FunctionDef) and each.name == "load" for each in statements)


def _written_out(module: str) -> str:
    """The code of one of our adapters without its docstring, its claims and its imports of this package.

    What it takes of another peer stands before it.
    """
    name = module.removeprefix(f"{_PEERS}.").partition(".")[0]
    source = (Path(peers.__file__).parent / f"{name}.py").read_text(encoding="utf-8")
    body = ast.parse(source).body
    other = _other_peer(body)
    if not _has_load(body) and other:
        return _written_out(other)
    imports = [each for each in body if isinstance(each, ast.Import | ast.ImportFrom) and not _is_ours(each)]
    code = [each for each in body[1:] if not isinstance(each, ast.Import | ast.ImportFrom) and not _is_claims(each)]
    guarded = _GUARD.format(imports="\n".join(f"    {_text(source, each)}" for each in imports))
    others = [_written_out(each.module) for each in body if _takes_parts(each) and each.module]
    return "\n\n".join([*others, guarded, *(f"{_text(source, each)}\n" for each in code)])


def _takes_parts(statement: ast.stmt) -> TypeGuard[ast.ImportFrom]:
    """Whether it imports names out of another peer, and not the peer for its claims."""
    return isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith(f"{_PEERS}.")


def _other_peer(body: Sequence[ast.stmt]) -> str:
    """The peer whose load this one takes, or "" if this is but a part of others."""
    for each in body:
        if isinstance(each, ast.ImportFrom) and each.module and _is_ours(each):
            return each.module if each.module != _PEERS else f"{_PEERS}.{each.names[0].name}"
    return ""


def _is_claims(statement: ast.stmt) -> bool:
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return any(isinstance(target, ast.Name) and target.id in _OF_THE_SUITE for target in targets)


def _is_ours(statement: ast.Import | ast.ImportFrom) -> bool:
    return isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith("conformance")


def _text(source: str, statement: ast.stmt) -> str:
    return ast.get_source_segment(source, statement) or ""
