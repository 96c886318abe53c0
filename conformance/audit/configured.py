"""`[tool.loaderspec.watch]` of pyproject.toml: decides which file is read, and which words it may have."""

import tomllib
from pathlib import Path
from typing import Any

_WORDS = {"accept", "samples"}


class Unfit(ValueError):
    """What can't be used of pyproject.toml: the words say where it stands and what it lacks."""


def table_of(folder: Path) -> tuple[Path, dict[str, Any]] | None:
    """The pyproject.toml of a folder or of the nearest one above it, and its table; None if there is no such file.

    Unfit if it can't be read, or has other words.
    """
    path = next(
        (each / "pyproject.toml" for each in (folder, *folder.parents) if (each / "pyproject.toml").exists()), None
    )
    if path is None:
        return None
    try:
        read: Any = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise Unfit(f"{path} can't be read: {error}") from error
    table: dict[str, Any] = read.get("tool", {}).get("loaderspec", {}).get("watch", {})
    unknown = sorted(set(table) - _WORDS)
    if unknown:
        raise Unfit(
            f"{path.name} has {unknown[0]!r} in [tool.loaderspec.watch], which has {', '.join(sorted(_WORDS))} only"
        )
    return path, table
