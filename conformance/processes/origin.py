"""Where an adapter came from: decides what a receipt says of it, so that a later run can tell whether it is the same.

It is asked in the process that has imported the adapter; nothing is imported for it.
"""

import ast
import inspect
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from types import ModuleType

from conformance.processes.resolve import FILE_MODULE, files_of
from conformance.shapes.shape import Shape


@dataclass(frozen=True)
class Origin:
    """The adapter's source as a digest, None if it can't be read; and the packages that it is in or imports.

    A package is (name, version); the version is None where the package is imported but was never installed. `shape` is
    there where the suite wrote the adapter by itself.
    """

    digest: str | None = None
    packages: tuple[tuple[str, str | None], ...] = ()
    shape: Shape | None = None


def origin_of(home: str, shape: Shape | None = None, spec: str = "") -> Origin:
    """The origin of an adapter in the module of this name; of one that is no module, by the files that `spec` names."""
    if not home:
        return Origin(next(iter(digests_of(spec)), None))
    source = _source(sys.modules.get(home))
    if source is None:
        return Origin(None, tuple(filter(None, [_package(home)])), shape)
    names = dict.fromkeys([home, *_imported(source)])
    found = {package for name in names if (package := _package(name))}
    return Origin(_digest(source), tuple(sorted(found, key=str)), shape)


def digests_of(implementation: str) -> tuple[str, ...]:
    """The digests of the files in which an implementation that is named so may be written, without importing any."""
    found = (_read(path) for path in files_of(implementation))
    return tuple(_digest(source) for source in found if source is not None)


def _digest(source: bytes) -> str:
    return blake2b(source, digest_size=6).hexdigest()


def installed(package: str) -> str | None:
    """The version of a package, without importing it; None if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _source(module: ModuleType | None) -> bytes | None:
    try:
        path = inspect.getsourcefile(module) if module else None
    except TypeError:  # built into Python
        return None
    return _read(path) if path else None


def _read(path: str | Path) -> bytes | None:
    try:
        return Path(path).read_bytes()
    except OSError:  # it is gone
        return None


def _imported(source: bytes) -> list[str]:
    """The modules that a source imports, wherever in it; relative imports are its own package."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError):  # it was changed since it was imported
        return []
    plain = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    return plain + [
        node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level
    ]


def _package(module: str) -> tuple[str, str | None] | None:
    top = module.partition(".")[0]
    # What was made in a REPL or a test is at home nowhere.
    if top in ("", "__main__") or top in sys.stdlib_module_names or top.startswith(FILE_MODULE):
        return None
    if top in ("conformance", "reference"):
        return "loaderspec", installed("loaderspec")
    if found := installed(top):
        return top, found
    names = _distributions().get(top, [])
    return (names[0], installed(names[0])) if names else (top, None)


@cache
def _distributions() -> Mapping[str, list[str]]:
    # It reads what every package says of itself.
    return packages_distributions()
