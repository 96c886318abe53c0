"""What a pytest run writes: decides how outcomes travel from xdist's workers, and what comes of them."""

import pickle
from base64 import b64decode, b64encode
from dataclasses import dataclass
from typing import Any

import pytest

from conformance.clauses import CLAUSES
from conformance.report import forms
from conformance.report.output import Wanted, badness, block, random_seed, write_files
from conformance.report.text import summary
from conformance.trial.outcome import Outcome, Report
from conformance.trial.session import Session

PROPERTY = "loaderspec"


def seed_of(config: pytest.Config) -> int:
    """The seed of the scenarios; a random one is drawn once, so that xdist's workers get the controller's."""
    seed = random_seed(config.getoption("loaderspec_seed"))
    config.option.loaderspec_seed = str(seed)
    return seed


def packed(outcome: Outcome) -> str:
    """An outcome as text, for a pytest report."""
    return b64encode(pickle.dumps(outcome)).decode()


def attach(config: pytest.Config, ours: Session) -> None:
    """Collect outcomes where the results come together: in the controller of xdist, or in the only process."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Collector(config, ours), "loaderspec-collector")


def write_all(config: pytest.Config, report: Report) -> str:
    """Write every file that the command line asks for. A sentence if the scripts can't be written, else ""."""
    return write_files(report, wanted(config))


def wanted(config: pytest.Config) -> Wanted:
    """The files that the command line asks for."""
    reports = {name: config.getoption(f"loaderspec_{name.replace('-', '_')}") for name in forms.OPTIONS}
    return Wanted(reports, config.getoption("loaderspec_write_known"))


@dataclass(frozen=True)
class Line:
    """What pytest says of a failure where it has one line for it."""

    message: str

    def __str__(self) -> str:
        return self.message


class Shown:
    """A failing clause in pytest's words: the whole block once, and a line for the list at the end.

    A text would do, but pytest repeats that in its list: cut in the middle of a word, and in CI all of it.
    """

    def __init__(self, outcome: Outcome, text: str, room: int) -> None:
        case = f"{outcome.status} in {outcome.case.scenario.code}" if outcome.case else ""
        self.text = text
        # A case that is cut can't be replayed.
        self.reprcrash = Line(case if 0 < len(case) <= room else outcome.status)

    def __str__(self) -> str:
        return self.text

    def toterminal(self, writer: Any) -> None:
        """Write the block."""
        writer.line(self.text)


class Collector:
    """Gathers the outcomes from the reports, and ends the run with the table."""

    def __init__(self, config: pytest.Config, ours: Session) -> None:
        self.config = config
        self.session = ours
        self.outcomes: dict[str, Outcome] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the outcome out of an item's report."""
        for name, value in report.user_properties:
            if name == PROPERTY and report.when == "call":
                outcome: Outcome = pickle.loads(b64decode(str(value)))
                self.outcomes[outcome.clause] = outcome
                if isinstance(report.longrepr, str):
                    # pytest asks for no more than these methods; its types name a class that is private.
                    room = self.config.get_terminal_writer().fullwidth - len(f"FAILED {report.nodeid} - ")
                    report.longrepr = Shown(outcome, report.longrepr, room)  # type: ignore[assignment]
        # The packed outcome is nobody's business in JUnit's XML.
        plain = [(name, value) for name, value in report.user_properties if name != PROPERTY]
        report.user_properties = [*plain, *self._readable(report)]

    def _readable(self, report: pytest.TestReport) -> list[tuple[str, Any]]:
        outcome = self.outcomes.get(report.location[2])
        if outcome is None or report.when != "teardown":
            return []
        return [("outcome", outcome.status), ("exercised", outcome.exercised)]

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """A run that ended before its time is no violation: its exit code says so."""
        codes = [outcome.exit_code for outcome in self.outcomes.values() if outcome.status == "INVALID"]
        if exitstatus == pytest.ExitCode.TESTS_FAILED and codes:
            session.exitstatus = max(codes)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """The blocks of violated SHOULD clauses, and the table."""
        if not self.outcomes:
            return
        ordered = sorted(self.outcomes.values(), key=lambda outcome: CLAUSES[outcome.clause].number)
        report = self.session.report_of(ordered)
        unwritten = write_all(self.config, report)
        terminalreporter.section("loaderspec")
        for outcome in sorted(ordered, key=badness):
            if outcome.status == "VIOLATED" and not outcome.fails(report.strict):
                terminalreporter.write_line(block(outcome, report.implementation))
                terminalreporter.write_line("")
        terminalreporter.write_line(summary(report, told=self._told(report), verbose=self.config.option.verbose > 0))
        if unwritten:
            terminalreporter.write_line(f"note: {unwritten}")

    def _told(self, report: Report) -> frozenset[str]:
        """The clauses whose note pytest has shown among its failures."""
        if self.config.option.tbstyle == "no":
            return frozenset()
        return frozenset(each.clause for each in report.outcomes if each.fails(report.strict) and not each.case)
