"""The clauses are read out of the chapters, and every judge has a text of its own level."""

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest

from conformance.clauses import CLAUSES
from conformance.contract import CHOICES, Claims
from conformance.report.spec_text import ClauseText, UnknownClause, clause_text, clause_texts, explain, parse, plain

CHAPTER = """\
# 2 Partition

Before the clauses.

### PART-1

**MUST, if `shuffle` is claimed.** Within *one* epoch no
sample comes twice ([policy](README.md#the-policy-rule)).

**Example.** Three lines:

```
rank 0: 0
```

| policy | shard |
|---|---|
| `"drop"` | 2 |

### PART-2

**SHOULD.** Nothing is lost.

**Judged.** Always.

## Left open

- Much.
"""


def test_a_clause_is_read() -> None:
    """Level, condition and sentence are plain text; the body is what stands below."""
    first, second = parse("2-partition.md", CHAPTER)
    assert ("PART-1", "MUST", "if shuffle is claimed") == (first.id, first.level, first.condition)
    assert first.sentence == "Within one epoch no sample comes twice (policy)."
    assert first.link == "specs/2-partition.md#part-1"
    assert (
        ClauseText("PART-2", "SHOULD", "Nothing is lost.", "2-partition.md", "part-2", "**Judged.** Always.") == second
    )


# All that can be claimed at once, as far as one claim leaves another alone; and what each claim is without a word.
FULL = Claims(
    datasets=("map", "iterable"),
    when_dropping="drop",
    when_keeping="pad",
    layout="strided",
    shuffle="global",
    workers=True,
    iterable_workers="split",
    hooks=CHOICES["hooks"],
    length=True,
    device_options=True,
    asynchronous=True,
    device=CHOICES["device"],
    launcher="settings",
    pipelines=CHOICES["pipelines"],
    resume=True,
)
LESS: dict[str, dict[str, Any]] = {
    "layout": dict(layout=None),
    "shuffle": dict(shuffle=None),
    'shuffle="global"': dict(shuffle="buffered"),
    "workers": dict(workers=False),
    "device_options": dict(device_options=False),
    "asynchronous": dict(asynchronous=False),
    "device": dict(device=()),
    "launcher": dict(launcher=False),
    'launcher="settings"': dict(launcher=True),
    "pipelines": dict(pipelines=()),
    "aliases": dict(aliases=True),
    'errors="skip"': dict(errors="skip"),
    "in_order=False": dict(in_order=False),
    **{hook: dict(hooks=tuple(name for name in CHOICES["hooks"] if name != hook)) for hook in CHOICES["hooks"]},
}


_POLICIES = ("policy", "when_dropping", "when_keeping", '"drop"', '"pad"')


def test_what_takes_a_clause_away_stands_in_its_heading() -> None:
    """A reader of the heading knows whom the clause binds, for the judge asks nothing else."""
    assert [] == [
        (text.id, claim)
        for text in (clause_texts()[clause_id] for clause_id in CLAUSES)
        for claim, change in LESS.items()
        if CLAUSES[text.id].applies(FULL) and not CLAUSES[text.id].applies(dataclasses.replace(FULL, **change))
        if claim not in text.condition
    ]


def test_what_takes_a_clause_away_stands_in_the_index() -> None:
    """The last column of the README's table says what the judges ask for, but for what a claim needs itself."""
    index = (Path(__file__).resolve().parents[2] / "specs" / "README.md").read_text("utf-8")
    needed = {found[1]: found[2] for found in re.finditer(r"^\| \(?\[(\w+-\d+)\].*\| (.*?) ?\|$", index, re.MULTILINE)}
    assert set(CLAUSES) == set(needed)
    without = dict(when_dropping=None, when_keeping=None)
    assert [] == [
        (clause_id, claim)
        for clause_id, clause in CLAUSES.items()
        for claim, change in {**LESS, "policy": without}.items()
        if clause.applies(FULL) and not clause.applies(dataclasses.replace(FULL, **change))
        if not any(word in needed[clause_id] for word in (_POLICIES if claim == "policy" else (claim,)))
        if not (claim == "asynchronous" and "hook" in needed[clause_id])
    ]


def test_no_text_is_empty() -> None:
    """Each clause has a sentence, a reason, and says how it is judged."""
    for text in clause_texts().values():
        assert text.sentence.endswith((".", "..."))
        assert "**Why.**" in text.body
        assert "**Judged.**" in text.body


def test_an_explanation_is_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Marks are gone, code and tables are indented, and the heading says level, condition and place."""
    texts = {text.id: text for text in parse("2-partition.md", CHAPTER)}
    monkeypatch.setattr("conformance.report.spec_text.clause_texts", lambda: texts)
    assert """\
PART-1  MUST, if shuffle is claimed                                      specs/2-partition.md#part-1

Within one epoch no sample comes twice (policy).

Example. Three lines:

    rank 0: 0

    policy  shard
    "drop"  2
""" == explain("part-1")


def test_an_explanation_of_every_clause_fits_a_terminal() -> None:
    """No line of prose is wider than 100 columns, and no mark of Markdown is left."""
    for clause_id in clause_texts():
        prose = [line for line in explain(clause_id).split("\n") if not line.startswith("    ")]
        assert max(map(len, prose)) <= 100
        assert not any("**" in line or "`" in line or "](" in line for line in prose)


def test_an_unknown_clause_names_its_neighbours() -> None:
    """A slip of the pen is answered with what was meant, as a KeyError that reads as a sentence."""
    with pytest.raises(UnknownClause) as caught:
        clause_text("PRT-1")
    assert isinstance(caught.value, KeyError)
    assert str(caught.value).startswith("there is no clause 'PRT-1'; did you mean PART-1")


def test_nonsense_has_no_neighbours() -> None:
    """Where nothing is near, the list of all is named."""
    with pytest.raises(UnknownClause, match=r"'\?'; `loaderspec explain` lists all clauses"):
        clause_text("?")


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("`drop_last=True`", "drop_last=True"),
        ("[PART-1](2-partition.md#part-1)", "PART-1"),
        ("**Why.** It *must*", "Why. It must"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("m x g", "m x g"),
    ],
)
def test_marks_are_taken_off(markdown: str, expected: str) -> None:
    """Only marks go; an asterisk that multiplies stays."""
    assert expected == plain(markdown)


MEANT = {
    "PARTS": "did you mean PART? `",
    "part-99": "those of PART are PART-1 to PART-8",
    "when_keeping": 'when_keeping is a claim: what it means stands in specs/README.md, "Claims"',
    "uneven": "uneven is a value of when_dropping and when_keeping: what it means stands in specs/README.md",
    "nosuch": "`loaderspec explain` lists all clauses, and specs/README.md the claims",
}


@pytest.mark.parametrize("asked", MEANT)
def test_a_name_that_is_no_clause_leads_on(asked: str) -> None:
    """A chapter, a number too high, a claim, a value of one, or nothing of ours."""
    with pytest.raises(UnknownClause) as caught:
        clause_text(asked)
    assert str(caught.value).startswith(f"there is no clause {asked!r}; {MEANT[asked]}")
