"""The recipe for an author's CI does what it says: its commands are run in order, and so is what the action runs."""

import os
import re
from pathlib import Path

import pytest

from tests.docs import readme_blocks

RECIPE = readme_blocks.ROOT / "specs" / "ci-recipe.md"
ACTION = readme_blocks.ROOT / ".github" / "actions" / "loaderspec"
FILES = {"report.json", "report.html", "report.md", "badge.json", "junit.xml"}
ADAPTER = """\
claims = dict(when_keeping="uneven")

def load(request):
    if request.batch_size < 1 or not 0 <= request.rank < request.world_size:
        raise ValueError("there is no such step or rank")
    mine = range(request.rank, len(request.dataset), request.world_size)
    return [[request.dataset[sample]] for sample in mine]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the suite installed, and the package that the recipe speaks of."""
    readme_blocks.prepare(tmp_path, before="")
    (tmp_path / "mypkg").mkdir()
    (tmp_path / "mypkg" / "__init__.py").write_text("")
    (tmp_path / "mypkg" / "loaderspec.py").write_text(ADAPTER)
    return tmp_path


@pytest.mark.deep
def test_the_commands_of_the_recipe_run(folder: Path) -> None:
    """Every one ends with 0 and leaves the files that it names; one clause stands for all, as the rest is alike."""
    commands = [block for block in readme_blocks.blocks_of("", RECIPE.read_text()) if block.kind == "run"]
    assert 3 == len(commands)
    for block in commands:
        text = block.text.replace("--impl=mypkg", "--impl=mypkg --tier=quick -k BATCH-4")
        done = readme_blocks.carry_out(folder, readme_blocks.Block("run", "", text, "", ""))
        assert 0 == done.exit_code, done.output
    assert set(os.listdir(folder / "loaderspec-report")) == FILES
    assert (folder / "page.html").read_bytes() == (folder / "loaderspec-report" / "report.html").read_bytes()
    assert "mypkg: the verdicts agree on 1 clause (tier quick)" in done.output


@pytest.mark.deep
def test_the_action_judges(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends with the code of the run, and what does not hold stands in the summary of the job."""
    (folder / "mypkg" / "loaderspec.py").write_text(ADAPTER.replace("if request", "if False and request"))
    given = dict(IMPL="mypkg", TIER="quick", OPTIONS="-k BATCH-4", FOLDER="made")
    for name, value in (given | dict(GITHUB_STEP_SUMMARY="summary.md", GITHUB_OUTPUT="output")).items():
        monkeypatch.setenv(name, value)
    text = f"bash '{ACTION}/judge.sh'"
    done = readme_blocks.carry_out(folder, readme_blocks.Block("run", "", text, "", ""))
    assert 1 == done.exit_code, done.output
    assert set(os.listdir(folder / "made")) == FILES
    assert (folder / "summary.md").read_text().startswith("## mypkg: not green: 1 of 1 clauses violated\n")
    assert "report=made/report.json\n" == (folder / "output").read_text()


def test_every_input_of_the_action_is_used() -> None:
    """An input reaches the script by the environment, and the script reads nothing else of the action."""
    text, script = (ACTION / "action.yml").read_text(), (ACTION / "judge.sh").read_text()
    inputs = re.findall(r"^  (\w+):$", text.partition("inputs:")[2].partition("outputs:")[0], re.M)
    passed = dict(re.findall(r"^        ([A-Z]+): \$\{\{ inputs\.(\w+) \}\}$", text, re.M))
    assert set(inputs) == set(passed.values())
    assert all(f"${name}" in script or f"${{{name}" in script for name in passed)
    # What a person typed into a workflow must never become a part of a command.
    assert "inputs." not in text.partition("run: python")[2].replace("${{ inputs.", "", len(passed))
