"""What tests of pages look at: reports as JSON data, built by hand, and the elements of a page."""

import dataclasses
import json
from collections.abc import Sequence
from html.parser import HTMLParser
from typing import Any

from conformance.clauses import Finding
from conformance.contract import parse_claims
from conformance.device.scenario import DeviceScenario
from conformance.loader.scenario import Scenario
from conformance.report.json_report import as_json
from conformance.trace import Epoch, Failure, RankRun, Run, Trace, Value
from conformance.trial.outcome import KnownCase, Outcome, Report
from conformance.trial.result import Case

Steps = Sequence[Sequence[int]]


def epoch(steps: Steps, number: int = 0, **more: Any) -> Epoch:
    """An epoch of these steps, with the length that a truthful loader tells."""
    given = tuple(map(tuple, steps))
    return Epoch(number, given, **{"length": len(given), **more})


def run(*ranks: Steps, name: str = "main", **more: Any) -> Run:
    """A run of one epoch: the steps of each rank."""
    return Run(name, tuple(RankRun(rank, (epoch(steps, **more),)) for rank, steps in enumerate(ranks)))


def case(clause: str, trace: Trace, delivered: tuple[str, ...] = ("rank 0: 0",)) -> Case:
    """A case with this trace."""
    return Case(clause, trace.scenario, Finding("kind", "each sample once", delivered, "it is claimed"), trace)


TWICE = case("PART-1", Trace(Scenario(1, world_size=2), (run([[0]], [[0]]),)), ("rank 0: 0", "rank 1: 0  <- again"))
HOSTILE = Failure("raised", "load", "<script>alert(1)</script> & `x` | y")
FAILED = case("COUNT-7", Trace(Scenario(2), (Run("main", (RankRun(0, (), HOSTILE),)),)), (HOSTILE.sentence(),))
UPDATE = RankRun(0, (), values=(Value("weights 0", (2,), (0.5, 1.0)), Value("right weights 0", (2,), (0.25, 1.0))))
MODEL = case("DEVICE-4", Trace(DeviceScenario(2, gradient_accumulation=2), (Run("main", (UPDATE,)),)))
ORDER = case(
    "ORDER-5",
    Trace(Scenario(3, shuffle=True, variant="again"), (run([[2], [0], [1]]), run([[2], [1], [0]], name="again"))),
)


def report(**changes: Any) -> Any:
    """The JSON data of a report with each kind of outcome."""
    outcomes = (
        Outcome("BATCH-1", "MUST", "HOLDS", 310),
        Outcome("BATCH-5", "SHOULD", "VIOLATED", 6, case("BATCH-5", TWICE.trace)),
        Outcome("COUNT-7", "MUST", "VIOLATED", 12, FAILED),
        Outcome("PART-1", "MUST", "VIOLATED", 59, TWICE),
        Outcome("PART-2", "MUST", "NOT EXERCISED", 0, note="too few <cases>"),
        Outcome("ORDER-5", "MUST", "KNOWN", 9, None, "on purpose", (KnownCase(ORDER, "on purpose", "https://a.b/1"),)),
        Outcome("WORK-1", "MUST", "NOT CLAIMED", 0),
        Outcome("DEVICE-4", "MUST", "VIOLATED", 3, MODEL),
    )
    claims = parse_claims(dict(when_keeping="uneven", when_dropping="drop"))
    made = Report("my <loader>.py", claims, "gate", 0, outcomes)
    return json.loads(as_json(dataclasses.replace(made, **changes)))


def matrix() -> Any:
    """The JSON data of a matrix: two loaders that were judged, and one that was not."""
    peers = [
        dict(name="Mine", title="my loader", link="https://a.b", report=report(), status="judged", note=""),
        dict(name="mine!", title="<b>", link="javascript:alert(1)", report=report(), status="judged", note=""),
        dict(name="gone", title="gone", link="https://a.b", report=None, status="not installed", note="no | wheel"),
    ]
    more = dict(group="torch", packages={"torch": "2.13.0"}, seconds=1.0)
    suite = {"name": "loaderspec", "version": "0.1.0"}
    return dict(
        schema=1,
        suite=suite,
        specs="abc",
        tier="gate",
        seed=0,
        date="2026-11-28",
        machine="2 cores, Python 3.11",
        peers=[{**more, **peer} for peer in peers],
    )


@dataclasses.dataclass
class Element:
    """A start tag with what it holds as text."""

    name: str
    attributes: dict[str, str]
    text: str = ""


class Page(HTMLParser):
    """The elements of a page in order. AssertionError if the tags do not fit."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[Element] = []
        self._open: list[Element] = []
        self.feed(text)
        self.close()
        assert [] == self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = Element(tag, {name: value or "" for name, value in attrs})
        self.elements.append(found)
        if tag not in ("meta", "link", "br", "input"):
            self._open.append(found)

    def handle_endtag(self, tag: str) -> None:
        assert tag == self._open.pop().name

    def handle_data(self, data: str) -> None:
        for each in self._open:
            each.text += data

    def all(self, name: str) -> list[Element]:
        """The elements of this name."""
        return [each for each in self.elements if each.name == name]

    def by_id(self, anchor: str) -> Element:
        """The element with this id."""
        (found,) = [each for each in self.elements if each.attributes.get("id") == anchor]
        return found
