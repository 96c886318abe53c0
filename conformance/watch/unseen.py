"""What was not seen of a job, and why: decides the first lines of the report.

The hook is a folder in front of PYTHONPATH. What keeps a Python from reading it is a short list, and the command shows
most of it: `-E`, `-I`, `-S`, `env -i`, a script that sets PYTHONPATH, another host.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from conformance.watch.folder import Said

_PYTHON = re.compile(r"(^|/)python[\d.]*$")
_SETS_PATH = re.compile(r"^[^#\n]*\b(PYTHONPATH=|env\s+-i\b|unset\s+PYTHONPATH)", re.M)
_SMALL = 200_000


def unseen(command: Sequence[str], heard: Sequence[Said]) -> Iterator[str]:
    """Sentences on processes that did not say that they are there, and on taps that failed."""
    hellos = [each for each in heard if each.what == "hello"]
    if not hellos:
        yield f"Nothing was seen: no Python of this job ran the hook of loaderspec. {_why(command)}"
    for each in heard:
        if each.what == "failed":
            where, why, version = [*each.words, "", ""][:3]
            yield f"Process {each.pid} (Python {version}) was not watched to its end: {why} (in {where})."


def _why(command: Sequence[str]) -> str:
    words = list(command)
    for flag in ("-E", "-I", "-S"):
        if any(re.fullmatch(rf"-[a-zA-Z]*{flag[1]}[a-zA-Z]*", word) for word in _python_flags(words)):
            return f"Python was started with {flag}, which ignores PYTHONPATH or `site`: start it without."
    if "env" in {Path(word).name for word in words} and ("-i" in words or "-" in words):
        return "`env -i` takes all variables from it: start it without, or pass PYTHONPATH and LOADERSPEC_WATCH* on."
    for word in words:
        line = _sets_path(Path(word))
        if line:
            return f"{word} says `{line}`, and so drops the folder that was put in front: keep ${{PYTHONPATH}} in it."
    return "If it has run a Python, that one did not get PYTHONPATH: a container, another host, `sudo`, or `-I`."


def _python_flags(words: Sequence[str]) -> list[str]:
    """The options of the first Python in a command."""
    at = next((at for at, word in enumerate(words) if _PYTHON.search(word)), None)
    if at is None:
        return []
    flags = []
    for word in words[at + 1 :]:
        if not word.startswith("-") or word in ("-c", "-m"):
            break
        flags.append(word)
    return flags


def _sets_path(path: Path) -> str:
    """The line of a script that sets PYTHONPATH without keeping what was there."""
    try:
        if not path.is_file() or path.stat().st_size > _SMALL:
            return ""
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
    for found in _SETS_PATH.finditer(text):
        line = text[found.start() : text.find("\n", found.start())].strip()
        if "$PYTHONPATH" not in line and "${PYTHONPATH" not in line:
            return line
    return ""
