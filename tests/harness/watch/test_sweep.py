"""The smallest set-up that shows a finding, and the arguments of what is checked."""

from dataclasses import replace
from typing import Any

import pytest

from conformance.watch.sweep import command, length_holds, shortest, smallest
from conformance.watch.targets import SetUp, Unfit, filled, imported, parameters

BIG = SetUp(world_size=4, num_workers=2, epochs=2)
BOTH = frozenset({"num_workers", "drop_last"})


def test_ranks_workers_epochs_and_length_are_made_small() -> None:
    """Each as far as the finding still shows."""

    def shows(setup: SetUp) -> bool:
        long_enough = setup.length is None or setup.length >= 6
        return setup.world_size >= 2 and (setup.num_workers or 0) >= 1 and long_enough

    found = smallest(shows, BIG, BOTH)
    assert SetUp(world_size=2, num_workers=1, epochs=1) == found
    assert replace(found, length=6) == shortest(shows, found, 100)


def test_what_the_target_does_not_take_stays() -> None:
    """A loader that was made already has its workers."""
    assert SetUp(world_size=1, num_workers=2, epochs=1) == smallest(lambda setup: True, BIG, frozenset())


def test_a_set_up_that_the_target_refuses_shows_nothing() -> None:
    """It is passed over."""

    def shows(setup: SetUp) -> bool:
        if setup.world_size < 3:
            raise Unfit("too few")
        return True

    assert 3 == smallest(shows, BIG, BOTH).world_size


def test_a_finding_that_only_the_whole_shows_keeps_it() -> None:
    """Nothing smaller shows it."""
    assert BIG == smallest(lambda setup: setup == BIG, BIG, BOTH)
    assert BIG == shortest(lambda setup: setup == BIG, BIG, 8)


@pytest.mark.parametrize(("came", "length", "holds"), [(8, 100, True), (100, 100, False), (8, 8, True)])
def test_a_sampler_with_a_length_of_its_own_is_seen(came: int, length: int, holds: bool) -> None:
    """More samples come than were asked for; of a dataset that is as short as that nothing is known."""
    assert holds == length_holds(lambda setup: came, BIG, length)


def test_the_command_says_the_whole_set_up() -> None:
    """Quoted for a shell."""
    setup = SetUp(world_size=2, num_workers=1, epochs=1, drop_last=False, length=6, values={"path": "a b"})
    assert (
        "loaderspec check train.py:make --world-size=2 --epochs=1 --num-workers=1 --length=6 --no-drop-last"
        " '--set=path=a b' --same-data=0,1"
    ) == command("train.py:make", setup, ["--same-data=0,1"])


def make_loader(rank: int, world_size: int, batch_size: int, num_workers: int = 3, path: str = "here") -> Any:
    """A function with parameters."""


def test_arguments_are_filled_by_name() -> None:
    """What is needed gets a value, what has a default keeps it, and what is given counts."""
    assert {"rank": 1, "world_size": 2, "batch_size": 2} == filled(make_loader, "it", 1, 0, SetUp(world_size=2))
    given = SetUp(world_size=2, num_workers=0, values={"path": "there"})
    assert {"rank": 0, "world_size": 2, "batch_size": 2, "num_workers": 0, "path": "there"} == filled(
        make_loader, "it", 0, 0, given
    )
    assert ["rank", "world_size", "batch_size", "num_workers", "path"] == parameters(make_loader)


def test_an_argument_that_nobody_gave_gets_a_sentence() -> None:
    """It says how to give it."""
    with pytest.raises(Unfit, match=r"needs 'vocabulary': give it with --set vocabulary=VALUE"):
        filled(lambda vocabulary: None, "it", 0, 0, SetUp())


def test_a_parameter_that_is_not_there_gets_a_sentence() -> None:
    """It says which there are."""
    with pytest.raises(Unfit, match="no parameter 'paht': it has rank, world_size, batch_size, num_workers, path"):
        filled(make_loader, "it", 0, 0, SetUp(values={"paht": "there"}))


@pytest.mark.parametrize(
    ("target", "words"),
    [("train.py", "is no target"), ("nowhere.py:make", "no file nowhere.py"), ("no_module:make", "can't be imported")],
)
def test_a_target_that_is_not_there_gets_a_sentence(target: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was looked for."""
    monkeypatch.setattr("sys.path", [*__import__("sys").path])
    with pytest.raises(Unfit, match=words):
        imported(target)
