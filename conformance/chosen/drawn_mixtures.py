"""What is tried of mixtures: sources of some sizes and weights, with each stopping rule that is claimed."""

from collections.abc import Iterator
from dataclasses import replace

from hypothesis import strategies as st

from conformance.chosen.scenario import MORE_THAN_A_BYTE, ChosenScenario
from conformance.contract import LARGEST_SEED, Claims
from conformance.trial.tiers import Tier
from conformance.trial.words import joined, words_of

_ORDER = ("all", "weighted", "saved", "late", "inside", "retold")
_RULES = {"first_exhausted": "", "all_exhausted": "all"}


def _resumes(claims: Claims, shuffle: bool) -> bool:
    return bool(claims.resume) and not (shuffle and claims.resume == "unshuffled")


@st.composite
def mixtures(draw: st.DrawFn, claims: Claims) -> ChosenScenario:
    """Two to four sources of a few samples each."""
    parts = draw(st.integers(2, 4))
    shuffle = draw(st.booleans()) if claims.shuffle else False
    words = [_RULES[draw(st.sampled_from(claims.mixtures))], draw(st.sampled_from(("", "weighted")))]
    saves = _resumes(claims, shuffle) and draw(st.integers(0, 3)) == 0
    epochs = 1 if saves else draw(st.integers(1, 2))
    variants = ("none", "again", *(("jump",) if claims.epochs == "set_epoch" and epochs > 1 else ()))
    return ChosenScenario(
        draw(st.integers(parts, 5 * parts)),
        "mixture",
        draw(st.integers(1, 3)),
        draw(st.integers(1, 3)),
        draw(st.booleans()),
        shuffle,
        parts=parts,
        num_workers=draw(st.sampled_from((0, 0, 0, 0, 0, 0, 0, 2))) if claims.workers else 0,
        epochs=epochs,
        details=joined({*words, "saved" if saves else ""} - {""}, ("all", "weighted", "saved")),
        variant="none" if saves else draw(st.sampled_from(variants)),
    )


def a_few_mixtures(claims: Claims, tier: Tier) -> Iterator[ChosenScenario]:
    """Large ones, of which proportions can be seen; and small ones, each with a rest."""
    shuffles = (False, True) if claims.shuffle else (False,)
    for rule in claims.mixtures:
        for weighted in ("", "weighted"):
            details = _told(_RULES[rule], weighted)
            for shuffle in shuffles:
                small = ChosenScenario(11, "mixture", 2, 2, shuffle=shuffle, parts=3, epochs=2, details=details)
                yield small
                yield replace(small, world_size=1, variant="again")
                large = ChosenScenario(600, "mixture", batch_size=8, shuffle=shuffle, parts=3, details=details)
                yield large
                yield replace(large, world_size=2, drop_last=True, epochs=2, variant="seed+1" if shuffle else "again")
                if shuffle and not weighted:
                    # Who has one stopping rule alone is asked often enough, too.
                    yield replace(large, batch_size=7, epochs=2, variant="seed+1")
                if _resumes(claims, shuffle):
                    yield from _restarted(details, shuffle, claims)
        if tier.name != "quick":
            yield from _unusual(_RULES[rule], claims)


def _told(*words: str) -> str:
    return "+".join(filter(None, words))


def _unusual(rule: str, claims: Claims) -> Iterator[ChosenScenario]:
    """A source that is drawn from once in a thousand times; unlike ones; many; shares whose sum is not quite 1."""
    shuffle = claims.shuffle is not None
    rare = _told(rule, "rare")
    # Until all are exhausted each sample of it takes a thousand of others; else it is asked for its share.
    samples, batch_size = (4, 8) if rule else (37_000, 64)
    yield ChosenScenario(samples, "mixture", 1, batch_size, shuffle=shuffle, parts=2, details=rare)
    if not rule:
        yield ChosenScenario(samples, "mixture", 1, batch_size, shuffle=shuffle, parts=2, details="rarest")
    for weighted in ("", "weighted"):
        details = _told(rule, weighted, "unlike")
        yield ChosenScenario(1200, "mixture", 1, 8, shuffle=shuffle, parts=3, details=details)
    for ranks, parts in ((2, 6), (2, 10), (1, MORE_THAN_A_BYTE)):
        yield ChosenScenario(3 * parts, "mixture", ranks, 2, shuffle=shuffle, parts=parts, details=rule)
    if shuffle:
        seed = LARGEST_SEED
        yield ChosenScenario(11, "mixture", 2, 2, shuffle=True, parts=3, epochs=2, seed=seed, details=rule)


def _restarted(details: str, shuffle: bool, claims: Claims) -> Iterator[ChosenScenario]:
    """The first epoch stopped at two places; shuffled, a later one too, which has draws of its own."""
    cases = [(2, 3, 1, "saved"), (1, 2, 1, "saved"), (1, 2, 1, "late"), (1, 3, 1, "late")]
    cases += [(1, 2, 2, "saved")] if shuffle else []
    if claims.epochs != "automatic":
        cases += [(1, 2, 2, "saved+inside")] if shuffle else []
        cases += [(1, 2, 1, "saved+retold"), (1, 2, 1, "saved+inside+retold")]
    for ranks, parts, epochs, more in cases:
        words = joined({*words_of(details), *words_of(more)}, _ORDER)
        yield ChosenScenario(11, "mixture", ranks, 1, shuffle=shuffle, parts=parts, epochs=epochs, details=words)
    if "all" in words_of(details):
        yield from _begun_again(details, shuffle)


def _begun_again(details: str, shuffle: bool) -> Iterator[ChosenScenario]:
    """Small sources of like size, by several seeds: one has often begun again where another has not been through."""
    words = joined({*words_of(details), "late"}, _ORDER)
    weighted = "weighted" in words_of(details)
    for samples, parts, seeds in ((7, 2, 4),) if weighted else ((7, 2, 8), (8, 2, 3), (6, 3, 3)):
        for seed in range(seeds):
            yield ChosenScenario(samples, "mixture", 1, 1, shuffle=shuffle, parts=parts, seed=seed, details=words)
