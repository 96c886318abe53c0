"""The thin pytest layer: decides how clauses become pytest items, and what pytest's own options do to them.

A clause is an item, `conformance/clauses/partition.py::PART-1`, made by collectors of our own: no ini file, no fixture
and no naming rule of the folder that pytest happens to be run from can change a verdict.
"""

import argparse
import inspect
import re
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from conformance import plugin_report
from conformance.clauses import CLAUSES, Clause
from conformance.contract import AdapterError
from conformance.known import parse_case, read_known
from conformance.outcome import Outcome
from conformance.output import REPORT_OPTIONS, block, refuse_unwritable
from conformance.session import Options, Session
from conformance.sources import HASH_SEEDS, SpawnedSource

HOME = Path(__file__).resolve().parent
SESSION = pytest.StashKey[Session]()
COLLECTED = pytest.StashKey[list[pytest.Item]]()

_OPTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("impl", dict(help="the implementation: built-in name, module, module:attribute, file.py or file.py:attribute")),
    ("tier", dict(default="gate", help="how much is tried: quick, gate (default) or deep")),
    ("seed", dict(default="0", help="seed of the scenarios: a number, or 'random' (shown, for repeating it)")),
    ("patience", dict(default=10.0, type=float, help="seconds that a rank may take over one scenario (default 10)")),
    ("strict", dict(action="store_true", help="a violated SHOULD fails the run as well")),
    ("case", dict(help="replay one case, for example PART-1-n1,w2,b1,keep")),
    ("known", dict(help="TOML file of known failures")),
    ("write-known", dict(help="write a template of known failures for what is violated")),
    *((name, dict(help=words)) for name, words in REPORT_OPTIONS.items()),
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
    # A worker of xdist gets its options from the controller.
    if not hasattr(config, "workerinput"):
        _undo_what_the_folder_chose(config)
    _leave_no_cache(config)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Let xdist keep the clauses of a family in one process: they share one campaign."""
    if not config.getoption("loaderspec_impl"):
        return None
    scheduling: Any = import_module("xdist.scheduler")
    by_family = scheduling.LoadScopeScheduling(config, log)
    by_family._split_scope = _family_of_item
    return by_family


def _family_of_item(nodeid: str) -> str:
    found = CLAUSES.get(nodeid.rpartition("::")[2])
    return found.family if found else nodeid


def _is_ours(argument: str, config: pytest.Config) -> bool:
    place = argument.partition("::")[0]
    if config.option.pyargs and place.partition(".")[0] == HOME.name:
        return True
    path = (config.invocation_params.dir / place).resolve()
    return path == HOME or HOME in path.parents


# What an ini file's addopts may not do to a verdict: leave clauses out, stop early, or run nothing at all. What the
# person typed counts: an option by the words that it may be typed with, and what it is worth where nobody typed it.
_CHOICES: tuple[tuple[str, tuple[str, ...], Any], ...] = (
    ("keyword", ("-k",), ""),
    ("markexpr", ("-m",), ""),
    ("deselect", ("--deselect",), None),
    ("maxfail", ("-x", "--exitfirst", "--maxfail"), 0),
    ("collectonly", ("--collect-only", "--collectonly", "--co"), False),
    ("setuponly", ("--setup-only", "--setup-plan"), False),
    ("setupplan", ("--setup-plan",), False),
    ("lf", ("--lf", "--last-failed"), False),
    ("failedfirst", ("--ff", "--failed-first"), False),
    ("newfirst", ("--nf", "--new-first"), False),
    ("stepwise", ("--sw", "--stepwise"), False),
)
_OF_THE_CACHE = ("lf", "failedfirst", "newfirst", "stepwise", "cacheshow")


def _typed(config: pytest.Config, words: tuple[str, ...]) -> bool:
    arguments = [str(argument) for argument in config.invocation_params.args]
    long = {argument.partition("=")[0] for argument in arguments}
    # -k and its value may be one word, behind other letters: -qkPART-1.
    short = [re.match(r"-[a-zA-Z]*", argument)[0] for argument in arguments if re.match(r"-[a-zA-Z]", argument)]  # type: ignore[index]
    return any(word in long if word.startswith("--") else any(word[1] in given for given in short) for word in words)


def _leave_no_cache(config: pytest.Config) -> None:
    # pytest notes which tests failed in a folder of the person's; a clause that failed is found by its name.
    if not any(getattr(config.option, name, None) for name in _OF_THE_CACHE):
        for name in ("cacheprovider", "stepwise"):
            config.pluginmanager.set_blocked(name)


def _undo_what_the_folder_chose(config: pytest.Config) -> None:
    for option, words, nothing in _CHOICES:
        if not _typed(config, words):
            setattr(config.option, option, nothing)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Remember the clauses that were collected."""
    if isinstance(item, ClauseItem):
        item.config.stash.setdefault(COLLECTED, []).append(item)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put back the clauses that a conftest.py of the folder leaves out or moves."""
    # pytest asks a conftest.py before an installed plugin, and its own -k, -m and --deselect behind both.
    items[:] = [*config.stash.get(COLLECTED, []), *(item for item in items if not isinstance(item, ClauseItem))]


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Start the fleet and test the adapter, so that a wrong one is told at once. UsageError (exit code 4) if it is."""
    config = session.config
    if not config.getoption("loaderspec_impl") or config.option.collectonly:
        return
    try:
        options = options_of(config)
        # A controller of xdist only looks at the adapter; the workers run the clauses.
        controls = getattr(config.option, "dist", "no") != "no" and not hasattr(config, "workerinput")
        source = SpawnedSource(config.getoption("loaderspec_impl"), HASH_SEEDS[:1] if controls else HASH_SEEDS)
        ours = Session(source, source.implementation, options)
    except AdapterError as error:
        raise pytest.UsageError(f"--impl={config.getoption('loaderspec_impl')}: {error}") from error
    config.stash[SESSION] = ours
    plugin_report.attach(config, ours)
    if ours.invalid:
        plugin_report.write_all(config, ours.report())
        raise pytest.UsageError(f"INVALID adapter --impl={ours.name}: {ours.invalid}")
    if controls:
        ours.close()


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the fleet, however the run ended."""
    if SESSION in config.stash:
        config.stash[SESSION].close()


def options_of(config: pytest.Config) -> Options:
    """The run's options from the command line. AdapterError if they can't be."""
    case = config.getoption("loaderspec_case")
    known = config.getoption("loaderspec_known")
    refuse_unwritable(plugin_report.wanted(config))
    return Options(
        tier=config.getoption("loaderspec_tier"),
        seed=plugin_report.seed_of(config),
        patience=config.getoption("loaderspec_patience"),
        # pytest has a --strict of its own; whoever types it means ours as well.
        strict=config.getoption("loaderspec_strict") or "--strict" in config.invocation_params.args,
        known=read_known(Path(known)) if known else {},
        case=parse_case(case) if case else None,
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """The suite's own folder is collected by us."""
    if path.resolve() != HOME:
        return None
    suite: Suite = Suite.from_parent(parent, path=path)
    return suite


class Suite(pytest.Directory):
    """The folder `conformance`."""

    def collect(self) -> Iterator[pytest.Collector]:
        # Somebody who runs all tests of a folder that holds this one asked for no loader.
        if self.config.getoption("loaderspec_impl"):
            yield Chapters.from_parent(self, path=self.path / "clauses")


class Chapters(pytest.Directory):
    """The folder of the judges."""

    def collect(self) -> Iterator[pytest.Collector]:
        chosen = self.config.getoption("loaderspec_case")
        clauses = sorted(CLAUSES.values(), key=lambda clause: clause.number)
        if chosen:
            clauses = [CLAUSES[parse_case(chosen)[0]]]
        for name in sorted({_file_of(clause) for clause in clauses}):
            mine = [clause for clause in clauses if _file_of(clause) == name]
            yield Chapter.from_parent(self, path=self.path / name, clauses=mine)


class Chapter(pytest.File):
    """A module of judges."""

    def __init__(self, clauses: list[Clause], **settings: Any) -> None:
        super().__init__(**settings)
        self.clauses = clauses

    def collect(self) -> Iterator[pytest.Item]:
        for clause in self.clauses:
            yield ClauseItem.from_parent(self, name=clause.id, clause=clause)


class ClauseFailed(Exception):
    """The clause's outcome fails the run."""


class ClauseItem(pytest.Item):
    """One clause."""

    def __init__(self, clause: Clause, **settings: Any) -> None:
        super().__init__(**settings)
        self.clause = clause
        self.outcome: Outcome | None = None

    def runtest(self) -> None:
        """Ask for the outcome; NOT CLAIMED is a skip, KNOWN an expected failure."""
        ours = self.config.stash[SESSION]
        self.outcome = ours.outcome(self.clause)
        self.user_properties.append((plugin_report.PROPERTY, plugin_report.packed(self.outcome)))
        if self.outcome.status == "NOT CLAIMED":
            pytest.skip("not claimed")
        if self.outcome.status == "KNOWN":
            pytest.xfail(self.outcome.note)
        if self.outcome.fails(ours.options.strict):
            raise ClauseFailed(self.clause.id)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The failure block; anything else is an error of the suite, with its traceback."""
        if isinstance(excinfo.value, ClauseFailed) and self.outcome is not None:
            return block(self.outcome, self.config.stash[SESSION].name)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the clause's judge is."""
        return self.path, None, self.clause.id


def _file_of(clause: Clause) -> str:
    return Path(inspect.getfile(inspect.unwrap(clause.judge))).name
