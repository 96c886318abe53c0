"""Findings that the user accepts: decides where that is said, to which finding it belongs, and when it is out of date.

    loader = DataLoader(data, sampler=sampler)  # loaderspec: ignore ORDER-6, evaluation repeats on purpose

    [tool.loaderspec.watch]
    accept = [{ finding = "ORDER-6", at = "train.py:14", reason = "evaluation repeats on purpose" }]

A comment counts at the line of the finding or of the loader, at any line of that statement, or alone above it.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from conformance.audit.configured import Unfit, table_of

__all__ = ["Acceptance", "Unfit", "acceptances", "comments", "not_understood"]

_COMMENT = re.compile(r"#\s*loaderspec:\s*ignore\s+([A-Za-z0-9-]+)\s*(?:,\s*(.*\S))?\s*$")
_MEANT = re.compile(r"#\s*loaderspec\s*(?::|\s*ignore\b).*", re.I)


@dataclass(frozen=True)
class Acceptance:
    """One finding that is accepted. `line` is 0 for the whole of a file. Without a reason nothing is accepted."""

    finding: str
    file: Path
    line: int
    reason: str
    where: str  # how the user finds it again

    @property
    def lacks(self) -> str:
        """What is said of one without a reason."""
        write = f"write `# loaderspec: ignore {self.finding}, why`"
        return f"{self.where} ignores {self.finding} without a reason, so it is not accepted: {write}"

    def covers(self, finding: str, places: Iterable[tuple[str, int]]) -> bool:
        """Whether it is about a finding at one of these places: where it shows, and where its loader was made."""
        if finding != self.finding:
            return False
        return any(
            Path(file).resolve() == self.file and (self.line == 0 or self.line in _lines_of(self.file, line))
            for file, line in places
        )


def acceptances(files: Iterable[str], folder: Path) -> list[Acceptance]:
    """What is accepted in the comments of files, and in the pyproject.toml of a folder or of one above it.

    Unfit if the latter can't be read, or has one without a reason; a comment may lack it.
    """
    return [
        *(each for file in sorted({Path(file).resolve() for file in files}) for each in comments(file)),
        *_configured(folder.resolve()),
    ]


def comments(file: Path) -> Iterator[Acceptance]:
    """What is accepted in the comments of a file; the reason is empty where a comment has none."""
    for number, line in enumerate(_text(file).splitlines(), start=1):
        found = _COMMENT.search(line)
        if found:
            yield Acceptance(found[1], file.resolve(), number, found[2] or "", f"{file.name}:{number}")


def not_understood(files: Iterable[str]) -> Iterator[str]:
    """What is said of comments that are meant to accept a finding, as it seems, and do not."""
    for file in sorted({Path(file).resolve() for file in files}):
        for number, line in enumerate(_text(file).splitlines(), start=1):
            meant = _MEANT.search(line)
            if meant and not _COMMENT.search(line):
                write = "write `# loaderspec: ignore FINDING, why`"
                yield f"{file.name}:{number} says `{meant[0].strip()}`, which is not understood: {write}"


def _configured(folder: Path) -> Iterator[Acceptance]:
    found = table_of(folder)
    if found is None:
        return
    path, table = found
    for entry in table.get("accept", []):
        lacking = [name for name in ("finding", "at", "reason") if not str(entry.get(name, "")).strip()]
        if lacking:
            raise Unfit(f"{path.name}: an entry of [tool.loaderspec.watch] accept has no {lacking[0]}: {entry}")
        file, _, line = str(entry["at"]).partition(":")
        number = int(line) if line.isdigit() else 0
        where = f"{path.name} ({entry['at']})"
        yield Acceptance(str(entry["finding"]), (path.parent / file).resolve(), number, str(entry["reason"]), where)


def _lines_of(file: Path, line: int) -> set[int]:
    """The lines at which a comment is about this line: its statement's, and those of the comments right above it."""
    lines = _text(file).splitlines()
    try:
        tree = ast.parse("\n".join(lines))
    except SyntaxError:
        return {line}
    found = {line}
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0):
            body = getattr(node, "body", None)
            end = body[0].lineno - 1 if isinstance(body, list) and body else node.end_lineno or line
            if line <= end:
                found |= set(range(node.lineno, end + 1))
    above = min(found) - 1
    while 0 < above <= len(lines) and lines[above - 1].strip().startswith("#"):
        found.add(above)
        above -= 1
    return found


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
