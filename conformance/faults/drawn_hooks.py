"""What is tried of hooks that a request hands over: that each is honoured, whatever else is asked for."""

from collections.abc import Iterator
from itertools import product

from conformance.contract import Claims
from conformance.loader import generators, samplers
from conformance.loader.asked import may_persist
from conformance.loader.scenario import Scenario, simpler


def hooked(claims: Claims) -> Iterator[Scenario]:
    """Each hook that can be looked at, over three epochs."""
    words = {"collated": "collate_fn", "begun": "worker_init_fn", "lasting": "persistent_workers"}
    asked = [word for word, hook in words.items() if hook in claims.hooks]
    ordered = [word for word, hook in samplers.HOOKS.items() if hook in claims.hooks]
    for num_workers, word in product((0, 2) if claims.workers else (0,), ordered if claims.in_order else ()):
        plain = Scenario(9, batch_size=2, num_workers=num_workers, epochs=3, conduct="hooked", details=word)
        yield plain
        # Of an even number of samples a pass has more than twice as many.
        yield simpler(plain, samples=8)
        if word == "sampler" and "drop_last" not in claims.without:
            yield simpler(plain, drop_last=True)
        if num_workers and may_persist(claims):
            yield simpler(plain, persistent_workers=True)
        # A pass that does not come to its end, or that another one is begun beside.
        yield simpler(plain, details=f"{word}+left")
        if not num_workers:
            yield simpler(plain, details=f"{word}+held")
            if claims.errors == "raise":
                yield simpler(plain, details=f"{word}+failed", fault=f"raise@{samplers.order_of(9, 0)[3]}")
    if generators.HOOK in claims.hooks and claims.shuffle and claims.in_order:
        yield from _generated(claims)
    for num_workers in (0, 2) if claims.workers else (0,):
        for word in asked if num_workers else [each for each in asked if each == "collated"]:
            plain = Scenario(9, batch_size=2, num_workers=num_workers, epochs=3, conduct="hooked", details=word)
            if word != "lasting":
                yield plain
                if claims.resume:
                    yield simpler(plain, details=f"{word}+restored")
            if num_workers and "lasting" in asked:
                yield simpler(plain, persistent_workers=True)


def hooked_early(claims: Claims) -> Iterator[Scenario]:
    """Hooks under which the first epoch may be read before anybody asks for it: what makes it was handed over too."""
    if not claims.asynchronous:
        return
    plain = Scenario(
        9,
        batch_size=2,
        epochs=3,
        conduct="hooked",
        asynchronous=True,
        early_preload="early_preload" in claims.hooks,
        # What a fourth epoch begins with is as if it had been done in the first.
        load_indefinitely="load_indefinitely" not in claims.hooks,
    )
    # Not the batches of a user's own, which differ in size: a buffer may have room for full steps alone.
    words = [("collated", "collate_fn", 0), ("sampler", "sampler", 0)]
    if claims.workers:
        words += [("begun", "worker_init_fn", 2), ("collated", "collate_fn", 2)]
    for word, hook, num_workers in words:
        if hook in claims.hooks and (claims.in_order or word not in samplers.HOOKS):
            yield simpler(plain, num_workers=num_workers, details=word)


def _generated(claims: Claims) -> Iterator[Scenario]:
    """A generator that is handed over, without workers and with."""
    plain = Scenario(
        generators.SAMPLES, batch_size=4, shuffle=True, epochs=3, conduct="hooked", details=generators.WORD
    )
    yield plain
    if claims.workers:
        yield simpler(plain, num_workers=2)
        if may_persist(claims):
            yield simpler(plain, num_workers=2, persistent_workers=True)
