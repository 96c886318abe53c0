"""Options from a config file and from POPTORCH_DEFAULT_OPTIONS."""

from pathlib import Path

import pytest
import torch

from reference import ConfigFileError, Options, OutputMode

FILE = """
# how the job runs
deviceIterations(4)
Training.gradientAccumulation(8)   # inline

  outputMode(poptorch.OutputMode.EveryN, output_return_period=2)
TensorLocations.setWeightLocation(poptorch.TensorLocationSettings().useOnChipStorage(False))
Precision.setPartialsType(torch.half)
setAvailableMemoryProportion({"IPU0": 0.5})
_Popart.set("autoRecomputation", 3)
"""


def load(tmp_path: Path, text: str) -> Options:
    """Return options loaded from a file of that text."""
    path = tmp_path / "options.cfg"
    path.write_text(text)
    return Options().loadFromFile(str(path))


def test_a_file_is_read_as_setter_calls(tmp_path: Path) -> None:
    """Each line is a call; comments, inline ones too, and blank lines are skipped."""
    options = load(tmp_path, FILE)
    assert (options.device_iterations, options.Training.gradient_accumulation) == (4, 8)
    assert (options.output_mode, options.output_return_period) == (OutputMode.EveryN, 2)
    assert options.toDict()["Precision.setPartialsType"] is torch.half


@pytest.mark.parametrize(
    "line",
    [
        "deviceIterations(4",
        "deviceIterations = 4",
        "4",
        "deviceIterations(4); replicationFactor(2)",
        "deviceIterations(open('x'))",
        "deviceIterations(__import__('os'))",
        "logDir(torch.load('x'))",
        "logDir(poptorch.options)",
        "clone.__func__(1)",
        "_freeze()",
        "deviceIterations(0)",
        "deviceIteration(2)",
        "logDir(2)",
    ],
)
def test_what_is_no_setter_call_is_refused_by_its_line(tmp_path: Path, line: str) -> None:
    """A line that can't be obeyed is an error that names line and file, and is not executed."""
    with pytest.raises((ConfigFileError, AttributeError, TypeError, ValueError), match=r"line 2 of .*options\.cfg"):
        load(tmp_path, f"deviceIterations(2)\n{line}\n")


def test_a_file_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    """A missing file is refused by its name."""
    with pytest.raises(ConfigFileError, match=r"The options file .*nowhere.* can't be read .*: give the path"):
        Options().loadFromFile(tmp_path / "nowhere")


def test_the_environment_sets_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    """POPTORCH_DEFAULT_OPTIONS maps setters to an argument or a list of arguments."""
    text = '{"deviceIterations": 4, "Training.gradientAccumulation": 8, "outputMode": ["OutputMode.EveryN", 3]}'
    monkeypatch.setenv("POPTORCH_DEFAULT_OPTIONS", text)
    options = Options()
    assert (options.device_iterations, options.Training.gradient_accumulation) == (4, 8)
    assert (options.output_mode, options.output_return_period) == (OutputMode.EveryN, 3)
    assert options.deviceIterations(5).device_iterations == 5


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[1]",
        "3",
        '{"deviceIterations": "4"}',
        '{"nothing": 1}',
        '{"_freeze": []}',
        '{"Training": 1}',
    ],
)
def test_bad_defaults_name_the_variable(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """What can't be obeyed is an error that says where it stands."""
    monkeypatch.setenv("POPTORCH_DEFAULT_OPTIONS", text)
    with pytest.raises((AttributeError, TypeError, ValueError), match="variable POPTORCH_DEFAULT_OPTIONS"):
        Options()


def test_json_sets_what_the_environment_would() -> None:
    """from_json takes the same object, and chains."""
    options = Options()
    assert options is options.from_json('{"deviceIterations": 2, "Training.gradientAccumulation": [4]}')
    assert (2, 4) == (options.device_iterations, options.Training.gradient_accumulation)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "from_json, argument string, is no JSON"),
        ("[1]", "must be a JSON object"),
        ('{"deviceIteration": 1}', "no option 'deviceIteration'"),
        (3, "is 3 of type int"),
    ],
)
def test_json_that_sets_nothing_is_refused(text: str, told: str) -> None:
    """The error says where."""
    with pytest.raises((AttributeError, TypeError, ValueError), match=told):
        Options().from_json(text)
