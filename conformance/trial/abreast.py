"""Scenarios that are run two abreast, a few ahead of the one that is judged: decides how far, and when that ends.

A loader's processes start, wait and end, and a second lane uses what that leaves of the machine. Which lane runs what,
and in which order, is the same every time. Where something hung, the rest is run one after the other: what hangs is
counted, and after a few such no more is tried.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from conformance.processes.fleet import Lane
from conformance.trace import Trace

# Lane 0 stays for what a verdict asks for meanwhile.
_LANES = slice(1, 3)
# For fewer than these it isn't worth starting the processes of more lanes.
_FEW = 24
_AHEAD = 4


class Abreast:
    """What scenarios deliver, in their order. A context manager: no thread of it outlives the block."""

    def __init__(self, observed: Callable[[Lane, Any], Trace], lanes: Sequence[Lane], scenarios: Sequence[Any]) -> None:
        self._observed = observed
        self._lanes = lanes[_LANES] if len(scenarios) >= _FEW else ()
        self._left: Iterable[tuple[int, Any]] = iter(enumerate(scenarios if self._lanes else ()))
        self._threads = [ThreadPoolExecutor(1) for _ in self._lanes]
        self._begun: deque[tuple[Any, Future[Trace | None]]] = deque()
        self._ended = False

    def __enter__(self) -> "Abreast":
        return self

    def __exit__(self, *_: object) -> None:
        self._ended = True
        for thread in self._threads:
            thread.shutdown(cancel_futures=True)

    def of(self, scenario: Any) -> Trace | None:
        """What it delivered, or None if it was not run here. Those before it are forgotten."""
        self._go_ahead()
        while self._begun and self._begun[0][0] != scenario:
            self._begun.popleft()
            self._go_ahead()
        return self._begun.popleft()[1].result() if self._begun else None

    def _go_ahead(self) -> None:
        while len(self._begun) < _AHEAD and not self._ended:
            following = next(iter(self._left), None)
            if following is None:
                return
            at, scenario = following
            place = at % len(self._lanes)
            self._begun.append((scenario, self._threads[place].submit(self._run, self._lanes[place], scenario)))

    def _run(self, lane: Lane, scenario: Any) -> Trace | None:
        if self._ended:
            return None
        trace = self._observed(lane, scenario)
        self._ended |= trace.hung
        return trace
