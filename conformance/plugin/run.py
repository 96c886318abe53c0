"""The pytest plugin in a run of ours: decides how clauses become items, and what pytest's own options do to them.

A clause is an item, `conformance/epochs/partition.py::PART-1`, made by collectors of our own: no ini file, no fixture
and no naming rule of the folder that pytest happens to be run from can change a verdict.
"""

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from conformance.clauses import CLAUSES, FAMILIES, Clause
from conformance.contract import AdapterError
from conformance.plugin import report as plugin_report
from conformance.plugin.place import COLLECTED, HOME
from conformance.processes.sources import HASH_SEEDS, SpawnedSource
from conformance.report import progress
from conformance.report.output import block, refuse_unwritable
from conformance.trial.known import parse_case, read_known
from conformance.trial.outcome import Outcome
from conformance.trial.progress import Shows, nothing
from conformance.trial.session import Options, Session
from conformance.trial.words import about

SESSION = pytest.StashKey[Session]()


def take_over(config: pytest.Config) -> None:
    """Before anything starts: let the run be ours alone."""
    # A worker of xdist gets its options from the controller.
    if not hasattr(config, "workerinput"):
        _undo_what_the_folder_chose(config)
    _leave_no_cache(config)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Let xdist keep the clauses of a family in one process: they share one campaign."""
    scheduling: Any = import_module("xdist.scheduler")
    by_family = scheduling.LoadScopeScheduling(config, log)
    by_family._split_scope = _family_of_item
    return by_family


def _family_of_item(nodeid: str) -> str:
    found = CLAUSES.get(nodeid.rpartition("::")[2])
    return found.family if found else nodeid


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
    # -k and its value may be one word, after other letters: -qkPART-1.
    short = [re.match(r"-[a-zA-Z]*", argument)[0] for argument in arguments if re.match(r"-[a-zA-Z]", argument)]  # type: ignore[index]
    return any(word in long if word.startswith("--") else any(word[1] in given for given in short) for word in words)


def _leave_no_cache(config: pytest.Config) -> None:
    # pytest notes which tests failed in a folder of the person's; a clause that failed is found by its name.
    if not any(getattr(config.option, name, None) for name in _OF_THE_CACHE):
        for name in ("cacheprovider", "stepwise"):
            config.pluginmanager.set_blocked(name)


def _undo_what_the_folder_chose(config: pytest.Config) -> None:
    for option, words, otherwise in _CHOICES:
        if not _typed(config, words):
            setattr(config.option, option, otherwise)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Remember the clauses that were collected."""
    if isinstance(item, ClauseItem):
        item.config.stash.setdefault(COLLECTED, []).append(item)


@pytest.hookimpl(wrapper=True)
def pytest_sessionstart(session: pytest.Session) -> Iterator[None]:
    """Start the fleet and test the adapter, so that a wrong one is told at once. UsageError (exit code 4) if it is.

    pytest's clock runs by then, so that the total at the end has the imports in it. A controller of xdist looks at the
    adapter before it starts workers, which run the clauses.
    """
    config = session.config
    controls = getattr(config.option, "dist", "no") != "no" and not hasattr(config, "workerinput")
    if controls and not config.option.collectonly:
        _start(config, controls)
    yield
    if not controls and not config.option.collectonly:
        _start(config, controls)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Look at the claims that they rely on, and begin what waits long in the clauses that will run."""
    config = session.config
    if SESSION not in config.stash:
        return
    clauses = [item.clause for item in session.items if isinstance(item, ClauseItem)]
    config.stash[SESSION].look(clauses)
    # A worker of xdist doesn't know which it will be given.
    if getattr(config.option, "dist", "no") == "no" and not hasattr(config, "workerinput"):
        config.stash[SESSION].begin(clauses)


def _start(config: pytest.Config, controls: bool) -> None:
    try:
        options = options_of(config)
        source = SpawnedSource(config.getoption("loaderspec_impl"), HASH_SEEDS[:1] if controls else HASH_SEEDS)
        ours = Session(source, source.implementation, options, _shown(config, source.implementation, options.tier))
    except AdapterError as error:
        raise pytest.UsageError(f"--impl={about(config.getoption('loaderspec_impl'), str(error))}") from error
    config.stash[SESSION] = ours
    plugin_report.attach(config, ours)
    if ours.invalid:
        plugin_report.write_all(config, ours.report())
        raise pytest.UsageError(f"INVALID adapter --impl={ours.name}: {ours.invalid}")
    if controls:
        ours.close()


def _shown(config: pytest.Config, implementation: str, tier: str) -> Shows:
    """Say at once what is judged, and show on a terminal how far the run is."""
    reporter: Any = config.pluginmanager.getplugin("terminalreporter")
    if reporter is None or hasattr(config, "workerinput") or config.option.verbose < 0:
        return nothing
    reporter.write_line(progress.first_line(implementation, tier, len(FAMILIES)))

    def rewrite(text: str) -> None:
        reporter.ensure_newline()
        reporter.rewrite(text, erase=True)

    return progress.Line(rewrite) if reporter.isatty and sys.__stderr__ and sys.__stderr__.isatty() else nothing


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
        time_limit=config.getoption("loaderspec_time_limit"),
        # pytest has a --strict of its own; a user who types it means ours as well.
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
        chosen = self.config.getoption("loaderspec_case")
        clauses = sorted(CLAUSES.values(), key=lambda clause: clause.number)
        if chosen:
            clauses = [CLAUSES[parse_case(chosen)[0]]]
        for folder, mine in _by(clauses, lambda clause: _file_of(clause).parent):
            yield Wing.from_parent(self, path=folder, clauses=mine)


class Wing(pytest.Directory):
    """The folder of a chapter, or of some that share their scenarios."""

    def __init__(self, clauses: list[Clause], **settings: Any) -> None:
        super().__init__(**settings)
        self.clauses = clauses

    def collect(self) -> Iterator[pytest.Collector]:
        for file, mine in _by(self.clauses, _file_of):
            yield Judges.from_parent(self, path=file, clauses=mine)


class Judges(pytest.File):
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
        if ours.ended_by not in ("", self.clause.id):
            pytest.skip(self.outcome.note)
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


def _by(clauses: list[Clause], place: Callable[[Clause], Path]) -> list[tuple[Path, list[Clause]]]:
    """The clauses by where they are, places in the order of their first clause."""
    found: dict[Path, list[Clause]] = {}
    for clause in clauses:
        found.setdefault(place(clause), []).append(clause)
    return list(found.items())


def _file_of(clause: Clause) -> Path:
    return Path(inspect.getfile(inspect.unwrap(clause.judge))).resolve()
