"""The README and the specs are written in words that a native engineer reads without stumbling."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# What is generated from other texts, or quotes what was said at another time.
_OTHERS = ("matrix.md", "kill-matrix.md")
FILES = [
    ROOT / "README.md",
    *(file for file in sorted((ROOT / "specs").glob("*.md")) if file.name not in _OTHERS),
]
# What is not said, and what is said instead.
SAY = {
    r"(?:^|[.:;] |\*\* )Who(?:ever)? (?!is|are)[a-z]+s?\b(?![^.]*\?)": "a loader that ..., or a user who ...",
    r"\bwhoever\b": "a loader that ..., or a user who ...",
    r"\bso many\b(?! that)": "that many",
    r"'s matter\b": "reported by ..., or judged by ...",
    r"\bmend(?:s|ed|ing)?\b": "fix",
    r"\bg(?:o|oes|one|oing) on with\b": "resume, or continue with",
    r"\banew\b": "again",
    r"\b(?<!slot )(?<!worker )(?:is|are) free\b": "unspecified",
    r"\bin vain\b": "wasted, or for nothing",
    r"\blets? go of\b": "release",
    r"\bagain and again\b": "every time, or repeatedly",
    r"\bfor ever\b": "forever",
    r"\b(?:is|are|was|were) told (?!apart|to)": "printed, said or reported",
    r"\bbehind (?:it|them|which|the (?:one|first|last|sharding|dispatch|filter)|filter|`)": "after",
}


@pytest.mark.parametrize("pattern", SAY)
def test_no_text_says_it(pattern: str) -> None:
    """Each of these has a plainer word, which is named."""
    found = []
    for file in FILES:
        # Code and what a command has printed are others' words, and so is a quotation.
        text = re.sub(r"(?ms)^```.*?^```|`[^`\n]*`|\"[^\"\n]*\"", "", file.read_text(encoding="utf-8"))
        found += [f"{file.relative_to(ROOT)}: {match[0]!r}" for match in re.finditer(pattern, text, re.M)]
    assert [] == found, f"say: {SAY[pattern]}"
