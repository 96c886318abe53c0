"""README.md tells the truth: each of its commands, programs, outputs and links."""

import re
import subprocess
from pathlib import Path

import pytest

from conformance.clauses import FAMILIES
from tests.deep import deep_where
from tests.docs.readme_blocks import README, ROOT, Block, blocks, due, lines, links, missing, runnable, walk

# These judge a loader again and again, for a quarter of a minute and more; `--deep` runs them.
LONG = (
    "Judge your own loader",
    "Known failures",
    "Loaders in other languages",
    "Without an adapter",
    "Reports",
    "From Python",
)
KINDS = {"run", "output", "python", "file", "edit", "ci", "not run"}


@pytest.mark.parametrize("title", deep_where(LONG.__contains__, runnable(), str))
def test_a_section_does_what_it_says(title: str, tmp_path: Path) -> None:
    """From the top of a section to its bottom, commands end and print as shown."""
    for block, done in walk(title, tmp_path):
        if block.kind == "output":
            assert due(block, done) == lines(block.text)
        else:
            assert exit_code_of(block) == done.exit_code, f"{block.text}\n{done.output}"
    lacking = {missing(block) for block in blocks() if block.section == title} - {""}
    if lacking:
        pytest.skip(f"the rest is as it says; a command of this section needs {', '.join(lacking)}")


def exit_code_of(block: Block) -> int:
    """The exit code that a marker names."""
    return int(block.argument.partition(",")[0].partition("needs")[0].removeprefix("exit ") or "0")


def test_every_block_has_a_marker() -> None:
    """No block is left out by mistake."""
    assert [] == [block.text for block in blocks() if block.kind not in KINDS]


def test_the_main_job_runs_the_two_commands_of_the_readme() -> None:
    """`.ci/run` reads them out of the README."""
    shown = subprocess.run([ROOT / ".ci" / "run", "--show"], cwd="/", capture_output=True, text=True, check=True)
    assert [block.text.strip() for block in blocks() if block.kind == "ci"] == shown.stdout.splitlines()


def test_the_two_commands_are_one_line_each() -> None:
    """One judges torch's loader, the other runs the project's tests."""
    judge, tests = [block.text for block in blocks() if block.kind == "ci"]
    assert ["pip install torch==2.13.0 -e . && pytest conformance --impl=torch"] == lines(judge)
    assert ["pip install torch==2.13.0 -e '.[test]' && pytest tests -n 2"] == lines(tests)


@pytest.mark.parametrize("target", [link for link in links() if "://" not in link])
def test_a_link_leads_somewhere(target: str) -> None:
    """A local link names a file or folder, and an anchor one of its headings."""
    name, _, anchor = target.partition("#")
    path = ROOT / (name or README.name)
    assert path.exists()
    if anchor:
        headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.M)
        assert anchor in [re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings]


def test_what_is_drawn_is_told_as_it_is() -> None:
    """The table names as many scenarios of each tier as are drawn."""
    (row,) = re.findall(r"^\| drawn by quick, gate, deep \| (.+) \|$", README.read_text(encoding="utf-8"), re.M)
    families = ("map", "workers", "iterable", "life")
    drawn = [
        ", ".join(f"{FAMILIES[family].examples[tier]:,}" for tier in ("quick", "gate", "deep")) for family in families
    ]
    assert drawn == row.split(" | ")
    restarts = [FAMILIES["resume"].examples[tier] for tier in ("quick", "gate", "deep")]
    assert "{}, {} and {:,} of them".format(*restarts) in README.read_text(encoding="utf-8")
