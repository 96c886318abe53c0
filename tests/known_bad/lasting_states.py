"""Loaders that keep more with each state that they give away (chapter 10). A blind round had them."""

from random import Random
from typing import Any

import numpy as np

from tests.known_bad.life import SAMPLES
from tests.known_bad.resuming import Stopping


class KeepsTheOrderOfEachState(Stopping):
    """Each state is kept with the order of its epoch, for one who goes back to it. (No public report.)"""

    families = SAMPLES
    clause, smallest = "LEAK-5", "n100000,w1,b100,keep,shuffle,orders,with=saved"

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.latest: list[int] = []
        self.history: list[tuple[Any, list[int]]] = []

    def order(self) -> list[int]:
        """The order of the epoch, which is the latest one."""
        self.latest = super().order()
        return self.latest

    def shuffled(self, order: list[int], generator: Random) -> list[int]:
        """The order, shuffled: Python's own takes long."""
        return np.random.default_rng(generator.randrange(2**32)).permutation(order).tolist()  # type: ignore[no-any-return]

    def state_dict(self) -> Any:
        """Where it is; that is kept, too."""
        state = super().state_dict()
        self.history.append((state, self.latest))
        return state
