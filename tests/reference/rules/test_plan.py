"""The printed plan."""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import pytest

from reference.rules import plan as plan_module
from reference.rules.arithmetic import make_plan
from reference.rules.plan import add_arguments, main, tree

TUTORIAL = "--samples 50000 --batch-size 32 --instances 4 --replicas 8"


def run(line: str) -> int:
    """Run the command with the words of a line."""
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return main(parser.parse_args(line.split()))


def test_the_tree_of_the_tutorial() -> None:
    """1562 batches; 390 for each instance; 195 for each replica; 2 superfluous."""
    expected = ["1562 input batches"]
    for instance in range(4):
        expected.append(f"  390 batches for instance {instance}")
        expected += [f"    195 batches for replica {2 * instance + local}" for local in range(2)]
    assert [*expected, "  2 superfluous batches"] == tree(make_plan(50_000, 32, replicas=2, ranks=4))


def test_the_command_prints_every_number(capsys: pytest.CaptureFixture[str]) -> None:
    """Below the tree stand batches, N, steps, use and remainder."""
    assert run(TUTORIAL) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    for expected in (
        "replica batch 32 = micro-batch x gradient accumulation",
        "global batch 64 = replica batch x replicas of an instance",
        "steps of an instance 195 floor",
        "samples used 49920 in an epoch, by all instances",
        "samples left over 80 fewer than N x instances",
        "cut in stages 50000 -> 1562 -> 390 -> 195 -> 195",
    ):
        assert expected in lines


def test_json_holds_the_plan(capsys: pytest.CaptureFixture[str]) -> None:
    """--json prints one object with every field of the plan."""
    assert run(f"{TUTORIAL} --device-iterations 2 --gradient-accumulation 3 --json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["combined_batch"], found["steps"], found["total_replicas"]) == (384, 32, 8)
    assert found["stages"] == [1562, 390, 195, 32]


def test_keeping_the_rest_shows_the_smaller_step(capsys: pytest.CaptureFixture[str]) -> None:
    """With --keep-last nothing is superfluous, and the smaller last step has its own line."""
    assert run("--samples 9 --batch-size 2 --instances 2 --replicas 4 --keep-last") == 0
    assert capsys.readouterr().out.splitlines()[:9] == [
        "5 input batches",
        "  3 batches for instance 0",
        "    1 batch for replica 0",
        "    1 batch for replica 1",
        "    a last step of 1 samples instead of 4",
        "  2 batches for instance 1",
        "    1 batch for replica 2",
        "    1 batch for replica 3",
        "  0 superfluous batches",
    ]


def test_a_million_instances_are_abbreviated(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tree asks for three instances of a million, and shows those."""
    asked = []
    shown = plan_module._instance
    monkeypatch.setattr(plan_module, "_instance", lambda plan, rank: asked.append(rank) or shown(plan, rank))
    lines = tree(make_plan(10**15, 32, replicas=10**6, ranks=10**6))
    assert asked == [0, 1, 999_999]
    assert len(lines) == 18
    assert "    31 batches for replica 999999999999" in lines


def test_replicas_that_cannot_be_shared_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """Instances drive equally many replicas; the sentence goes to stderr, the code is 2."""
    assert run("--samples 5 --batch-size 1 --instances 4 --replicas 9") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "--replicas is 9, but must be divisible by --instances, 4" in err
    assert "give 12" in err


@pytest.mark.parametrize(
    "line",
    [
        "--samples -1 --batch-size 1",
        "--samples 1 --batch-size 0",
        "--samples 1 --batch-size 1 --instances 0",
        "--samples 1 --batch-size 1 --replicas -4",
        "--samples 1 --batch-size 1 --device-iterations 0",
        "--samples 1 --batch-size 1 --gradient-accumulation -1",
    ],
)
def test_a_bad_number_is_one_sentence(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A factor below its bound is refused by the option's name, with code 2 and nothing on stdout."""
    assert run(line) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("loaderspec plan: --")
    assert "but must be at least" in err


@pytest.mark.parametrize("text", ["1.5", "x", "True", "1" * 2000])
def test_what_is_no_number_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Fractions, words and endless digits are refused while the line is read."""
    with pytest.raises(SystemExit, match="2"):
        run(f"--samples {text} --batch-size 1")
    assert "argument --samples: " in capsys.readouterr().err


def test_any_instance_can_be_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    """Of a million instances, number 777,777 stands alone in the tree, with its samples, place and steps."""
    huge = "--samples 1000000000000000 --batch-size 32 --instances 1000000 --device-iterations 7 --instance 777777"
    assert run(huge) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) < 30
    assert lines[1] == lines[4] == "  ..."
    assert lines[2:4] == ["  31249995 batches for instance 777777", "    31249995 batches for replica 777777"]
    expected = "instance 777777 999999840 samples, from position 777776875555680 of the epoch's order on"
    assert expected in [" ".join(line.split()) for line in lines]
    assert run(f"{huge} --json") == 0
    found = json.loads(capsys.readouterr().out)["instance"]
    share = make_plan(10**15, 32, device_iterations=7, ranks=10**6).share(777_777)
    assert (share.rank, share.first, share.samples, share.steps) == tuple(
        found[name] for name in ("rank", "first", "samples", "steps")
    )


@pytest.mark.parametrize(("instance", "shown"), [(0, ["  2 batches for", "  ..."]), (3, ["  ...", "  2 batches for"])])
def test_the_first_and_the_last_instance_have_neighbours_on_one_side(
    instance: int, shown: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """What is left out is left out where it would stand."""
    assert run(f"--samples 100 --batch-size 10 --instances 4 --instance {instance}") == 0
    lines = [line for line in capsys.readouterr().out.splitlines()[:6] if line.startswith("  ") and line[2] != " "]
    assert shown == [line[: len(expected)] for line, expected in zip(lines, shown, strict=False)]


def test_an_instance_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """Code 2 and a sentence with the last one."""
    assert run("--samples 100 --batch-size 10 --instances 4 --instance 4") == 2
    assert "--instance is 4, but must be at most 3" in capsys.readouterr().err


def test_the_command_waits_for_no_library() -> None:
    """A plan of 10**15 samples is printed by a process that has imported neither torch nor numpy."""
    words = ["plan", "--samples", str(10**15), "--batch-size", "32", "--instances", str(10**6)]
    program = (
        f"import sys; sys.argv[1:] = {words}; from conformance.command import main; code = main();"
        f"print(*sys.modules, file=sys.stderr); sys.exit(code)"
    )
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True)
    assert "31250000000000 input batches" in done.stdout
    assert set() == {"torch", "numpy", "hypothesis", "conformance.cli"} & set(done.stderr.split())
