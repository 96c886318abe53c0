"""The pytest plugin as everybody meets it: decides whether a run is ours, and stays out of the way if it is not.

pytest imports this file in every run of an environment in which the suite is installed, so it imports nothing but
pytest; what a run of ours needs is in `run.py`.
"""

import argparse
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from conformance.plugin.place import COLLECTED, HOME
from conformance.report import forms

_OPTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("impl", dict(help="the implementation: built-in name, module, module:attribute, file.py or stdio:COMMAND")),
    ("tier", dict(default="gate", help="how much is tried: quick, gate (default) or deep")),
    ("seed", dict(default="0", help="seed of the scenarios: a number, or 'random' (shown, for repeating it)")),
    ("patience", dict(default=10.0, type=float, help="seconds that a rank may take over one scenario (default 10)")),
    ("time-limit", dict(type=float, help="seconds after which the run ends with the verdicts so far")),
    ("strict", dict(action="store_true", help="a violated SHOULD fails the run as well")),
    ("case", dict(help="replay one case, for example PART-1-n1,w2,b1,keep")),
    ("known", dict(help="TOML file of known failures")),
    ("write-known", dict(help="write a template of known failures for what is violated")),
    *((name, dict(help=words)) for name, words in forms.OPTIONS.items()),
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options by names that nobody else takes: a plugin that is merely installed must not be in anybody's way."""
    group = parser.getgroup("loaderspec", "conformance of data loaders; --impl=... and so on, if --impl is given")
    for name, settings in _OPTIONS:
        group.addoption(f"--loaderspec-{name}", dest=_destination(name), **settings)


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(parser: pytest.Parser, args: list[str]) -> Iterator[None]:
    """The short names, once every conftest.py has taken its own, and only if the run is ours."""
    yield
    if any(arg.startswith(("--impl", "--loaderspec")) or HOME.name in arg for arg in args):
        add_short_names(parser)


def add_short_names(parser: pytest.Parser) -> None:
    """Let --impl stand for --loaderspec-impl and so on, but for names that another plugin took."""
    group = parser.getgroup("loaderspec")
    for name, settings in _OPTIONS:
        with suppress(ValueError, argparse.ArgumentError):
            group.addoption(f"--{name}", dest=_destination(name), **settings)


def _destination(name: str) -> str:
    return "loaderspec_" + name.replace("-", "_")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Before anything starts: the run is ours alone."""
    if not config.getoption("loaderspec_impl"):
        if any(_is_ours(str(argument), config) for argument in config.args):
            raise pytest.UsageError(
                "no --impl: say which loader is judged, for example pytest conformance --impl=torch"
            )
        return
    run: Any = import_module("conformance.plugin.run")
    config.pluginmanager.register(run, "loaderspec-run")
    run.take_over(config)


def _is_ours(argument: str, config: pytest.Config) -> bool:
    place = argument.partition("::")[0]
    if config.option.pyargs and place.partition(".")[0] == HOME.name:
        return True
    path = (config.invocation_params.dir / place).resolve()
    return path == HOME or HOME in path.parents


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put back the clauses that a conftest.py of the folder leaves out or moves."""
    # Here, because pytest asks what is registered later (a conftest.py, `run.py`) before, and its own -k behind us.
    clauses = config.stash.get(COLLECTED, [])
    items[:] = [*clauses, *(item for item in items if item not in clauses)]


@pytest.hookimpl(tryfirst=True)
def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """The suite's own folder is empty where all tests of a folder that holds it are run, and no loader is asked for."""
    if path.resolve() != HOME or parent.config.getoption("loaderspec_impl"):
        return None
    nothing: Nothing = Nothing.from_parent(parent, path=path)
    return nothing


class Nothing(pytest.Directory):
    """A folder without tests."""

    def collect(self) -> Iterator[pytest.Collector]:
        yield from ()
