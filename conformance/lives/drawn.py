"""What is tried of lives: each kind of request that is claimed, and two to four things that a loader lives through."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, product

from hypothesis import strategies as st

from conformance.chosen.scenario import ChosenScenario
from conformance.contract import AHEAD, Claims
from conformance.lives.scenario import Asked, LifeScenario, living
from conformance.loader.asked import may_persist
from conformance.loader.living import FURTHER_LIVES, LIVES
from conformance.loader.samplers import HOOKS as SAMPLERS
from conformance.loader.scenario import Scenario, simpler
from conformance.trial.tiers import Tier

# Of all pairs, each request is tried with one of so many, and the next request with the next ones.
_ONE_OF = {"quick": 40, "gate": 6, "deep": 1}
_EVENTS = tuple(word for word in (*LIVES, *FURTHER_LIVES) if word != "whole")


@st.composite
def lives(draw: st.DrawFn, claims: Claims) -> LifeScenario:
    """A request of one of the kinds, in any size, and what its loader lives through."""
    asked, hooks = draw(st.sampled_from(list(_requests(claims))))
    asked = replace(
        asked,
        samples=draw(st.integers(max(6, claims.least_samples(2, 3)), 16)),
        drop_last=draw(st.booleans()) if claims.in_order and getattr(asked, "about", "") != "budget" else False,
        seed=draw(st.sampled_from((0, 0, 5, 2**31 - 9))) if asked.shuffle else 0,
    )
    if getattr(asked, "about", "grouped") in ("grouped", "stream", "subset", "mixture"):
        asked = replace(asked, batch_size=draw(st.integers(1, 3)))
    workers = draw(st.sampled_from((0,) * 9 + (1, 2)))
    if workers and _may_have_workers(asked, claims):
        persists = draw(st.booleans()) if may_persist(claims) else False
        asked = replace(asked, num_workers=workers, persistent_workers=persists)
    events = st.sampled_from(_possible(asked, hooks, claims))
    life = draw(st.lists(events, min_size=2, max_size=4))
    # The state of a rank is loaded with those of all; and each worker of each rank takes its time.
    is_alone = "saved" in life or asked.num_workers or not _may_have_ranks(asked, claims)
    ranks = 1 if is_alone else draw(st.sampled_from((1, 1, 1, 2)))
    return living(replace(asked, world_size=ranks), *hooks, *_in_an_order_that_is_clear(life))


def each_pair(claims: Claims, tier: Tier) -> Iterator[LifeScenario]:
    """Pairs of what may be lived through, with each kind of request, so that none is left to chance."""
    every = _ONE_OF[tier.name]
    for at, (asked, hooks) in enumerate(_requests(claims)):
        if "ahead" in hooks:
            yield living(asked, *hooks, "whole")
        pairs = product(_possible(asked, hooks, claims), repeat=2)
        for pair in islice(pairs, at % every, None, every):
            yield living(asked, *hooks, *_in_an_order_that_is_clear(list(pair)))


def has_life(claims: Claims) -> bool:
    """Whether there is a request of which epochs can be compared."""
    return next(_requests(claims), None) is not None


def _in_an_order_that_is_clear(life: list[str]) -> list[str]:
    """A state is taken while no other iterator is alive; and two are enough that are."""
    if "saved" in life or life.count("held") > 1:
        at = life.index("held") if "held" in life and "saved" not in life else None
        return [word if word != "held" or place == at else "left" for place, word in enumerate(life)]
    return life


def _requests(claims: Claims) -> Iterator[tuple[Asked, tuple[str, ...]]]:
    """Each kind of request, and the hooks that go with it."""
    style = "map" if "map" in claims.datasets else "iterable"
    numbered = claims.goes_by_set_epoch
    if claims.datasets and not claims.is_endless:
        shuffles = (False, True) if claims.shuffle and style == "map" and numbered else (False,)
        for shuffle in shuffles:
            plain = Scenario(9, batch_size=2, shuffle=shuffle, dataset=style)  # type: ignore[arg-type]
            yield plain, ()
            if claims.asynchronous:
                yield from ((each, ()) for each in _ahead(plain, claims))
    if style == "map" and not claims.is_endless:
        for word, hook in {**SAMPLERS, "collated": "collate_fn"}.items():
            if hook in claims.hooks and (claims.in_order or word == "collated"):
                yield Scenario(9, batch_size=2), (word,)
                # A buffer may have room for full steps alone, and a user's batches differ in size.
                if claims.asynchronous and word != "batches":
                    yield Scenario(9, batch_size=2), ("ahead", word)
    for chosen in _chosen(claims, numbered) if not claims.is_endless else ():
        yield chosen, ()
        if claims.asynchronous and chosen.about != "stream":
            yield chosen, ("ahead",)


def _ahead(plain: Scenario, claims: Claims) -> Iterator[Scenario]:
    """Read ahead as usual, and in each other way that may be asked for."""
    yield simpler(plain, asynchronous=True)
    others: dict[str, object] = {"early_preload": True, "load_indefinitely": False, "buffer_size": 3}
    asked = {name: others[name] for name in AHEAD if name in others and name in claims.hooks}
    if asked:
        yield simpler(plain, asynchronous=True, **asked)


def _chosen(claims: Claims, numbered: bool) -> Iterator[ChosenScenario]:
    for shuffle in (False, True) if claims.shuffle and numbered else (False,):
        for about in claims.batches:
            groups, size, budget = (3, 2, 0) if about == "grouped" else (1, 1, 6)
            yield ChosenScenario(13, about, 1, size, False, shuffle, parts=groups, budget=budget)
        if claims.subsets:
            yield ChosenScenario(15, "subset", 1, 2, False, shuffle)
        for rule in claims.mixtures if numbered else ():
            details = "all" if rule == "all_exhausted" else ""
            yield ChosenScenario(15, "mixture", 1, 2, False, shuffle, parts=3, details=details)
    if claims.stream_shuffle:
        for shuffle in (False, True) if numbered else (False,):
            yield ChosenScenario(15, "stream", 1, 2, False, shuffle, parts=3)
    if numbered and "set_epoch" in claims.hooks and "iterable" in claims.datasets:
        # The loaders of one dataset tell it each its own epoch.
        yield ChosenScenario(15, "stream", 1, 2, parts=3, details="own")


def _possible(asked: Asked, hooks: tuple[str, ...], claims: Claims) -> tuple[str, ...]:
    """What a loader of this request may live through."""
    unasked = set()
    is_ahead = LifeScenario(asked, "+".join(hooks)).is_asynchronous
    if not claims.resume or (claims.resume == "unshuffled" and asked.shuffle):
        unasked.add("saved")
    if not claims.goes_by_set_epoch:
        unasked.add("again")
    # What failed once may be left out of later epochs as well.
    if claims.errors == "skip":
        unasked |= {"failed", "fled"}
    if asked.num_workers:
        unasked.add("often")
    if not asked.shuffle:
        unasked.add("again")
    # An accessor that is asked for another iterator may be done with the first one (ASYNC-6).
    if is_ahead:
        unasked.add("held")
    return tuple(word for word in _EVENTS if word not in unasked)


def _may_have_ranks(asked: Asked, claims: Claims) -> bool:
    is_split = getattr(asked, "dataset", "map") == "map" or claims.iterable_workers == "split"
    may_be_asked = claims.ranks == "explicit" and "ranks" not in claims.without
    return may_be_asked and is_split and not claims.deals_out_dynamically


def _may_have_workers(asked: Asked, claims: Claims) -> bool:
    if getattr(asked, "dataset", "map") == "iterable" or getattr(asked, "about", "") == "stream":
        return claims.streams_to_workers
    return claims.workers
