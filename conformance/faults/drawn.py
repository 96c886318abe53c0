"""What is tried of trouble: chapter 10, and the life of a loader in chapter 4."""

from collections.abc import Iterator
from itertools import islice, product

from hypothesis import strategies as st

from conformance.contract import Claims
from conformance.faults import drawn_hooks
from conformance.loader.asked import may_persist
from conformance.loader.conducts import A_FEW_ERRORS, BASE_ERRORS, ENDINGS, ERRORS
from conformance.loader.living import LIVES
from conformance.loader.scenario import Scenario, Style, simpler
from conformance.trial.tiers import Tier

# What may go wrong or be done, simplest first; what happens twice in a list is tried twice as often.
_CONDUCTS = ("leave", "two", "kept", "ended", "dropped", "kept", "leave", "unread", "forgotten", "closed")
_LISTED = (*dict.fromkeys(_CONDUCTS), "hold", "refused")
_PLACED = ("leave", "two", "closed", "hold")
# What may disturb the order that lies on a loader.
_SHUFFLED = ("leave", "two", "lives")
_FAULTS = ("raise", "raise", "stop", "index")
# A worker that exits in silence is noticed by torch after 5 s, so that it is tried less often.
_WORKER_FAULTS = ("kill", "kill", "exit")
_HOOK_FAULTS = {"collate_fn": "collate", "worker_init_fn": "init", "timeout": "hang"}


@st.composite
def troubled(draw: st.DrawFn, claims: Claims) -> Scenario:
    """A fault of the dataset, of a worker or of a hook, or a consumer that does more than read and close."""
    samples = draw(st.integers(1, 8))
    batch_size = draw(st.integers(1, 3))
    num_workers = draw(st.sampled_from((0, 1, 2))) if claims.workers else 0
    dataset: Style = draw(st.sampled_from(styles(claims)))
    num_workers = min(num_workers, _most_workers(claims, dataset))
    trouble = draw(st.sampled_from((*_CONDUCTS, "lives", *_possible_faults(claims, num_workers, dataset))))
    place = draw(st.integers(0, 7))
    words: list[str] = []
    told: list[str] = []
    rest = False
    if trouble == "lives":
        words = draw(st.lists(st.sampled_from(tuple(LIVES)), min_size=2, max_size=4, unique=True))
        fault, conduct = f"raise@{place % samples}" if "failed" in words else "", "lives"
    elif trouble in _CONDUCTS:
        fault, conduct = "", f"{trouble}@{place % 4}" if trouble in _PLACED else trouble
    else:
        when = draw(st.sampled_from(("", "", "", "second", "third")))
        error = draw(st.sampled_from(("", "", *ERRORS))) if trouble in ("raise", "collate", "init") else ""
        told = [each for each in (error, when) if each]
        rest = trouble == "raise" and draw(st.sampled_from((False, False, False, True)))
        fault, conduct = f"{trouble}@{place % (num_workers if trouble == 'init' else samples)}", ""
    return Scenario(
        samples,
        batch_size=batch_size,
        shuffle=draw(st.booleans()) if trouble in _SHUFFLED and dataset == "map" and claims.shuffle else False,
        num_workers=num_workers,
        epochs=len(words) + 1 if words else 3 if fault else 2,
        fault=fault,
        conduct=conduct,
        kind="buffer" if conduct == "kept" and draw(st.booleans()) else "",
        dataset=dataset,
        persistent_workers=draw(st.booleans()) if num_workers and may_persist(claims) else False,
        details="+".join(words or told),
        drop_last=rest,
    )


def each_trouble(claims: Claims, tier: Tier) -> Iterator[Scenario]:
    """Each fault once and each conduct thrice, without workers and with, so that none is left to chance."""
    for dataset in styles(claims):
        for num_workers in _workers(claims, dataset):
            for fault in dict.fromkeys(_possible_faults(claims, num_workers, dataset)):
                named = f"{fault}@{_place(fault, num_workers)}"
                yield Scenario(5, batch_size=2, num_workers=num_workers, epochs=3, dataset=dataset, fault=named)
            # Begun, and left before the first step.
            yield Scenario(5, batch_size=2, num_workers=num_workers, epochs=2, dataset=dataset, conduct="leave@0")
            # In a step of its own, between others.
            for fault in dict.fromkeys(_faults(dataset)):
                yield Scenario(3, num_workers=num_workers, epochs=3, dataset=dataset, fault=f"{fault}@1")
    dataset = styles(claims)[0]
    for num_workers in _workers(claims, dataset):
        for conduct in _LISTED:
            named = f"{conduct}@1" if conduct in _PLACED else conduct
            for samples, batch_size in ((5, 2), (4, 1), (3, 3)):
                if conduct in _SHUFFLED and dataset == "map" and claims.shuffle:
                    yield Scenario(
                        samples, 1, batch_size, shuffle=True, num_workers=num_workers, epochs=2, conduct=named
                    )
                for kind in ("", "buffer") if conduct == "kept" else ("",):
                    yield Scenario(
                        samples,
                        batch_size=batch_size,
                        num_workers=num_workers,
                        epochs=2,
                        dataset=dataset,
                        conduct=named,
                        kind=kind,
                    )

    yield from _each_error(claims, tier)
    most = _most_workers(claims, dataset)
    if most and tier.name != "quick":
        yield from _each_death(claims, dataset, most)
    if tier.name != "quick":
        # What is large may be kept elsewhere than what is small.
        big = Scenario(6, batch_size=2, epochs=2, dataset=dataset, conduct="leave@1", kind="big")
        yield from (simpler(big, num_workers=workers) for workers in _workers(claims, dataset))
        if dataset == "map" and claims.shuffle:
            # An order that is large may lie in a file.
            yield Scenario(70_001, batch_size=7, shuffle=True, conduct="leave@1")
    if tier.name != "quick" and claims.aliases is not True:
        yield from _kept(claims, dataset)
    if "map" in claims.datasets:
        yield from drawn_hooks.hooked(claims)
        yield from drawn_hooks.hooked_early(claims)
    yield from _lives(claims, dataset, tier)
    if most and may_persist(claims) and tier.name != "quick":
        yield from _persisting(claims, dataset)


def skipped_on_ranks(claims: Claims, tier: Tier) -> Iterator[Scenario]:
    """A sample that fails in the first or the second epoch, and is skipped, of several ranks."""
    # The smallest first: none of these is made smaller.
    yield Scenario(2, 2, epochs=2, fault="raise@0")
    plain = Scenario(8, 2, epochs=3)
    for shuffle in (False, True) if claims.shuffle else (False,):
        yield simpler(plain, fault="raise@2", shuffle=shuffle)
        if tier.name != "quick":
            yield simpler(plain, fault="raise@0", batch_size=2, shuffle=shuffle)
            yield simpler(plain, samples=11, world_size=3, fault="raise@4", details="second", shuffle=shuffle)
            if claims.workers:
                yield simpler(plain, num_workers=1, fault="raise@2", shuffle=shuffle)


def readers_killed(claims: Claims, tier: Tier) -> Iterator[Scenario]:
    """The process that reads is killed between two steps, or at the end, where workers may live on.

    Each worker has sent something by then: one that has just been started may not have been told what to look for.
    """
    # The smallest first: none of these is made smaller, as each orphan is waited for.
    for style in styles(claims):
        plain, few = Scenario(3, dataset=style, conduct="killed@1"), tier.name == "quick"
        if most := _most_workers(claims, style):
            yield simpler(plain, num_workers=1)
            # A pipe is full, and nobody empties it any more.
            yield simpler(plain, num_workers=1, kind="long")
            if not few:
                yield simpler(plain, num_workers=most, samples=12, conduct="killed@3")
                yield simpler(plain, num_workers=most, conduct="killed@3", persistent_workers=may_persist(claims))
        if claims.asynchronous:
            yield simpler(plain, asynchronous=True)
            if not few:
                yield simpler(plain, asynchronous=True, kind="long")
            if most and not few:
                yield simpler(plain, asynchronous=True, num_workers=1)


def _each_death(claims: Claims, style: Style, most: int) -> Iterator[Scenario]:
    """The first, the middle and the last worker, in their first step and in a later one: each knows other pipes."""
    for workers, places in ((most, (0, 2, 5)), *([(3, (1,))] if most > 1 else [])):
        plain = Scenario(7, num_workers=workers, epochs=2, dataset=style)
        yield from (simpler(plain, fault=f"kill@{place}") for place in places)
    yield Scenario(4, num_workers=most, epochs=2, dataset=style, fault="exit@0")
    idle = Scenario(6, num_workers=most, epochs=2, dataset=style, fault="idle@1")
    # Some keep their workers without being asked to.
    yield idle
    if "timeout" in claims.hooks and most > 1:
        yield _hanging_unseen(style, most)
    if may_persist(claims):
        lasting = simpler(idle, persistent_workers=True)
        yield from (lasting, simpler(lasting, fault="idle@0"), simpler(lasting, epochs=3, details="third"))


def _hanging_unseen(style: Style, most: int) -> Scenario:
    """A worker hangs over a step that nobody waits for any more."""
    return Scenario(6, num_workers=most, epochs=2, dataset=style, conduct="leave@1", fault="hang@1")


def _each_error(claims: Claims, tier: Tier) -> Iterator[Scenario]:
    """Each class of error, and the faults in later epochs, in the first and the last step, and in a rest."""
    for style in styles(claims):
        for num_workers in _workers(claims, style):
            plain = Scenario(5, batch_size=2, num_workers=num_workers, epochs=3, dataset=style)
            # Each with the first style; of another one, as at the quick tier, a few.
            few = tier.name == "quick" or style != styles(claims)[0]
            for word in A_FEW_ERRORS if few else ERRORS:
                yield simpler(plain, epochs=2, fault="raise@3", details=word)
            for place, when in ((0, "second"), (4, "second"), (2, "third"), (4, "")):
                yield simpler(plain, fault=f"raise@{place}", details=when)
            yield simpler(plain, fault="raise@4", drop_last=True)
            if style == "map" and claims.device_options and not few:
                # In the second micro-batch of a step: the first one goes with it.
                yield simpler(plain, samples=8, gradient_accumulation=2, fault="raise@6")
                yield simpler(
                    plain, samples=7, batch_size=1, replication_factor=2, device_iterations=2, fault="raise@6"
                )
            if style == "map" and claims.shuffle:
                # Under a shuffle the places of an epoch are not those of the next one.
                yield simpler(plain, shuffle=True, fault="raise@3")
                yield simpler(plain, samples=8, batch_size=3, shuffle=True, fault="raise@1", details="second")
            if not num_workers:
                yield from _each_base_error(claims, simpler(plain, epochs=2), few)
                if style == "map" and "collate_fn" in claims.hooks:
                    # Whoever calls it may take some of these for a mistake of his own call.
                    words = (*ERRORS, *ENDINGS) if not few else ("type",)
                    yield from (simpler(plain, epochs=2, fault="collate@3", details=word) for word in words)
            if claims.errors == "skip" and not few:
                # In each place of a step, and of the last one.
                yield from (simpler(plain, samples=6, batch_size=3, fault=f"raise@{place}") for place in range(6))
                if style == "map" and "collate_fn" in claims.hooks:
                    # A step of which nothing is left.
                    yield simpler(plain, samples=3, batch_size=1, fault="raise@1", details="strict")
            for fault in dict.fromkeys(_possible_faults(claims, num_workers, style)):
                if fault not in ("raise", "exit") and not few:
                    yield simpler(plain, fault=f"{fault}@{_place(fault, num_workers)}", details="second")


def _each_base_error(claims: Claims, plain: Scenario, few: bool) -> Iterator[Scenario]:
    """What is no Exception, in the rank's own process: a worker that it ends is gone in the middle of what it sends."""
    words = tuple(BASE_ERRORS)[: 1 if few else None]
    yield from (simpler(plain, fault="raise@3", details=word) for word in words)
    if not few and "collate" in _possible_faults(claims, 0, plain.dataset):
        yield simpler(plain, fault=f"collate@{_place('collate', 0)}", details="exits")


def _lives(claims: Claims, style: Style, tier: Tier) -> Iterator[Scenario]:
    """Each two things that a loader may live through, one after the other; with workers, each once at the least."""
    shuffle = style == "map" and claims.shuffle is not None
    # At the quick tier a few of them.
    for one, other in islice(product(LIVES, LIVES), 0, None, 5 if tier.name == "quick" else 1):
        fault = "raise@3" if "failed" in (one, other) else ""
        if one != other:
            yield _living(f"{one}+{other}", Scenario(6, batch_size=2, shuffle=shuffle, fault=fault, dataset=style))
    for word in ("left", "last", "begun"):
        yield _living("+".join([word] * 3), Scenario(5, batch_size=2, shuffle=shuffle, dataset=style))
    if tier.name != "quick":
        ahead = [Scenario(12, dataset=style, asynchronous=True)] if claims.asynchronous else []
        # So many at once that those who read ahead for all of them have too few hands.
        yield from (_living("+".join(["held"] * 5), each) for each in ahead)
        with_workers = [Scenario(12, num_workers=workers, dataset=style) for workers in _workers(claims, style)]
        yield from (_living("peeked", each) for each in (*with_workers, *ahead))
        # What nobody has taken from the second worker is of another epoch, however the epochs are told apart.
        left = _living("+".join(["left"] * 8), simpler(with_workers[-1], shuffle=shuffle))
        yield left
        if left.num_workers and may_persist(claims):
            yield simpler(left, persistent_workers=True)
        # More steps than are planned at a time: what an older iterator still has to plan is of its own epoch.
        yield _living("held", Scenario(300, shuffle=shuffle, dataset=style))
        # What comes is WORK-21's; here it is looked at what is left behind.
        for workers in _workers(claims, style):
            words = [*(["saved"] if claims.resume is True else []), "beside", *([] if workers else ["often"])]
            plain = Scenario(6, batch_size=2, num_workers=min(1, workers), shuffle=shuffle, dataset=style)
            yield _living("+".join(words), plain)


def _living(words: str, scenario: Scenario) -> Scenario:
    return simpler(scenario, conduct="lives", details=words, epochs=words.count("+") + 2)


def _persisting(claims: Claims, style: Style) -> Iterator[Scenario]:
    """Workers that live on, under everything that a consumer may do or that may go wrong."""
    most = _most_workers(claims, style)
    plain = Scenario(5, batch_size=2, num_workers=most, dataset=style, persistent_workers=True)
    for conduct in _LISTED:
        yield simpler(plain, epochs=2, conduct=f"{conduct}@1" if conduct in _PLACED else conduct)
    if style == "map":
        # So many tasks that a pool might begin another worker.
        yield simpler(plain, samples=1031, batch_size=1, num_workers=1, epochs=2, conduct="hooked", details="lasting")
    shuffle = style == "map" and claims.shuffle is not None
    yield simpler(plain, epochs=2, conduct="leave@3", shuffle=shuffle)
    if "timeout" in claims.hooks and most > 1:
        yield simpler(_hanging_unseen(style, most), persistent_workers=True)
    for fault in dict.fromkeys(_possible_faults(claims, most, style)):
        yield simpler(plain, epochs=3, fault=f"{fault}@{_place(fault, most)}")
    for words in (
        "left+last",
        "last+failed",
        "failed+left",
        "failed+held",
        "begun+left",
        "beyond+begun",
        "left+left+left",
    ):
        fault = "raise@3" if "failed" in words else ""
        yield _living(words, simpler(plain, samples=6, fault=fault, shuffle=shuffle))


def _kept(claims: Claims, style: Style) -> Iterator[Scenario]:
    """More steps than a ring has slots, and other values in the second epoch."""
    shuffle = style == "map" and claims.shuffle is not None
    for num_workers in _workers(claims, style):
        for batch_size in (1, 2):
            plain = Scenario(40, batch_size=batch_size, num_workers=num_workers, epochs=2, dataset=style)
            yield simpler(plain, conduct="kept", kind="aging")
            yield simpler(plain, conduct="hold@2", kind="aging")
            yield simpler(plain, conduct="hold@0", kind="aging", samples=9, batch_size=1, fault="raise@3")
        yield simpler(plain, conduct="kept", samples=37, shuffle=shuffle)
        # Large steps may have a ring of their own.
        for conduct in ("kept", "hold@2"):
            yield simpler(plain, conduct=conduct, samples=10, batch_size=1, kind="big")


def _most_workers(claims: Claims, style: Style) -> int:
    """How many workers a case of trouble has at the most.

    Where each of them gives all elements it is one, with which an epoch has each element once, as without workers; and
    none, where map-style datasets show the same.
    """
    if style == "map" or claims.iterable_workers == "split":
        return 2 if claims.workers else 0
    return int(claims.workers and claims.iterable_workers is not None and "map" not in claims.datasets)


def _place(fault: str, num_workers: int) -> int:
    """Where it happens: the last worker's initialiser, or the fourth of five samples."""
    return num_workers - 1 if fault == "init" else 3


def _workers(claims: Claims, style: Style) -> tuple[int, ...]:
    """The numbers of workers that are tried of everything."""
    return tuple(sorted({0, _most_workers(claims, style)}))


def styles(claims: Claims) -> tuple[Style, ...]:
    """The kinds of dataset that the loader reads."""
    every: tuple[Style, ...] = ("map", "iterable")
    return tuple(style for style in every if style in claims.datasets)


def _faults(dataset: Style) -> list[str]:
    """What a sample may do; the StopIteration of an iterable dataset is its end."""
    return [fault for fault in _FAULTS if fault != "stop" or dataset == "map"]


def _possible_faults(claims: Claims, num_workers: int, dataset: Style) -> tuple[str, ...]:
    hooks = [fault for hook, fault in _HOOK_FAULTS.items() if hook in claims.hooks]
    faults = _faults(dataset)
    if not num_workers:
        return (*faults, *(fault for fault in hooks if fault == "collate"))
    return (*faults, *_WORKER_FAULTS, *hooks)
