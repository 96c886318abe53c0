"""The code of the tutorials that this project began with runs as it stands, and prints the tutorials' numbers.

What is altered is said here, and no more: `MENDS` are slips of the texts themselves, and `SMALLER` are numbers, because
a CPU is no accelerator. torchvision is stood in for, with images that are made.
"""

import re
from pathlib import Path

import pytest

from tests.docs.programs import INSTANCES, POPRUN, ROOT, printed

SEEDS = ROOT.parent / "shared" / "seeds"
EXAMPLES = ROOT / "specs" / "examples"
STAND_IN = f"""
import sys
from types import SimpleNamespace
sys.path.append({str(EXAMPLES)!r})
from made_images import MadeImages

class CIFAR10(MadeImages):
    def __init__(self, root, download, transform):
        super().__init__()
        print("Files already downloaded and verified")

datasets = SimpleNamespace(CIFAR10=CIFAR10)
transforms = SimpleNamespace(ToTensor=lambda: None)
"""
# The indentation that step 2 lost, and the import that step 3 lost.
LOOP = "    for (data, label) in dataloader:\n"
MENDS = {
    "step2": [(LOOP + "    print(", LOOP + "        print("), ("    break\n", "        break\n")],
    "step3": [("import popdist.poptorch\n", "import popdist.poptorch\nimport poptorch\n")],
}
SMALLER = {r"\[10000\b": "[128", r"(device_iterations ?= ?)50": r"\g<1>2", r"(num_workers ?= ?)8": r"\g<1>1"}
# Seven loaders have a process each, which needn't import torch anew.
PRELOAD = "import multiprocessing; multiprocessing.set_forkserver_preload(['torch'])\n"
# Runs programs one after the other, each as if it had been started by itself.
RUN_ALL = """
import runpy, sys
for path in sys.argv[1:]:
    print("#", path.rpartition("/")[2])
    try:
        runpy.run_path(path, run_name="__main__")
    except RuntimeError as error:
        print("RuntimeError:", error)
"""


def seed(number: str) -> str:
    """The text of a tutorial."""
    found = sorted(SEEDS.glob(f"{number}_*.txt"))
    if not found:
        pytest.skip(f"the tutorials are not here: ../shared/seeds/{number}_*.txt beside the project's root")
    return found[0].read_text(encoding="utf-8")


def blocks(text: str, kind: str) -> list[str]:
    """The blocks of a kind, in order; what programs print has no kind."""
    return [body for found, body in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.S | re.M) if found == kind]


def applied(diff: str) -> str:
    """What a program is after a change that is shown as a whole."""
    lines = [line for line in diff.splitlines(keepends=True) if not line.startswith("-")]
    return "".join(line.removeprefix("+") for line in lines)


def mended(name: str, program: str) -> str:
    """A program without the slips of its text."""
    for slip, right in MENDS.get(name, []):
        assert 1 == program.count(slip)
        program = program.replace(slip, right)
    return program


def carry_out(folder: Path, *words: str) -> str:
    """Run python with some words; return what it prints."""
    (folder / "torchvision.py").write_text(STAND_IN, encoding="utf-8")
    return printed(*words, path=(folder,))


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What each instance prints in the programs of the distributed tutorial, line by line, sorted by instance."""
    text = seed("000")
    folder = tmp_path_factory.mktemp("steps")
    first, blocked = blocks(text, "python")
    second, third = map(applied, blocks(text, "diff"))
    programs = {"step1": first, "step2": second, "step3": third, "blocked": blocked}
    for name, program in programs.items():
        (folder / name).write_text(mended(name, program), encoding="utf-8")
    output = carry_out(folder, *POPRUN, "-c", RUN_ALL, *(str(folder / name) for name in programs))
    found: dict[str, list[str]] = {}
    for at in range(INSTANCES):
        tag = f"[1,{at}]<stdout>:"
        lines = [line for line in output.splitlines() if line.startswith(tag)]
        for part in "\n".join(lines).split(f"{tag}# ")[1:]:
            name, _, rest = part.partition("\n")
            found.setdefault(name, []).extend(rest.splitlines())
    return found


@pytest.mark.parametrize("which", [1, 2, 3])
def test_a_step_prints_what_its_tutorial_shows(steps: dict[str, list[str]], which: int) -> None:
    """The same lines, from each instance; the order of instances is nobody's."""
    shown = [each for each in blocks(seed("000"), "") if "[1,0]" in each]
    assert sorted(shown[which - 1].splitlines()) == sorted(steps[f"step{which}"])


def test_the_launcher_has_set_the_replicas(steps: dict[str, list[str]]) -> None:
    """The error is the tutorial's, word for word."""
    (error,) = re.findall(r"`(RuntimeError: .*?)`", seed("000"))
    assert [f"[1,{at}]<stdout>:{error}" for at in range(INSTANCES)] == steps["blocked"]


def test_the_data_loading_tutorial_runs(tmp_path: Path) -> None:
    """All its blocks, one after the other, as in a notebook; each experiment prints its two rates."""
    program = "\n".join(blocks(seed("001"), "python"))
    for pattern, smaller in SMALLER.items():
        program, count = re.subn(pattern, smaller, program)
        assert count
    lines = carry_out(tmp_path, "-m", "reference.run", "-c", PRELOAD + program).splitlines()
    assert 4 == len([line for line in lines if re.fullmatch(r"DataLoader: [\d.]+ items/s", line)])
    assert 5 == len([line for line in lines if re.fullmatch(r"IPU throughput: [\d.]+ items/s", line)])
    assert "Evaluating: 4 steps of 32 items" in lines
