"""What is tried of a loader that reads ahead: the family of chapter 5.

A scenario may cost the start of a process, and most consumers here take their time: the family is small, and what
waits is run side by side.
"""

from collections.abc import Iterator
from itertools import product

from hypothesis import strategies as st

from conformance.contract import AHEAD, Claims
from conformance.loader.conducts import ERRORS, ODD_KINDS
from conformance.loader.scenario import Scenario, Style, simpler
from conformance.trial.tiers import Tier

_PLAIN = ("whole",) * 8
_CONDUCTS = (
    *("dropped", "unread", "forgotten", "leave", "ended"),
    *("look", "look", "restart", "restart", "interrupt", "quit"),
)
_PLACED = ("leave", "look", "restart", "length", "interrupt", "hold")
_FAULTS = ("raise", "raise", "again", "stop", "index", "kill", "exit")
# What workers live through, to read the next epoch as well.
_OUTLIVED = ("whole", "leave", "restart")
# What a loader may do wrong synchronously as well; then another clause says so.
_COMPARED = ("whole", "look", "restart", "later", "length", "stop", "index", "untold")

# What fails with these fails so in any place.
_NOT_DRAWN = ("longer", "finer", "counted", "turned")


@st.composite
def reading_ahead(draw: st.DrawFn, claims: Claims) -> Scenario:
    """One thing that a consumer does, or that goes wrong, with a loader that reads ahead."""
    what = draw(st.sampled_from(possible(claims)))
    style: Style = draw(st.sampled_from(_styles(what, claims)))
    ranks = draw(st.integers(1, 2)) if what == "whole" and _splits(style, claims) else 1
    samples = draw(st.integers(_least(what, claims, ranks), 12))
    batch_size = 1 if what in ODD_KINDS else draw(st.integers(1, 3))
    workers = draw(st.integers(0, most_workers(what, style, claims)))
    place = draw(st.integers(0, 3))
    shuffles = claims.shuffle and style == "map" and what in ("whole", "restart")
    scenario = Scenario(
        samples,
        ranks,
        batch_size,
        drop_last=draw(st.booleans()) if what in ("whole", "rebatched") else False,
        shuffle=(bool(shuffles) and draw(st.booleans())) or what == "later",
        num_workers=workers,
        epochs=draw(st.integers(1, 3)) if what in ("whole", "restart") else 2,
        dataset=style,
    )
    if what == "whole" and claims.device_options and style == "map":
        factors = {name: draw(st.sampled_from((1, 1, 2))) for name in ("replication_factor", "device_iterations")}
        scenario = simpler(scenario, **factors)
    return _doing(what, place, _hooked(draw, claims, scenario))


def _hooked(draw: st.DrawFn, claims: Claims, scenario: Scenario) -> Scenario:
    asked = {
        "buffer_size": draw(st.integers(0, 3)),
        "early_preload": draw(st.booleans()),
        "load_indefinitely": not draw(st.booleans()),
    }
    asked |= {"persistent_workers": draw(st.booleans())} if scenario.num_workers else {}
    return simpler(scenario, **{name: value for name, value in asked.items() if name in claims.hooks})


def _doing(what: str, place: int, scenario: Scenario) -> Scenario:
    """The scenario in which that is done or goes wrong."""
    asynchronous = simpler(scenario, asynchronous=True, variant="synchronous" if what in _COMPARED else "none")
    if what in _FAULTS:
        return simpler(asynchronous, fault=f"{what}@{place % scenario.samples}")
    if what in ODD_KINDS:
        return simpler(asynchronous, kind=what, epochs=1)
    if what == "rebatched":
        return simpler(asynchronous, rebatched=True, epochs=1)
    if what == "whole":
        return asynchronous
    steps = -(-scenario.samples // scenario.combined_batch)
    at = place % steps if what in ("look", "interrupt") else place
    return simpler(asynchronous, conduct=f"{what}@{at}" if what in _PLACED else what)


def possible(claims: Claims) -> tuple[str, ...]:
    """What may be done with a loader of these claims, simplest first."""
    hooked = {"early_preload": "before", "load_indefinitely": "between"}
    found = [*_PLAIN, *_CONDUCTS, *(conduct for hook, conduct in hooked.items() if hook in claims.hooks)]
    found += [] if claims.aliases else ["kept"]
    # Which epoch was read early shows in a shuffled one alone.
    found += ["later"] if claims.shuffle and claims.goes_by_set_epoch and "map" in claims.datasets else []
    found += ["length"] if claims.length and "map" in claims.datasets else []
    # The StopIteration of an iterable dataset is its end.
    found += [fault for fault in _FAULTS if fault != "stop" or "map" in claims.datasets]
    found += [kind for kind in ODD_KINDS if kind not in _NOT_DRAWN]
    return (*found, "rebatched") if "rebatched" in claims.hooks and "iterable" in claims.datasets else tuple(found)


def _styles(what: str, claims: Claims) -> list[Style]:
    """The kinds of dataset with which that may be done; those that are only of one kind have no other."""
    styles: tuple[Style, ...] = ("map", "iterable")
    if what in ("rebatched", "stop", "later", "length"):
        styles = ("iterable",) if what == "rebatched" else ("map",)
    return [style for style in styles if style in claims.datasets]


def _splits(style: str, claims: Claims) -> bool:
    return style == "map" or claims.iterable_workers == "split"


_LARGEST_STEP = 3


def _least(what: str, claims: Claims, ranks: int) -> int:
    return max(claims.least_samples(ranks, _LARGEST_STEP), 0 if what in ("whole", "rebatched") else 1)


def most_workers(what: str, style: str, claims: Claims) -> int:
    """How many workers there may be: of an iterable dataset only one gives its elements in a known order."""
    if not claims.workers or (style == "iterable" and not claims.iterable_workers):
        return 0
    if what in ("whole", "rebatched"):
        return 3
    return 1 if style == "iterable" else 2


# --- always tried ---------------------------------------------------------------------------------------------------


def each_way_ahead(claims: Claims, tier: Tier) -> Iterator[Scenario]:
    """Each thing that may be done or go wrong, without workers and with, so that none is left to chance."""
    for what in dict.fromkeys((*possible(claims), *([] if claims.aliases else ["hold"]), *_NOT_DRAWN)):
        first, *others = _styles(what, claims)
        yield from _each_way(what, first, claims)
        for style in others if what in _FAULTS else ():
            yield _doing(what, 1, Scenario(5, batch_size=2, epochs=2, dataset=style))
    yield from _held_meanwhile(claims, (3,) if tier.name == "quick" else (1, 2, 3, 4, 5, 7))
    if tier.name != "quick":
        yield from _further(claims)
        yield from _preloaded_once(claims)
        yield from _each_error(claims)
        yield from _left_while_reading(claims)
        yield from _untold(claims)
        yield from _after_breaks(claims)


def _held_meanwhile(claims: Claims, places: tuple[int, ...]) -> Iterator[Scenario]:
    """What goes wrong while the consumer holds the first step, and all room behind it is taken."""
    style = _styles("whole", claims)[0]
    for workers in sorted({0, min(2, most_workers("look", style, claims))}):
        plain = Scenario(9, num_workers=workers, epochs=2, dataset=style)
        for place in places:
            yield simpler(_doing("raise", place, plain), conduct="look@0")
        yield simpler(_doing("kill", places[len(places) // 2], plain), conduct="look@0")
        if {"buffer_size", "early_preload"} <= set(claims.hooks):
            # What is loaded before the first iterator has its place in the same buffer.
            yield simpler(_doing("look", 0, plain), buffer_size=3, early_preload=True)


def _each_error(claims: Claims) -> Iterator[Scenario]:
    """Each class of error: some mean that a queue, a pool or a connection was closed, and an epoch is over."""
    plain = Scenario(5, batch_size=2, epochs=2, dataset=_styles("whole", claims)[0])
    for word in ERRORS:
        yield simpler(_doing("raise", 3, plain), details=word)


def _after_breaks(claims: Claims) -> Iterator[Scenario]:
    """Many epochs that are left with the buffer full: what each keeps, or is lent, adds up."""
    plain = Scenario(100, dataset=_styles("whole", claims)[0])
    size = 2 if "buffer_size" in claims.hooks else 0
    yield simpler(_doing("look", 1, plain), buffer_size=size, details="breaks")


def _untold(claims: Claims) -> Iterator[Scenario]:
    """A consumer who never calls set_epoch: which epochs he reads does not hang on when they are loaded."""
    if claims.shuffle and claims.goes_by_set_epoch and "map" in claims.datasets:
        yield _doing("untold", 0, Scenario(9, shuffle=True, epochs=3))


def _left_while_reading(claims: Claims) -> Iterator[Scenario]:
    """Left while a read takes half a second: what it gives in the end is for nobody."""
    plain = Scenario(9, epochs=2, dataset=_styles("whole", claims)[0])
    for workers in sorted({0, min(2, most_workers("leave", plain.dataset, claims))}):
        yield simpler(_doing("leave", 1, plain), num_workers=workers, fault="slow@1", details="always")
    # One read that takes longer than a loader may be ready to wait for it.
    yield simpler(_doing("outlast", 1, plain), fault="long@1")


def _further(claims: Claims) -> Iterator[Scenario]:
    """How far is read in later epochs, and with a large buffer."""
    if "buffer_size" not in claims.hooks:
        return
    for style in _styles("whole", claims)[:1]:
        for workers in sorted({0, min(2, most_workers("look", style, claims))}):
            plain = Scenario(60, num_workers=workers, epochs=3, dataset=style)
            for size in (2, 16):
                yield simpler(_doing("look", 2, plain), buffer_size=size, details="later")
            yield simpler(_doing("look", 1, plain), buffer_size=16, epochs=1)
            if "load_indefinitely" in claims.hooks:
                yield simpler(_doing("between", 0, plain), buffer_size=7)
                left = _doing("between", 0, simpler(plain, samples=24, epochs=2))
                yield simpler(left, buffer_size=4, load_indefinitely=False, details="left")


def _preloaded_once(claims: Claims) -> Iterator[Scenario]:
    """The first epoch is begun early, and no other."""
    if {"early_preload", "load_indefinitely"} <= set(claims.hooks):
        for style in _styles("whole", claims):
            plain = _doing("between", 0, Scenario(5, batch_size=2, epochs=2, dataset=style))
            yield simpler(plain, early_preload=True, load_indefinitely=False)


def _each_way(what: str, style: Style, claims: Claims) -> Iterator[Scenario]:
    for workers in sorted({0, min(2, most_workers(what, style, claims))}):
        for scenario in _of(what, Scenario(5, batch_size=2, num_workers=workers, epochs=2, dataset=style), claims):
            yield from _asked(what, scenario, claims)
            if workers and scenario.epochs > 1 and what in _OUTLIVED and "persistent_workers" in claims.hooks:
                yield simpler(scenario, persistent_workers=True)


def _of(what: str, scenario: Scenario, claims: Claims) -> Iterator[Scenario]:
    if what in ODD_KINDS:
        yield _doing(what, 0, simpler(scenario, samples=4, batch_size=1))
    elif what in ("whole", "rebatched"):
        for drop_last in (False, True):
            yield _doing(what, 0, simpler(scenario, samples=6 if what == "rebatched" else 9, drop_last=drop_last))
        if what == "whole":
            yield from _whole(scenario, claims)
    elif what == "look":
        # In the last steps what reads ahead comes to the next epoch.
        for at in (0, 1, 3, 4):
            yield _doing(what, at, simpler(scenario, samples=9))
    elif what == "restart":
        for after, epochs in ((1, 1), (2, 2), (4, 3)):
            yield _doing(
                what, after, simpler(scenario, epochs=epochs, shuffle=claims.shuffle is not None and epochs > 1)
            )
    elif what == "kept":
        # More steps than a usual ring has slots.
        yield _doing(what, 0, simpler(scenario, samples=12, batch_size=1))
    elif what == "hold":
        # What is written into a slot may be what it held: then another place shows it.
        yield from (_doing(what, at, simpler(scenario, samples=12, batch_size=1)) for at in (1, 2, 3))
    elif what in ("before", "between", "later"):
        yield _doing(what, 0, simpler(scenario, samples=9, shuffle=what == "later"))
    else:
        yield _doing(what, 1, scenario)
        if what == "leave":
            # Before the first step, when a loader may have begun nothing but what reads ahead, and in its last epoch.
            yield _doing(what, 0, scenario)
            yield _doing(what, 0, simpler(scenario, epochs=1))
            # All steps, but not the end.
            yield _doing(what, 3, scenario)
        if what == "raise":
            # In the second step, which is ready before the first is asked for.
            yield _doing(what, 1, simpler(scenario, samples=3, batch_size=1))
        if what == "again":
            # A sample that the next epoch but one does not reach.
            yield _doing(what, 8, simpler(scenario, samples=9, batch_size=1))
        if what in (*_FAULTS, "interrupt", "leave", "dropped", "quit"):
            yield _doing(what, 4, simpler(scenario, samples=9))


def _whole(scenario: Scenario, claims: Claims) -> Iterator[Scenario]:
    for samples, batch_size, ranks, epochs in ((1, 1, 1, 2), (4, 3, 1, 3), (12, 1, 1, 1), (7, 2, 2, 2)):
        if samples >= _least("whole", claims, ranks) and (ranks == 1 or _splits(scenario.dataset, claims)):
            sized = simpler(scenario, samples=samples, batch_size=batch_size, world_size=ranks, epochs=epochs)
            yield _doing("whole", 0, sized)
    if claims.shuffle and scenario.dataset == "map":
        yield _doing("whole", 0, simpler(scenario, samples=9, shuffle=True))


def _asked(what: str, scenario: Scenario, claims: Claims) -> Iterator[Scenario]:
    """The scenario, as usual and with each way of reading ahead that may be asked for and matters to it."""
    ways: dict[str, dict[str, tuple[object, ...]]] = {
        "look": {"buffer_size": (1, 2)},
        "before": {"early_preload": (True, False), "buffer_size": (2, 1)},
        "later": {"early_preload": (True, False)},
        "between": {"load_indefinitely": (True, False), "buffer_size": (2, 1)},
        "restart": {"load_indefinitely": (True, False)},
        "whole": {"early_preload": (True, False)},
        # What has begun before anybody asks for it.
        "unread": {"early_preload": (True,)},
        "forgotten": {"early_preload": (True, False)},
        "leave": {"early_preload": (False, True)},
        "raise": {"early_preload": (False, True), "buffer_size": (3, 2)},
        "again": {"load_indefinitely": (True, False), "buffer_size": (3, 2)},
    }
    asked = ways.get(what, {})
    names = [name for name in AHEAD if name in asked and name in claims.hooks]
    for values in product(*(asked[name] for name in names)):
        yield simpler(scenario, **dict(zip(names, values, strict=True)))
