"""What a pytest run writes: decides how outcomes travel from xdist's workers, and what comes of them."""

import pickle
from base64 import b64decode, b64encode
from typing import Any

import pytest

from conformance.clauses import CLAUSES
from conformance.outcome import Outcome, Report
from conformance.output import block, random_seed, write_files
from conformance.report.text import summary
from conformance.session import Session

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


def write_all(config: pytest.Config, report: Report) -> None:
    """Write every file that the command line asks for."""
    write_files(report, config.getoption("loaderspec_report_json"), config.getoption("loaderspec_write_known"))


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
        # The packed outcome is nobody's business in JUnit's XML.
        plain = [(name, value) for name, value in report.user_properties if name != PROPERTY]
        report.user_properties = [*plain, *self._readable(report)]

    def _readable(self, report: pytest.TestReport) -> list[tuple[str, Any]]:
        outcome = self.outcomes.get(report.location[2])
        if outcome is None or report.when != "teardown":
            return []
        return [("outcome", outcome.status), ("exercised", outcome.exercised)]

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """The blocks of violated SHOULD clauses, and the table."""
        if not self.outcomes:
            return
        ordered = sorted(self.outcomes.values(), key=lambda outcome: CLAUSES[outcome.clause].number)
        report = self.session.report_of(ordered)
        write_all(self.config, report)
        terminalreporter.section("loaderspec")
        for outcome in ordered:
            if outcome.status == "VIOLATED" and not outcome.fails(report.strict):
                terminalreporter.write_line(block(outcome, report.implementation))
                terminalreporter.write_line("")
        terminalreporter.write_line(summary(report))
