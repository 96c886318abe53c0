"""README.md tells the truth: each of its commands, programs, outputs and links."""

import re
import subprocess
from pathlib import Path

import pytest
from readme_blocks import ROOT, Block, Done, blocks, carry_out, lines, links, prepare, write_file

KINDS = {"run", "output", "python", "file", "edit", "ci", "not run"}
RUNNABLE = [
    title
    for title in dict.fromkeys(block.section for block in blocks())
    if any(block.kind in ("run", "python") for block in blocks() if block.section == title)
]


@pytest.mark.parametrize("title", RUNNABLE)
def test_a_section_does_what_it_says(title: str, tmp_path: Path) -> None:
    """From the top of a section to its bottom, commands end and print as shown."""
    prepare(tmp_path, before=title)
    done: Done | None = None
    for block in [block for block in blocks() if block.section == title]:
        write_file(tmp_path, block)
        if block.kind in ("run", "python"):
            done = carry_out(tmp_path, block)
            assert exit_code_of(block) == done.exit_code, f"{block.text}\n{done.output}"
        elif block.kind == "output":
            assert done is not None, f"nothing is run above this output in {title}"
            compare(block, done)


def exit_code_of(block: Block) -> int:
    """The exit code that a marker names."""
    return int(block.argument.removeprefix("exit ") or "0")


def compare(block: Block, done: Done) -> None:
    """The block shows all that was printed, or consecutive lines of it."""
    shown, printed = lines(block.text), lines(done.output)
    if block.argument != "part":
        assert shown == printed
    else:
        starts = [at for at, line in enumerate(printed) if line == shown[0]]
        found = [printed[at : at + len(shown)] for at in starts]
        assert shown in found, "\n".join([f"{done.block.text}does not print", *shown, "but", *printed])


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
    assert (ROOT / name).exists()
    if anchor:
        headings = re.findall(r"^#+ (.+)$", (ROOT / name).read_text(encoding="utf-8"), re.M)
        assert anchor in [re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings]
