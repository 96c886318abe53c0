"""The command `loaderspec init TARGET`: writes the adapter of a class or function, to be edited and kept."""

import argparse
import sys
from pathlib import Path
from typing import Any

from conformance.contract import AdapterError, Claims
from conformance.processes.sources import source_of
from conformance.shapes.shape import Shape, claims_of
from conformance.shapes.source import adapter, unfilled
from conformance.trial.session import Options, Session
from conformance.trial.words import about, printable

EXIT_DONE, EXIT_USAGE = 0, 4
_SEEN = ("when_dropping", "when_keeping")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `loaderspec init`."""
    parser.add_argument("target", help="a class or function: module:attribute or file.py:attribute")
    parser.add_argument("--to", metavar="FILE", help="where to write (default: loaderspec_NAME.py, beside the target)")


def init(given: argparse.Namespace) -> int:
    """Write the adapter. Code 4 if the target needs none or has no shape, or the file is there already."""
    try:
        shape, claims = looked_at(given.target)
        path = Path(given.to) if given.to else beside(given.target, shape)
        if path.exists():
            raise AdapterError(f"{path} is there already; give another file with --to=FILE, or remove it")
        path.write_text(adapter(shape, place_of(given.target), claims), encoding="utf-8")
    except (AdapterError, OSError) as error:
        print(printable(f"loaderspec: {about(given.target, str(error))}"), file=sys.stderr)
        return EXIT_USAGE
    print(f"{path} is written. Read its claims, then judge it: loaderspec run {path}")
    if shape.open:
        print(f"It does not run yet: {shape.name} must be given {', '.join(shape.open)}; see the mark TODO.")
    if unfilled(shape):
        print(f"What could not be filled: {unfilled(shape)}.")
    return EXIT_DONE


def looked_at(target: str) -> tuple[Shape, dict[str, Any]]:
    """The shape of a target, and what it seems to promise. AdapterError if it has an adapter, or no shape."""
    source, name = source_of(target)
    with Session(source, name, Options(tier="quick")) as session:
        shape = session.origin.shape
        if shape is None:
            raise AdapterError("it is an adapter already, with load(request); judge it with loaderspec run")
        return shape, written_claims(shape, session.claims)


def written_claims(shape: Shape, claims: Claims) -> dict[str, Any]:
    """The claims as an adapter says them: those of the shape, and the policies that a look has shown."""
    seen = {name: value for name in _SEEN if (value := getattr(claims, name)) is not None}
    return {**seen, **claims_of(shape)}


def place_of(target: str) -> str:
    """The module or file of a target."""
    return target.rpartition(":")[0]


def beside(target: str, shape: Shape) -> Path:
    """The file of a new adapter: where the target's file lies, because its import finds it there."""
    place = place_of(target)
    folder = Path(place).parent if place.endswith(".py") else Path()
    return folder / f"loaderspec_{shape.name.lower()}.py"
