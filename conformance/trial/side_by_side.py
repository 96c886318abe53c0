"""What waits, beside what is judged: decides which lane runs which scenario that waits, and when it gives up.

Which lane runs what, and in which order, is the same every time.
"""

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from threading import Event

from conformance.processes.fleet import Fleet
from conformance.processes.hangs import TimeIsOver
from conformance.processes.lane import Lane
from conformance.trace import Scenario, Trace

# Workers that take long to start need a processor for it: they start in so many lanes at a time.
_STARTING = 2


class SideBySide:
    """The scenarios of one family, those that wait in lanes of their own.

    `run` runs one in a lane; nothing is begun any more once `is_over()`. `starts_slowly`: workers are new interpreters.
    """

    def __init__(self, fleet: Fleet, run: Callable[[Lane, Scenario], Trace], is_over: Callable[[], bool]) -> None:
        self._fleet = fleet
        self.run = run
        self._is_over = is_over
        self._is_given_up = Event()
        # What the lanes find out of those that wait long.
        self.begun: list[Future[dict[Scenario, Trace]]] = []

    def begin(self, scenarios: Sequence[Scenario], starts_slowly: bool) -> None:
        """Begin those that wait long, in lanes that nothing else needs. Once is enough."""
        if not self.begun:
            long = [each for each in scenarios if each.waits > 1]
            lanes = self._fleet.patient[:_STARTING] if starts_slowly else self._fleet.least_busy(len(long))
            self.begun = self._given(lanes, long)

    def trace_of_long(self, scenario: Scenario) -> Trace | None:
        """What was found out of one that waits long, once it is; None where it was not begun."""
        shares = (share.result() for share in self.begun) if scenario.waits > 1 else ()
        return next((traces[scenario] for traces in shares if scenario in traces), None)

    def each(
        self, scenarios: Sequence[Scenario], starts_slowly: bool
    ) -> Generator[tuple[Scenario, Trace | None], None, None]:
        """Each scenario, those that don't wait first, and its trace if it was run in another lane than the first."""
        short = [each for each in scenarios if each.waits == 1]
        running = self.begun + self._given(self._fleet.lanes[1 : _STARTING if starts_slowly else None], short)
        try:
            yield from ((scenario, None) for scenario in scenarios if not scenario.waits)
            traces = {scenario: trace for share in running for scenario, trace in share.result().items()}
        finally:
            self._is_given_up.set()
        yield from ((scenario, traces.get(scenario)) for scenario in scenarios if scenario.waits)

    def _given(self, lanes: Sequence[Lane], scenarios: Sequence[Scenario]) -> list[Future[dict[Scenario, Trace]]]:
        """What the lanes will find out of these scenarios, each in its own time."""
        shares = [scenarios[at :: len(lanes)] for at in range(len(lanes))]
        return [lane.later(self._run_share, lane, share) for lane, share in zip(lanes, shares, strict=True)]

    def _run_share(self, lane: Lane, scenarios: Sequence[Scenario]) -> dict[Scenario, Trace]:
        """Run scenarios in a lane, one after the other; after a hang no more."""
        traces: dict[Scenario, Trace] = {}
        with suppress(TimeIsOver):
            for scenario in scenarios:
                is_given_up = self._is_given_up.is_set() or self._fleet.is_closing.is_set() or self._is_over()
                if is_given_up or any(trace.hung for trace in traces.values()):
                    break
                traces[scenario] = self.run(lane, scenario)
        return traces
