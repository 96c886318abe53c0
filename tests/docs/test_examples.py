"""The examples of the specs run as scripts for PopTorch, and print what the specs show."""

import re
import shlex
from pathlib import Path

import pytest

from tests.docs.programs import INSTANCES, POPRUN, ROOT, printed

EXAMPLES = ROOT / "specs" / "examples"
GUIDE = EXAMPLES / "README.md"
CHAPTER = ROOT / "specs" / "7-launch.md"
_OUTPUT = re.compile(r"<!-- output: (\S+)(.*?) -->\n```text\n(.*?)```", re.S)
_RATE = re.compile(r"\d+ items/s")
# Runs scripts one after the other, each as if it had been started by itself: starting python is what takes time.
RUN_ALL = """
import multiprocessing, runpy, shlex, sys
multiprocessing.set_forkserver_preload(["torch"])
for words in map(shlex.split, sys.argv[1:]):
    sys.argv, sys.path[0] = words, words[0].rpartition("/")[0]
    print("#", words[0].rpartition("/")[2])
    runpy.run_path(words[0], run_name="__main__")
"""


def shown(document: Path) -> dict[str, tuple[str, str]]:
    """What a document shows of each script: its arguments and its output."""
    return {name: (given, text) for name, given, text in _OUTPUT.findall(document.read_text(encoding="utf-8"))}


def outputs(document: Path, *launcher: str) -> dict[str, str]:
    """What the scripts of a document print, each."""
    scripts = [f"{shlex.quote(str(EXAMPLES / name))}{given}" for name, (given, _) in shown(document).items()]
    return parted(printed(*launcher, "-c", RUN_ALL, *scripts))


def parted(text: str) -> dict[str, str]:
    """The output of many scripts, by their names; of instances, one after the other."""
    instances = [[line for line in text.splitlines(True) if line.startswith(f"[1,{at}]")] for at in range(INSTANCES)]
    ordered = "".join(line for each in instances for line in each) or text
    found: dict[str, str] = {}
    for part in re.split(r"^(?:\[1,\d\]<stdout>:)?# ", ordered, flags=re.M)[1:]:
        name, _, lines = part.partition("\n")
        found[name] = found.get(name, "") + lines
    return found


@pytest.fixture(scope="module")
def alone() -> dict[str, str]:
    """What the scripts of the guide print without a launcher."""
    return outputs(GUIDE, "-m", "reference.run")


@pytest.fixture(scope="module")
def launched() -> dict[str, str]:
    """What the scripts of the chapter print on four instances."""
    return outputs(CHAPTER, *POPRUN)


@pytest.mark.parametrize("name", shown(GUIDE))
def test_an_example_prints_what_the_guide_shows(name: str, alone: dict[str, str]) -> None:
    """Word for word, except rates."""
    assert _RATE.sub("N items/s", shown(GUIDE)[name][1]) == _RATE.sub("N items/s", alone[name])


@pytest.mark.parametrize("name", ["step1.py", "step2.py", "step3.py"])
def test_each_instance_prints_what_the_chapter_shows(name: str, launched: dict[str, str]) -> None:
    """The lines of instance 0, and the same of every other."""
    lines = shown(CHAPTER)[name][1]
    assert "".join(lines.replace("[1,0]", f"[1,{at}]") for at in range(INSTANCES)) == launched[name]


def test_all_instances_find_the_line(launched: dict[str, str]) -> None:
    """Each says which replicas it drives, and all have the same weights."""
    line = shown(CHAPTER)["distributed.py"][1].rstrip("\n").rpartition("; ")[2]
    assert [
        f"[1,{at}]<stdout>:instance {at} of 4, replicas {2 * at} to {2 * at + 1} of 8: 3 steps of 4 samples; {line}"
        for at in range(INSTANCES)
    ] == launched["distributed.py"].splitlines()


def test_every_example_is_shown() -> None:
    """No script is left out, except those that the others import."""
    scripts = {path.name for path in EXAMPLES.glob("*.py")} - {"made_images.py", "made_line.py"}
    assert scripts == {*shown(GUIDE), *shown(CHAPTER)}
