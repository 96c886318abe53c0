"""The text of the clauses: decides where the specs are found and how a clause is read out of them.

The chapters travel inside the wheel (`conformance/specs`); in a clone they lie beside the package (`specs`). A clause
is a heading `### PART-1`, then a line `**MUST.** <sentence>`, then its example, its reason and how it is judged.
"""

import difflib
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal, cast

from conformance.contract import CHOICES, LIMITS, VALUES, Claims

Level = Literal["MUST", "SHOULD"]
WIDTH = 100
_CLAUSE = re.compile(r"^### (?P<id>[A-Z]+-\d+)\n\n\*\*(?P<level>MUST|SHOULD)(?:, (?P<condition>[^*]+))?\.\*\* ", re.M)
_IN_SHORT = re.compile(r"^\| \(?\[(?P<id>[A-Z]+-\d+)\]\([^)]*\)\)? \| (?P<words>[^|]+?) \|", re.M)
# What a clause's text ends at: the next heading of any rank.
_END = re.compile(r"^#{1,3} ", re.M)


class UnknownClause(KeyError):
    """No chapter has a clause of this id. The message names the ids that look most like it."""

    def __str__(self) -> str:
        # KeyError shows its argument with quotes around it.
        return str(self.args[0])


class MissingSpecs(Exception):
    """The chapters are neither inside the package nor beside it: the installation is incomplete."""


@dataclass(frozen=True)
class ClauseText:
    """One clause as the specs say it. `sentence` and `condition` are plain text, `body` is Markdown.

    `condition` is what must be claimed, for example ``if shuffle is claimed``, or empty.
    """

    id: str
    level: Level
    sentence: str
    chapter_file: str
    anchor: str
    body: str
    condition: str = ""

    @property
    def link(self) -> str:
        """Where to read it, for example ``specs/2-partition.md#part-1``."""
        return f"specs/{self.chapter_file}#{self.anchor}"


@cache
def clause_texts() -> dict[str, ClauseText]:
    """All clauses by id, in the order of the chapters. MissingSpecs if there are no chapters."""
    texts = {text.id: text for name, content in _chapters() for text in parse(name, content)}
    if not texts:
        raise MissingSpecs(
            "the chapters of the specs are neither in the package nor beside it; "
            "install loaderspec again, or run from a clone"
        )
    return texts


@cache
def in_short() -> dict[str, str]:
    """A few words for each clause, from the table in the specs' README; a clause that is not there has none."""
    folder = spec_folder()
    overview = folder / "README.md" if folder else None
    text = overview.read_text(encoding="utf-8") if overview and overview.is_file() else ""
    return {match["id"]: plain(match["words"]) for match in _IN_SHORT.finditer(text)}


def clause_text(clause_id: str) -> ClauseText:
    """The text of one clause. UnknownClause, with the ids nearest to it, if there is none."""
    texts = clause_texts()
    if clause_id.upper() in texts:
        return texts[clause_id.upper()]
    raise UnknownClause(f"there is no clause {clause_id!r}; {_meant(clause_id, list(texts))}")


def _meant(asked: str, ids: Sequence[str]) -> str:
    """What somebody may have meant who asks for a clause that there is not."""
    name, _, _ = asked.upper().partition("-")
    chapters = list(dict.fromkeys(each.partition("-")[0] for each in ids))
    if name in chapters:
        mine = [each for each in ids if each.startswith(f"{name}-")]
        return f"those of {name} are {mine[0]} to {mine[-1]}"
    claims = [field.name for field in fields(Claims)]
    if asked in claims:
        return f'{asked} is a claim: what it means stands in specs/README.md, "Claims"'
    owners = [each for each, values in {**VALUES, **CHOICES, **LIMITS}.items() if asked in values]
    if owners:
        told = " and ".join(owners)
        return f'{asked} is a value of {told}: what it means stands in specs/README.md, "Claims"'
    near = difflib.get_close_matches(asked.upper(), chapters, n=1, cutoff=0.8)
    near = near or difflib.get_close_matches(asked.upper(), ids, n=3, cutoff=0.6)
    near = near or difflib.get_close_matches(asked, claims, n=1, cutoff=0.8)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    return f"{hint}`loaderspec explain` lists all clauses, and specs/README.md the claims"


def parse(chapter_file: str, content: str) -> list[ClauseText]:
    """The clauses of one chapter, in order."""
    found = []
    for match in _CLAUSE.finditer(content):
        end = _END.search(content, match.end())
        sentence, _, body = content[match.end() : end.start() if end else None].strip().partition("\n\n")
        found.append(
            ClauseText(
                id=match["id"],
                level=cast(Level, match["level"]),
                sentence=plain(" ".join(sentence.split())),
                chapter_file=chapter_file,
                anchor=match["id"].lower(),
                body=body,
                condition=plain(match["condition"] or ""),
            )
        )
    return found


def explain(clause_id: str) -> str:
    """The clause as plain text for a terminal: heading, sentence, example, reason, and how it is judged."""
    text = clause_text(clause_id)
    binding = f"{text.level}, {text.condition}" if text.condition else text.level
    head = f"{text.id}  {binding}{text.link:>{WIDTH - len(text.id) - len(binding) - 2}}"
    return "\n\n".join([head, textwrap.fill(text.sentence, WIDTH), *plain_blocks(text.body)]) + "\n"


def plain(markdown: str) -> str:
    """A line of Markdown without its marks: links become their words, code and stress lose theirs."""
    without_links = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", markdown)
    without_bold = re.sub(r"\*\*([^*]+)\*\*", r"\1", without_links)
    without_stress = re.sub(r"(?<![\w*])\*(\S|\S[^*]*\S)\*(?![\w*])", r"\1", without_bold)
    return without_stress.replace("`", "")


def plain_blocks(body: str) -> list[str]:
    """Markdown as paragraphs of plain text for a terminal."""
    blocks = []
    for block in re.split(r"\n{2,}", body.strip()):
        if block.startswith("```"):
            blocks.append(textwrap.indent("\n".join(block.split("\n")[1:-1]), "    "))
        elif block.startswith("|"):
            blocks.append(textwrap.indent(plain_table(block), "    "))
        else:
            blocks.append(textwrap.fill(plain(" ".join(block.split())), WIDTH))
    return blocks


def plain_table(block: str) -> str:
    """A table of Markdown in columns of plain text."""
    rows = [[plain(cell.strip()) for cell in line.strip("|").split("|")] for line in block.split("\n")]
    rows = [row for row in rows if any(cell.strip("-: ") for cell in row)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def spec_folder() -> Traversable | None:
    """The specs inside the package, or else beside it."""
    inside = files("conformance") / "specs"
    folder: Traversable = inside if inside.is_dir() else Path(__file__).resolve().parents[2] / "specs"
    return folder if folder.is_dir() else None


def _chapters() -> list[tuple[str, str]]:
    folder = spec_folder()
    if folder is None:
        return []
    chapters = sorted(
        (path for path in folder.iterdir() if re.fullmatch(r"\d+-.*\.md", path.name)), key=lambda path: path.name
    )
    return [(path.name, path.read_text(encoding="utf-8")) for path in chapters]
