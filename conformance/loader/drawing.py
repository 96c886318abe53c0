"""A consumer that draws random numbers while it reads: decides when, and what the generators must be in the end."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from conformance.processes import random_state
from conformance.processes.calls import Remarks


@dataclass
class Drawing:
    """Draws from each global generator while the first step of each epoch is held, and looks at their states before."""

    times: int = 0
    held: dict[str, str] = field(default_factory=dict)

    def hold(self) -> None:
        """Look, and draw."""
        self.held.update(random_state.digests())
        random_state.draw()
        self.times += 1

    def states(self, seed: int) -> list[dict[str, str]]:
        """What a generator is where nobody else draws, before the first draw, behind it, and so on."""
        return random_state.told_after(seed, self.times)

    def undone(self, states: list[dict[str, str]], libraries: Mapping[str, str], after: Mapping[str, str]) -> Remarks:
        """The libraries whose generator is again where the consumer had found it."""
        taken = [
            name for name in libraries if name in after and after[name] in [each.get(name) for each in states[:-1]]
        ]
        return [("undone", name) for name in taken]
