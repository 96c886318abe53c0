"""Ways out: decides what a person is told to do about what was found in a job. The words stand in specs/watching.md."""

import re
from functools import cache

from conformance.report.spec_text import WIDTH, plain_blocks, spec_folder

PAGE, HEADING = "watching.md", "## What to do"
_ENTRY = re.compile(r"^\*\*(?P<id>[A-Z]+(?:-\d+)?)\*\*: ", re.M)


@cache
def ways_out() -> dict[str, str]:
    """For a clause, or for what is found and is no clause (SPLIT): what to do, as plain text for a terminal."""
    folder = spec_folder()
    page = (folder / PAGE) if folder else None
    text = page.read_text(encoding="utf-8") if page is not None and page.is_file() else ""
    section = text.partition(f"{HEADING}\n")[2].partition("\n## ")[0]
    _, *parts = _ENTRY.split(section)
    return {
        name: "\n\n".join(plain_blocks(f"In a job. {body.strip()}"))
        for name, body in zip(parts[::2], parts[1::2], strict=True)
    }


def explained_without_clause(name: str) -> str:
    """What is found in jobs and is no clause, as `explain` shows it; "" if it is none."""
    if name not in ways_out():
        return ""
    head = f"{name}  is no clause, but found in jobs"
    link = f"specs/{PAGE}#what-to-do"
    return f"{head}{link:>{WIDTH - len(head)}}\n\n{ways_out()[name]}\n"
