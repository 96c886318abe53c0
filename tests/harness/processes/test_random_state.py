"""The caller's global random generators, as the harness sets, reads and restores them."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from conformance.processes import random_state
from conformance.processes.random_state import LIBRARIES, digests, seed_all, seed_all_and_tell, undisturbed

DRAW: dict[str, Callable[[], Any]] = {
    "random": random.random,
    "numpy": np.random.random,
    "torch": lambda: torch.rand(1),
}
SEED: dict[str, Callable[[], Any]] = {
    "random": lambda: random.seed(2),
    "numpy": lambda: np.random.seed(2),
    "torch": lambda: torch.manual_seed(2),
}
NORMAL: dict[str, Callable[[], Any]] = {
    "random": lambda: random.gauss(0, 1),
    "numpy": np.random.normal,
    "torch": lambda: torch.randn(1),
}


def digests_after(*actions: Callable[[], Any]) -> dict[str, str]:
    """The digests behind these calls, from a known state on."""
    seed_all(1)
    for action in actions:
        action()
    return digests()


def changed(*actions: Callable[[], Any]) -> list[str]:
    """The libraries whose digest these calls change."""
    before, after = digests_after(), digests_after(*actions)
    return [name for name in LIBRARIES if before[name] != after[name]]


def test_each_library_has_a_digest() -> None:
    """All three are looked at where all three are imported."""
    assert set(LIBRARIES) == set(DRAW) == set(SEED) == set(NORMAL) == set(digests())


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("action", [DRAW, SEED, NORMAL], ids=["draw", "seed", "normal"])
def test_what_touches_a_generator_shows_in_its_library_only(library: str, action: dict[str, Callable[[], Any]]) -> None:
    """One number drawn, or a seed, changes one digest."""
    assert [library] == changed(action[library])


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_second_of_a_pair_of_normals_shows(library: str) -> None:
    """A generator that keeps the second of a pair of normals has another digest when it is used up."""
    normal = NORMAL[library]
    assert 3 == len({digests_after(*[normal] * times)[library] for times in range(3)})


def test_nothing_shows_as_nothing() -> None:
    """The same state has the same digests."""
    assert [] == changed()


def test_a_seed_tells_its_state_and_leaves_it() -> None:
    """The digests of a state can be told without losing it."""
    told = seed_all_and_tell(5)
    assert told == digests()


def test_another_seed_is_another_state() -> None:
    """Two seeds share no digest in any library."""
    assert not set(seed_all_and_tell(5).items()) & set(seed_all_and_tell(6).items())


@pytest.mark.parametrize("seed", [0, 2**31, 2**40])
def test_any_seed_will_do(seed: int) -> None:
    """numpy takes 32 bits only: a larger seed is cut for it."""
    assert seed_all_and_tell(seed) == digests()


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("action", [DRAW, SEED, NORMAL], ids=["draw", "seed", "normal"])
def test_undisturbed_puts_back_what_was_touched(library: str, action: dict[str, Callable[[], Any]]) -> None:
    """Behind the block everything is as it was."""
    told = seed_all_and_tell(1)
    with undisturbed():
        action[library]()
    assert told == digests()


def test_undisturbed_puts_back_after_an_error() -> None:
    """An error inside the block changes nothing about that."""

    def fails() -> None:
        random.random()
        raise ZeroDivisionError

    told = seed_all_and_tell(1)
    with pytest.raises(ZeroDivisionError), undisturbed():
        fails()
    assert told == digests()


def test_a_library_that_is_not_imported_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loader without torch is judged without torch."""
    for name in ("numpy", "torch"):
        monkeypatch.delitem(random_state.sys.modules, name)
    seed_all(3)
    with undisturbed():
        random.random()
    assert ["random"] == list(digests())


def test_what_a_consumer_draws_is_told_draw_by_draw() -> None:
    """The digests of a state from which nothing was drawn, once, and twice are those that come so."""
    with random_state.undisturbed():
        told = random_state.told_after(5, 2)
        random_state.seed_all(5)
        random_state.draw()
        assert told[1] == random_state.digests()
    assert 3 == len({each["random"] for each in told})
