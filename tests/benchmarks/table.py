"""Decides how a benchmark shows its figures: the machine, aligned columns, and a generated part of the README."""

import os
import platform
import re
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


def machine(*packages: str) -> str:
    """Where this is measured, with the versions of these packages as far as they are installed."""
    found = ", ".join(f"{name} {version(name)}" for name in packages if _is_installed(name))
    return f"machine: {os.cpu_count()} cores, Python {platform.python_version()}, {found}"


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The rows as lines: the first column to the left, the others to the right, two blanks between."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        cells = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))]
        yield "  ".join(cells).rstrip()


def rewrite(path: Path, name: str, text: str) -> None:
    """Put the text between the two marks of that name in a document; whatever stood there goes."""
    begin, end = f"<!-- generated: {name} -->\n", f"<!-- generated: end of {name} -->\n"
    between = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.S)
    old = path.read_text(encoding="utf-8")
    if len(between.findall(old)) != 1:
        raise ValueError(
            f"{path.name} must have the lines {begin.strip()} and {end.strip()} once each, one above the other: "
            f"write them where the table shall stand."
        )
    path.write_text(between.sub(lambda _: f"{begin}\n{text}\n\n{end}", old), encoding="utf-8")


def _is_installed(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True
