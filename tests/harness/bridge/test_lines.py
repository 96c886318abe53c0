"""The lines of the bridge: what is understood, what is told of a line that is not, and how a command may fail."""

import gc
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from conformance.bridge.check import checked
from conformance.bridge.exchange import Exchange, Misspoken
from conformance.bridge.implementation import command_of, introduced
from conformance.bridge.loader import opened
from conformance.bridge.process import Gone, Process
from conformance.cli import main
from conformance.contract import AdapterError, Request

EXAMPLE = Path(__file__).resolve().parents[3] / "specs" / "examples" / "bridge" / "loader.py"
COMMAND = [sys.executable, str(EXAMPLE)]


def command(program: str) -> list[str]:
    """A command in Python."""
    return [sys.executable, "-c", program]


def answering(*lines: str) -> list[str]:
    """A command that answers these lines, whatever it is told, and then nothing more."""
    return command(
        f"import sys\nfor line in {lines!r}: sys.stdin.readline(); print(line, flush=True)\nsys.stdin.read()"
    )


def ignore(side: str, line: str) -> None:
    """No interest in lines."""


def request(dataset: Any, **changes: Any) -> Request:
    """A request of one rank."""
    usual: dict[str, Any] = dict(batch_size=2, shuffle=False, seed=7, drop_last=False, num_workers=0, rank=0)
    usual |= dict(world_size=1, replication_factor=1, device_iterations=1, gradient_accumulation=1, workdir="")
    return Request(dataset=dataset, asynchronous=False, **{**usual, **changes})


class Dying:
    """Samples, the third of which raises what it is told to."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> Any:
        if index == 2:
            raise self.error
        return [index]


class Stubborn(Exception):
    """An exception that nobody can make again."""

    def __init__(self) -> None:
        super().__init__("made of nothing")


START = '{"version":1,"claims":{}}'


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["hello"], "line 1 of the command, hello, in answer to"),
        (['{"version":2}'], "speaks version 2, and this suite 1"),
        (['{"version":1,"has":["lenght"]}'], "has 'lenght', which is none of len, set_epoch, state, merge"),
        (['{"version":1,"claims":{"shufle":"global"}}'], "the claim 'shufle' is unknown"),
        (['{"version":1,"claims":{"device":["training"]}}'], "claims device, but the bridge carries loaders only"),
        (['{"version":1,"claims":{"ranks":"process_group"}}'], "its rank is in the request"),
        (['{"error":"no licence"}'], "answers start with an error: no licence"),
        (["{}"], 'is no answer; this one is {"version":...}\n'),
    ],
)
def test_a_wrong_introduction_is_told(lines: list[str], told: str) -> None:
    """What a command says of itself is understood, or an error that says what is wrong."""
    with pytest.raises(AdapterError, match=r"version|line|claim|has|rank|error") as error:
        introduced(answering(*lines), 30.0)
    assert told in f"{error.value}\n"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["no-such-command"], "'no-such-command' can't be started: No such file or directory"),
        (command("raise OSError('no disk')"), "ended with exit code 1 and no answer to start; its last words: OSError"),
    ],
)
def test_a_command_that_does_not_start_is_told(words: list[str], told: str) -> None:
    """Its exit code and its last words are in the error."""
    with pytest.raises(AdapterError, match="start") as error:
        introduced(words, 30.0)
    assert told in str(error.value)


def test_a_silent_command_is_told_and_ended() -> None:
    """A command that never answers costs the patience, and is gone then."""
    with pytest.raises(AdapterError, match=r"gave no answer to start within 0\.2 s"):
        introduced(command("import sys, threading; sys.stdin.read(); threading.Event().wait()"), 0.2)


@pytest.mark.parametrize("spec", ["stdio:", "stdio:   ", 'stdio:"open'])
def test_a_spec_without_a_command_is_an_error(spec: str) -> None:
    """What can't be read as a command is told with an example, or with what is wrong."""
    with pytest.raises(AdapterError, match=r"such as \"stdio:node loader\.js\"|can't be read"):
        command_of(spec)


def test_a_check_names_the_line_that_was_wrong() -> None:
    """The first wrong line is told by its number and its text, and what was asked."""
    lines = (START, "{}", "{}", '{"step":[5]}')
    with pytest.raises(
        Misspoken, match=r'line 4 of the command, \{"step": \[5\]\}, in answer to \{"op":"next","it":2\}'
    ):
        checked(answering(*lines), 30.0, ignore)


def test_a_command_that_dies_in_a_check_is_told() -> None:
    """Where the lines end too early, the last one is named."""
    dying = command(f"import sys; sys.stdin.readline(); print({START!r}, flush=True)")
    with pytest.raises(AdapterError, match="ended after its line 1"):
        checked(dying, 30.0, ignore)


def test_a_command_that_outlives_its_input_is_told() -> None:
    """Whoever does not end with its input is killed, and told."""
    text = EXAMPLE.read_text("utf-8") + "\nimport threading\nthreading.Event().wait()\n"
    with pytest.raises(AdapterError, match=r"does not end within 2 s of its input's end"):
        checked(command(text), 2.0, ignore)


def test_a_check_of_the_example_is_green(capsys: pytest.CaptureFixture[str]) -> None:
    """The command prints what came of each part of the conversation, and ends with 0."""
    assert 0 == main(["bridge", "check", shlex.join(COMMAND)])
    out = capsys.readouterr().out
    assert ["epoch", "shuffle", "stream", "left", "fault", "refusal", "state"] == [
        line.split()[0] for line in out.splitlines()[:-1]
    ]


def test_a_check_of_nonsense_is_invalid(capsys: pytest.CaptureFixture[str]) -> None:
    """What can't be understood is INVALID, and ends with 4."""
    assert 4 == main(["bridge", "check", shlex.join(command("print('hello')"))])
    assert "INVALID" in capsys.readouterr().err


class TestExchange:
    """One process of the example, and what becomes of samples, errors and handles."""

    @pytest.fixture
    def exchange(self) -> Any:
        """The lines of a process, which is ended."""
        process = Process(COMMAND)
        exchange = Exchange(process)
        yield exchange
        process.end()

    def test_a_sample_is_the_object_that_the_dataset_gave(self, exchange: Exchange) -> None:
        """Nothing is copied on the way."""
        dataset = [[0], [1], [2]]
        steps = list(opened(exchange, request(dataset), ()))
        assert [[True, True], [True]] == [[sample is dataset[sample[0]] for sample in step] for step in steps]

    @pytest.mark.parametrize("error", [KeyError("gone", 5), KeyboardInterrupt("gone"), SystemExit(5)], ids=repr)
    def test_an_error_is_the_object_that_the_dataset_raised(self, exchange: Exchange, error: BaseException) -> None:
        """What a sample raises comes out of `next()` itself, whatever it derives from."""
        steps = iter(opened(exchange, request(Dying(error)), ()))
        next(steps)
        with pytest.raises(type(error)) as raised:
            next(steps)
        assert raised.value is error

    def test_an_error_that_can_not_be_copied_comes_as_it_is(self, exchange: Exchange) -> None:
        """It is raised again and again, each time the same object."""
        error = Stubborn()
        steps = iter(opened(exchange, request(Dying(error)), ()))
        next(steps)
        for _ in range(2):
            with pytest.raises(Stubborn) as raised:
                next(steps)
            assert raised.value is error

    def test_a_stop_iteration_of_a_sample_is_no_end(self, exchange: Exchange) -> None:
        """Out of `next()` it would end the loop, so it comes as another error."""
        steps = iter(opened(exchange, request(Dying(StopIteration())), ()))
        next(steps)
        with pytest.raises(RuntimeError, match="the dataset raised StopIteration"):
            next(steps)

    def test_a_whole_two_is_not_sent(self, exchange: Exchange) -> None:
        """2.0 is refused on this side: who reads it as 2 could not."""
        with pytest.raises(RuntimeError, match=r"batch_size is 2\.0, which is no whole number"):
            opened(exchange, request([1, 2], batch_size=2.0), ())

    @pytest.mark.parametrize("value", [0, -1, True, 1.5])
    def test_other_impossible_factors_are_the_loaders_to_refuse(self, exchange: Exchange, value: Any) -> None:
        """They are sent as they are, and the loader's sentence comes back."""
        with pytest.raises(RuntimeError, match=f"batch_size is {value}, but must be"):
            opened(exchange, request([1, 2], batch_size=value), ())

    def test_what_was_read_is_let_go_of_with_its_iterator(self, exchange: Exchange) -> None:
        """A hundred epochs hold no more samples than one."""
        loader = opened(exchange, request([[0], [1], [2]]), ())
        for _ in range(100):
            list(loader)
        gc.collect()
        assert {} == exchange.handles._things

    def test_the_loader_is_told_when_nobody_holds_it(self, exchange: Exchange) -> None:
        """The last name for an iterator or a loader is gone: it is dropped, and closed."""
        lines: list[str] = []
        exchange._tap = lambda side, line: lines.append(line) if side == ">" else None
        loader = opened(exchange, request([[0], [1]]), ())
        steps = iter(loader)
        del steps, loader
        gc.collect()
        assert ['{"op":"drop","it":2}', '{"op":"close","loader":1}'] == lines[-2:]

    def test_a_process_that_ended_is_gone(self, exchange: Exchange) -> None:
        """Behind its end nothing is written to pipes whose numbers may be another's."""
        exchange.process.end()  # type: ignore[attr-defined]
        with pytest.raises(Gone):
            opened(exchange, request([1]), ())
