"""How Hypothesis is used: decides that a seed gives the same examples everywhere, and how a case is shrunk."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as hypothesis_seed
from hypothesis.internal.conjecture import providers

from conformance.trace import Scenario


def draw(strategy: Any, examples: int, seed: int, take: Callable[[Scenario], Any]) -> None:
    """Give `take` this many examples, the same ones for a seed wherever the suite is run."""

    def each(scenario: Scenario) -> None:
        take(scenario)

    with _nothing_local():
        # Hypothesis leaves its decorators untyped.
        with_examples: Any = given(strategy)
        with_seed: Any = hypothesis_seed(seed)
        with_seed(_settings(examples, (Phase.generate,))(with_examples(each)))()


def find(strategy: Any, violates: Callable[[Scenario], bool], examples: int, seed: int) -> Scenario:
    """The simplest example that violates, among those that a shrinking Hypothesis tries. NoSuchExample if none does."""
    with _nothing_local():
        found: Scenario = hypothesis.find(
            strategy, violates, settings=_settings(examples, (Phase.generate, Phase.shrink)), random=Random(seed)
        )
    return found


def _settings(examples: int, phases: tuple[Phase, ...]) -> Any:
    return settings(
        max_examples=examples, phases=phases, database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )


@contextmanager
def _nothing_local() -> Iterator[None]:
    """Keep Hypothesis from drawing constants out of whatever source files lie in the person's folder.

    It would make the examples depend on where the suite is run from and on which modules happen to be loaded.
    """
    if not hasattr(providers, "_get_local_constants"):  # a Hypothesis that does not do this
        yield
        return
    nothing = vars(providers)["Constants"]()
    # What was drawn before, by other tests of this process, is remembered in the second.
    replaced = {"_get_local_constants": lambda: nothing, "CONSTANTS_CACHE": {}}
    before = {name: getattr(providers, name) for name in replaced}
    vars(providers).update(replaced)
    try:
        yield
    finally:
        vars(providers).update(before)
