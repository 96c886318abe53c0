"""Which runs a restart means: one in which a state is taken, and those that resume from it, each in another process."""

from collections.abc import Iterator
from dataclasses import replace

from conformance.loader.runs import Circumstances, run, usual
from conformance.loader.scenario import Scenario, simpler
from conformance.processes.lane import Lane
from conformance.processes.random_state import ANOTHER_STATE
from conformance.restarts.scenario import OF_OTHERS, resumed
from conformance.trace import Run, Saved

# A loader may remember some of the restarts of an epoch: there are two more than these.
_LIVES = 6
IN_BETWEEN = "resumed, life"


def runs(lane: Lane, scenario: Scenario) -> Iterator[Run]:
    """The run in which a state is taken; then what resumes from it, or the same without taking one."""
    main = usual(scenario)
    if "failed" in scenario.words:
        yield from _after_an_error(lane, main)
        return
    # Where a rest is left by an error, nothing goes wrong before.
    is_left = "left" in scenario.words
    first = run(lane, "main", replace(main, scenario=simpler(scenario, fault="")) if is_left else main)
    yield first
    if "watched" in scenario.words and not {"held", "shared"} & set(scenario.words):
        yield run(lane, "unwatched", Circumstances(simpler(scenario, conduct="", details=""), main.epochs))
    elif saved := first.saved:
        yield from _restarts(lane, main, saved)


def _after_an_error(lane: Lane, failing: Circumstances) -> Iterator[Run]:
    """The epoch as it is without an error, the one that fails, and what resumes from there when all is well again."""
    sound = simpler(failing.scenario, fault="")
    yield run(lane, "main", replace(failing, scenario=simpler(sound, details="")))
    failed = run(lane, "failed", failing)
    yield failed
    if failed.saved:
        yield run(lane, "resumed", _resuming(sound, failing, failed.saved))


def _restarts(lane: Lane, main: Circumstances, saved: tuple[Saved, ...]) -> Iterator[Run]:
    """The first restart; what would have come if nothing had been done with its state; and the second one."""
    first = _resuming(resumed(main.scenario), main, saved)
    once = run(lane, "resumed", first)
    yield once
    untouched = _untouched(first)
    if untouched:
        yield run(lane, "untouched", untouched)
    last = once
    for life in range(2, 2 + _LIVES) if "often" in first.scenario.words else ():
        among = _second(first, last)
        if among is None:
            return
        last = run(lane, f"{IN_BETWEEN} {life}", replace(among, other_process=life % 2))
        if last.failed:
            yield replace(last, name="resumed again")
            return
        yield last
    second = _second(first, last)
    if second:
        yield run(lane, "resumed again", second)


def _resuming(scenario: Scenario, stopped: Circumstances, saved: tuple[Saved, ...]) -> Circumstances:
    """How a job is started again: with the caller's generators anywhere, in another process with another hash seed."""
    return Circumstances(scenario, stopped.epochs[-2:], random_seed=ANOTHER_STATE, other_process=1, saved=saved)


def _untouched(first: Circumstances) -> Circumstances | None:
    """What a restart is compared with that takes a second state on its way."""
    words = first.scenario.words
    if {"again", "relayed", "anew", "amid", "begun"} & set(words):
        # What comes if no second state is taken.
        return replace(first, scenario=simpler(first.scenario, details=""))
    if "twice" in words and _kept_longer(first.saved):
        # What comes from the first state.
        return replace(first, saved=_kept_longer(first.saved))
    if "onward" in words and not set(words) & set(OF_OTHERS) and _kept_longer(first.saved):
        # What comes if the state of the next epoch is the first one that is loaded.
        return replace(first, epochs=first.epochs[-1:], saved=_kept_longer(first.saved))
    return None


def _second(first: Circumstances, once: Run) -> Circumstances | None:
    """The second restart: from the state of the first, or from the same one, kept for longer."""
    words, held = first.scenario.words, _kept_longer(first.saved)
    saved = held if "held" in words and held and not once.failed else once.saved
    if not saved:
        return None
    scenario = resumed(first.scenario) if "further" in words else first.scenario
    epochs = first.epochs[-1:] if "onward" in words else first.epochs
    return replace(first, scenario=scenario, epochs=epochs, other_process=0, saved=saved)


def _kept_longer(saved: tuple[Saved, ...]) -> tuple[Saved, ...]:
    """The states that were pickled a second time, later."""
    return tuple(replace(each, blob=each.later, later=b"") for each in saved if each.later)
