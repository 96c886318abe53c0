"""What is tried of restarts: the family of chapter 9.

A scenario is two runs, or three; the second one is in another process. Mostly nothing is changed: a state in the middle
of an epoch and a new loader of the same request are what a restart is.
"""

from collections.abc import Iterator

from hypothesis import strategies as st

from conformance.contract import LARGEST_SEED, Claims
from conformance.loader.judging import remainder
from conformance.loader.scenario import Scenario, Style, simpler
from conformance.restarts.drawn_hooks import each_with_hooks
from conformance.restarts.drawn_uneven import each_of_uneven_ranks
from conformance.trial.tiers import Tier

_PLAIN = ("",) * 8
_UNDER_WAY = ("anew", "amid", "begun")
_STATES = (
    "watched",
    "held",
    "shared",
    "used",
    "relayed",
    "again",
    "again",
    "left",
    "onward",
    "broken",
    "anew",
    "amid",
    "begun",
)
# Where a step that is ready already may be taken for one that was given out.
_AHEAD = ("unbegun", "held", "again")
# What is done before the state is taken.
_ASKED = ("asked", "twice")
# A state that is kept while later ones are taken, of the loader that gave it or of one that it was given to.
_KEPT = ("watched+held", "watched+shared")
# Of these the number of steps, and what is left, must be known.
_OTHERS = ("wider", "narrower", "larger", "grown")
_WITHIN = (True, True, True, False)


_LARGEST_STEP = 3


@st.composite
def restarts(draw: st.DrawFn, claims: Claims) -> Scenario:
    """A state that is taken somewhere in one of the first epochs, and what is done with it."""
    if not claims.resume:
        return draw(st.sampled_from(list(_unpromised(claims))))
    word = draw(st.sampled_from(possible(claims)))
    style: Style = draw(st.sampled_from(_styles(claims))) if word not in _others(claims) else "map"
    ranks = draw(st.integers(2 if word == "narrower" else 1, 3)) if _splits(style, claims) else 1
    # Mostly so many that each rank has a step before the state and one after it.
    least = max(claims.least_samples(ranks + 1, _LARGEST_STEP), draw(st.sampled_from((0, 2, 2, 4))) * ranks)
    samples = draw(st.integers(least, 16))
    batch_size = draw(st.integers(1, _LARGEST_STEP))
    drop_last = draw(st.booleans())
    shuffles = _shuffles(style, word, claims)
    shuffle = word == "reseeded" or (shuffles and word != "unset" and draw(st.booleans()))
    scenario = Scenario(
        samples,
        ranks,
        batch_size,
        drop_last=drop_last,
        shuffle=shuffle,
        num_workers=draw(st.integers(1, 2))
        if word == "unstaffed"
        else draw(st.sampled_from((0, 0, 0, 0, 0, 1, 2)))
        if _may_have_workers(style, claims)
        else 0,
        epochs=2 if word == "unbegun" else 3 if word == "broken" else draw(st.integers(2, 3)),
        seed=draw(st.integers(0, 2**31 - 2)) if shuffle else 0,
        dataset=style,
        conduct=f"save@{0 if word == 'unbegun' else _place(draw, samples // ranks, batch_size)}",
        details=word,
    )
    return _asked(draw, claims, scenario)


def _place(draw: st.DrawFn, shard: int, batch_size: int) -> int:
    """Mostly within the epoch; else at its start, after its last step, or at its end."""
    steps = -(-shard // batch_size)
    if draw(st.sampled_from(_WITHIN)):
        return draw(st.integers(1, max(1, steps - 1)))
    return draw(st.sampled_from((0, steps, steps + 1)))


def _asked(draw: st.DrawFn, claims: Claims, scenario: Scenario) -> Scenario:
    """The scenario with what else is claimed, now and then."""
    changes: dict[str, object] = {}
    if claims.device_options and scenario.dataset == "map" and not scenario.details:
        for name in ("gradient_accumulation", "replication_factor", "device_iterations"):
            changes[name] = draw(st.sampled_from((1, 1, 1, 1, 2)))
    if claims.asynchronous:
        changes["asynchronous"] = draw(st.sampled_from((False, False, False, False, True)))
        if changes["asynchronous"] and "early_preload" in claims.hooks:
            changes["early_preload"] = draw(st.booleans())
    if scenario.num_workers and "persistent_workers" in claims.hooks:
        changes["persistent_workers"] = draw(st.booleans())
    return simpler(scenario, **changes)


def possible(claims: Claims) -> tuple[str, ...]:
    """What may be done with a state, simplest first."""
    # Unless something else is claimed, `set_epoch` says which epoch comes, where the loader has it.
    inside = ("inside", "inside") if claims.epochs != "automatic" else ()
    unset = ("unset",) if claims.epochs == "set_epoch" else ()
    return (*_PLAIN, *inside, *unset, "unbegun", *_STATES, *_others(claims))


def _told_again(claims: Claims) -> tuple[str, ...]:
    """The epoch is set before a state is loaded, and after it."""
    return ("inside+asked",) if claims.epochs != "automatic" else ()


def _others(claims: Claims) -> tuple[str, ...]:
    if "map" not in claims.datasets or not remainder(claims):
        return ()
    seeded = ("reseeded",) if claims.shuffle and claims.resume is True else ()
    return (*_OTHERS, *(("staffed", "unstaffed") if claims.workers else ()), *seeded)


def _shuffles(style: str, word: str, claims: Claims) -> bool:
    """Whether epochs are asked for shuffled. One that is drawn with replacement has no rest that others could count."""
    if style != "map" or claims.resume is not True:
        return False
    return claims.shuffle is not None or (claims.sampling is not None and word not in _others(claims))


def _styles(claims: Claims) -> list[Style]:
    styles: tuple[Style, ...] = ("map", "iterable")
    return [style for style in styles if style in claims.datasets]


def _splits(style: str, claims: Claims) -> bool:
    return style == "map" or claims.iterable_workers == "split"


def _may_have_workers(style: str, claims: Claims) -> bool:
    return claims.workers if style == "map" else bool(claims.workers and claims.iterable_workers)


# --- always tried ---------------------------------------------------------------------------------------------------


def each_restart(claims: Claims, tier: Tier) -> Iterator[Scenario]:
    """Each thing that may be done with a state, at each place of a short epoch, so that none is left to chance."""
    if not claims.resume:
        yield from _unpromised(claims)
        return
    for style in _styles(claims):
        for word in (*dict.fromkeys(possible(claims)), *_ASKED, *_told_again(claims), *_KEPT):
            if style == "map" or word not in _others(claims):
                yield from _of(word, Scenario(7, batch_size=2, epochs=2, dataset=style, details=word), claims)
        if tier.name != "quick":
            yield from _unsmall(style, claims)
    if tier.name != "quick":
        yield from each_with_hooks(claims)
    yield from _of_factors(claims)
    if tier.name != "quick" and claims.elastic:
        yield from _elastic_twice(claims)


def _of_factors(claims: Claims) -> Iterator[Scenario]:
    """Each factor of a step alone: a state that counts something else than steps is wrong by one of them."""
    if claims.device_options and "map" in claims.datasets:
        for name in ("gradient_accumulation", "replication_factor", "device_iterations"):
            factor: dict[str, object] = {name: 2}
            yield simpler(Scenario(9, epochs=2, conduct="save@2"), **factor)


def _elastic_twice(claims: Claims) -> Iterator[Scenario]:
    """A second state, of the job that has resumed on other ranks or workers."""
    for word in ("wider", "narrower", "staffed"):
        if word in _others(claims):
            for samples, batch_size in ((17, 1), (23, 2)):
                ranks = 3 if word == "narrower" else 2
                plain = Scenario(samples, ranks, batch_size, epochs=2, conduct="save@1", details=f"{word}+again")
                yield plain
                yield simpler(plain, details=f"{word}+again+further")
                # Where nothing is padded, nothing may come again.
                yield simpler(plain, drop_last=True)
                if _shuffles("map", word, claims):
                    yield simpler(plain, shuffle=True, seed=5)
            # What those skipped who came is no part of their next epoch.
            yield Scenario(17, ranks, epochs=2, conduct="save@1", details=f"{word}+onward")


def _unsmall(style: Style, claims: Claims) -> Iterator[Scenario]:
    """Tens of steps before the state and after it, and later epochs."""
    shuffle = _shuffles(style, "", claims)
    # Early in an epoch, when what was kept of the one before is still there.
    for samples, batch_size, place, epochs in ((103, 2, 37, 2), (1031, 16, 50, 5), (1031, 16, 3, 4)):
        plain = Scenario(samples, 1, batch_size, shuffle=shuffle, epochs=epochs, dataset=style, seed=3 * shuffle)
        yield simpler(plain, conduct=f"save@{place}")
        yield simpler(plain, conduct=f"save@{place}", details="again")
        # More states than anybody keeps room for.
        yield simpler(plain, conduct=f"save@{place}", details="watched+held")
        if _may_have_workers(style, claims):
            yield simpler(plain, conduct=f"save@{place}", num_workers=3)
    for ranks in ((1, 2) if _splits(style, claims) else (1,)) if claims.in_order else ():
        # More restarts in an epoch than anybody writes down.
        plain = Scenario(23 * ranks, ranks, 2, shuffle=shuffle, epochs=2, dataset=style, seed=3 * shuffle)
        yield simpler(plain, conduct="save@1", details="again+often")
    if style == "iterable" and _may_have_workers(style, claims):
        # Workers that have unequal shares, at each place until the first of them has run out, and after that.
        for samples, ranks, workers in ((7, 1, 3), (9, 2, 2)):
            plain = Scenario(samples, ranks, epochs=2, dataset=style, num_workers=workers)
            yield from (simpler(plain, conduct=f"save@{place}") for place in range(1, -(-samples // ranks)))
    if _splits(style, claims):
        yield from each_of_uneven_ranks(style, claims)


def _unpromised(claims: Claims) -> Iterator[Scenario]:
    """The one restart of a loader that promises none."""
    for style in _styles(claims):
        yield Scenario(3, epochs=2, dataset=style, conduct="save@1")


def _of(word: str, scenario: Scenario, claims: Claims) -> Iterator[Scenario]:
    shuffles = _shuffles(scenario.dataset, word, claims) and word != "unset"
    scenario = simpler(scenario, num_workers=2) if word == "unstaffed" else scenario
    # An epoch of four steps: its middle, its start, its last step, and its end.
    few = {"anew": (1,), "amid": (1, 0), "begun": (1,), "relayed": (1, 2), "shared": (1, 2), "onward": (1, 2)}
    few |= {"asked": (1,), "inside+asked": (1,), "twice": (1,), "watched+held": (1, 2), "watched+shared": (1,)}
    few |= {"unbegun": (0,), "unset": (1, 5), "unstaffed": (1,), "": (1, 2, 0, 3, 4, 5)}
    places = few.get(word, (1, 2, 0))
    ranks = 2 if word == "narrower" else 1
    epochs = 3 if word == "broken" else 2
    for place in places:
        plain = simpler(scenario, world_size=ranks, samples=7 * ranks, epochs=epochs, conduct=f"save@{place}")
        if word != "reseeded":
            yield plain
        if shuffles and word != "unbegun":
            # A later epoch, which has an order of its own, and so many samples that two orders differ.
            later = simpler(plain, shuffle=True, samples=12 * ranks, batch_size=3, epochs=3, seed=5)
            yield later
            if word in ("", "wider") and place == 2:
                yield simpler(later, seed=LARGEST_SEED)
    first = simpler(scenario, world_size=ranks, samples=7 * ranks, epochs=epochs, conduct=f"save@{places[0]}")
    if word != "reseeded":
        # Single samples, so that a few more cases can show a fault.
        sizes = () if word == "unstaffed" else (3, 4)
        yield from (simpler(first, samples=size * ranks, batch_size=1) for size in sizes)
    if _may_have_workers(scenario.dataset, claims) and word not in _others(claims):
        # Each step costs a process or two here.
        yield simpler(first, num_workers=2)
        if word == "used" and "persistent_workers" in claims.hooks:
            yield simpler(first, num_workers=2, persistent_workers=True)
    if claims.asynchronous and word in ("", *_AHEAD):
        yield simpler(first, asynchronous=True)
    if "early_preload" in claims.hooks and word in ("", *_AHEAD, *_UNDER_WAY):
        # What is read before the state is loaded is read from the wrong place.
        yield simpler(first, asynchronous=True, early_preload=True)
    if not word:
        yield from _plainly(scenario, shuffles, claims)
        yield from _after_an_error(scenario, shuffles, claims)


def _after_an_error(scenario: Scenario, shuffles: bool, claims: Claims) -> Iterator[Scenario]:
    """A state that is saved because a sample has failed; or, where it was skipped, some steps later."""
    if claims.errors == "skip":
        for shuffle in {False, shuffles}:
            yield simpler(scenario, samples=9, shuffle=shuffle, conduct="save@2", fault="raise@1")
        # What fails after a state is no part of it.
        yield simpler(scenario, samples=9, conduct="save@1", fault="raise@5", details="held+mended")
        return
    if not claims.in_order:
        return
    for place in (1, 2):
        failing = simpler(scenario, conduct=f"save@{place}", fault=f"raise@{2 * place}", details="failed")
        yield failing
        if shuffles:
            yield simpler(failing, shuffle=True, samples=12, batch_size=3, epochs=3, seed=5)
        # In the first step of a rest, and in a later one.
        leaving = simpler(scenario, conduct="save@1", fault=f"raise@{2 * place}", details="left")
        yield leaving
        for each in (failing, leaving) if place == 1 else ():
            if _may_have_workers(scenario.dataset, claims):
                yield simpler(each, num_workers=2)
            if claims.asynchronous:
                yield simpler(each, asynchronous=True)


def _plainly(scenario: Scenario, shuffles: bool, claims: Claims) -> Iterator[Scenario]:
    """Plain restarts in which more can go wrong: a rest that is dropped, and an epoch that is nearly over."""
    for place in (2, 3, 4):
        yield simpler(scenario, drop_last=True, conduct=f"save@{place}")
    if _splits(scenario.dataset, claims):
        yield simpler(scenario, samples=9, world_size=2, conduct="save@1", drop_last=True)
    if shuffles and (claims.asynchronous or _may_have_workers(scenario.dataset, claims)):
        # What reads ahead has come to the next epoch by then.
        late = simpler(scenario, shuffle=True, samples=12, batch_size=3, epochs=3, seed=5, conduct="save@3")
        if claims.asynchronous:
            yield simpler(late, asynchronous=True)
        if _may_have_workers(scenario.dataset, claims):
            # In the first epoch, which may be begun otherwise than the others, and in a later one.
            yield simpler(late, num_workers=2, epochs=2, conduct="save@1")
            yield simpler(late, num_workers=2)
