"""Decides what README.md promises: reads its fenced blocks, and carries out those that a marker above them calls for.

A marker is an HTML comment on the line above a block:

    <!-- run -->              a command that ends with exit code 0; `<!-- run: exit 1 -->` with another one;
                              `<!-- run: exit 1, needs NAME -->` where that program is installed
    <!-- output -->           all that the command above prints; `<!-- output: first 3 -->` its first lines;
                              `<!-- output: from TEXT -->` the paragraph whose first line begins so
    <!-- python -->           a program that is run as it stands; its output may follow
    <!-- file: NAME -->       a file that the reader writes
    <!-- edit: NAME -->       a line of that file (`-`) that the reader replaces (`+`)
    <!-- ci: NAME -->         a command that `.ci/run` runs
    <!-- not run: REASON -->  anything else

`python tests/docs/readme_blocks.py` runs them all and writes the outputs anew: read what changed before you commit it.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
_BLOCK = re.compile(r"(?:^<!-- (?P<marker>[^>]+) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.M | re.S)
# What a reader types before the first word of a command is found here, whatever is installed where the tests run.
_COMMANDS = {
    "python": '"{python}" "$@"',
    "pytest": '"{python}" -m pytest "$@"',
    "loaderspec": '"{python}" -c "from conformance.cli import main; raise SystemExit(main())" "$@"',
}


@dataclass(frozen=True)
class Block:
    """A fenced block: kind and argument of its marker, what stands in it, under which heading; and all of it."""

    kind: str
    argument: str
    text: str
    section: str
    whole: str

    def showing(self, shown: list[str]) -> str:
        """The block as it would stand with these lines in it."""
        return self.whole.replace(f"\n{self.text}```", "\n" + "".join(f"{line}\n" for line in shown) + "```")


@dataclass(frozen=True)
class Done:
    """A block that was carried out."""

    block: Block
    exit_code: int
    output: str


def blocks() -> list[Block]:
    """All fenced blocks of the README, in order. A block without a marker has the kind ""."""
    return [block for title, body in sections() for block in blocks_of(title, body)]


def sections() -> list[tuple[str, str]]:
    """Headings and bodies; what stands above the first heading of rank two has the heading ""."""
    parts = re.split(r"^## (.+)\n", README.read_text(encoding="utf-8"), flags=re.M)
    return [("", parts[0]), *zip(parts[1::2], parts[2::2], strict=True)]


def blocks_of(title: str, body: str) -> Iterator[Block]:
    """The fenced blocks of a text."""
    for match in _BLOCK.finditer(body):
        kind, _, argument = (match["marker"] or "").partition(": ")
        yield Block(kind, argument, match["text"], title, match[0])


def prepare(folder: Path, before: str) -> None:
    """Make a folder as a reader has it who comes to the section `before`: an installed clone, and the files so far."""
    for name in ("conformance", "reference", "specs", "pyproject.toml"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name)
        else:
            shutil.copy(source, folder)
    # What pip leaves of an installation, and pytest finds the plugin by.
    installed = folder / "loaderspec-0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: loaderspec\nVersion: 0\n")
    (installed / "entry_points.txt").write_text("[pytest11]\nloaderspec = conformance.plugin\n")
    programs = folder / ".programs"
    programs.mkdir()
    for name, line in _COMMANDS.items():
        (programs / name).write_text(f"#!/bin/sh\nexec {line.format(python=sys.executable)}\n")
        (programs / name).chmod(0o755)
    for block in blocks():
        if block.section == before:
            return
        # What a command wrote in an earlier section is not here, and no later section needs it.
        if block.kind == "file" or (folder / block.argument).is_file():
            write_file(folder, block)


def write_file(folder: Path, block: Block) -> None:
    """Write or change the file that a block tells the reader to write or to change; other blocks do nothing."""
    path = folder / block.argument
    if block.kind == "file":
        path.write_text(block.text)
    elif block.kind == "edit":
        old, new = block.text.splitlines()
        text = path.read_text()
        assert old[0] == "-"
        assert new[0] == "+"
        assert 1 == text.count(old[1:] + "\n"), f"{block.argument} must have this line once: {old[1:]}"
        path.write_text(text.replace(old[1:] + "\n", new[1:] + "\n"))


def carry_out(folder: Path, block: Block) -> Done:
    """Run a command or a program in the folder, with what it prints on either stream together."""
    environment = {
        **os.environ,
        "PATH": f"{folder / '.programs'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(folder),
        "PYTHONDONTWRITEBYTECODE": "1",
        "COLUMNS": "110",
    }
    # Set by pytest for its own tests, and of no concern to a pytest inside of one.
    for name in [name for name in environment if name.startswith("PYTEST_")]:
        del environment[name]
    command = ["python", "-c", block.text] if block.kind == "python" else ["bash", "-euo", "pipefail", "-c", block.text]
    done = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return Done(block, done.returncode, done.stdout)


def walk(title: str, folder: Path) -> Iterator[tuple[Block, Done]]:
    """Go through a section from top to bottom: each command with what came of it, each output with its command's."""
    prepare(folder, before=title)
    done: Done | None = None
    is_left_out = False
    for block in [block for block in blocks() if block.section == title]:
        write_file(folder, block)
        if block.kind in ("run", "python"):
            # Its outputs are left out with it.
            is_left_out = bool(missing(block))
        if is_left_out:
            continue
        if block.kind in ("run", "python"):
            done = carry_out(folder, block)
        if block.kind in ("run", "python", "output"):
            assert done is not None, f"nothing is run above this output in {title}:\n{block.text}"
            yield block, done


def missing(block: Block) -> str:
    """The program that a command needs and that is not installed, or ""."""
    needed = block.argument.partition("needs ")[2] if block.kind == "run" else ""
    return needed if needed and shutil.which(needed) is None else ""


def runnable() -> list[str]:
    """The sections in which something is run."""
    return list(dict.fromkeys(block.section for block in blocks() if block.kind in ("run", "python")))


def lines(text: str) -> list[str]:
    """The lines without blanks at their ends, and without empty lines around them."""
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def due(block: Block, done: Done) -> list[str]:
    """The lines that an output block must show."""
    printed = lines(done.output)
    how, _, what = block.argument.partition(" ")
    if how == "first":
        return lines("\n".join(printed[: int(what)]))
    if how == "from":
        begin = next((at for at, line in enumerate(printed) if line.startswith(what)), None)
        assert begin is not None, f"{done.block.text}prints no line that begins with {what!r}, but\n{done.output}"
        # A paragraph ends at an empty line, or at one of pytest's rules.
        ends = (at for at, line in enumerate(printed) if at > begin and (not line or line[:3] in ("===", "___")))
        return printed[begin : next(ends, len(printed))]
    return printed


def links() -> list[str]:
    """The targets of the README's links, with their anchors."""
    prose = _BLOCK.sub("", README.read_text(encoding="utf-8"))
    return re.findall(r"\[[^\]]+\]\(([^)]+)\)", prose)


def refresh() -> None:
    """Write the outputs into the README as they are today."""
    text = README.read_text(encoding="utf-8")
    for title in runnable():
        with tempfile.TemporaryDirectory() as folder:
            for block, done in walk(title, Path(folder)):
                if block.kind == "output":
                    text = text.replace(block.whole, block.showing(due(block, done)))
    README.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    refresh()
