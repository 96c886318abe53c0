"""What the clauses of chapters 1 to 3, and those of iterable datasets, promise once they hold, weakest first."""

from collections.abc import Iterator

from conformance.contract import Claims, Policy

# Requests of chapter 11, of which other clauses say what is lost and what comes again.
_CHOSEN = {"grouped": "groups", "budget": "budget", "at_least": "least size"}


def promises(claims: Claims, held: frozenset[str]) -> Iterator[str]:
    """What may be relied on, in plain words."""
    yield from _delivery(claims, held)
    yield from _steps(claims, held)
    yield from _endings(held)
    yield from _order(claims, held)


def _delivery(claims: Claims, held: frozenset[str]) -> list[str]:
    # PART clauses are judged on unshuffled epochs; ORDER-3 and ORDER-4 carry them over to shuffled ones.
    scope = plain_requests(claims) + ("" if {"ORDER-3", "ORDER-4"} <= held else "unshuffled, ")
    keeping = list(_delivered_when_keeping(claims.when_keeping, held))
    dropping = list(_delivered_when_dropping(claims.when_dropping, held))
    # Nobody must read the one promise as one for both.
    found = [(strength, f"{scope}without drop_last {words}") for strength, words in keeping]
    found += [(strength, f"{scope}with drop_last {words}") for strength, words in dropping]
    # STREAM-4 carries the promises of iterable datasets over to shuffled ones.
    scope = "unshuffled, " if claims.stream_shuffle and "STREAM-4" not in held else ""
    iterable = [f"iterable: {scope}{words}" for words in _delivered_of_iterables(claims, held)]
    return [*(words for _, words in sorted(found, key=lambda pair: pair[0])), *iterable]


def plain_requests(claims: Claims) -> str:
    """``asked for no groups, ``: which requests the promises are about, where others lose and repeat by other rules."""
    others = [_CHOSEN[each] for each in claims.batches] + ["sources"] * bool(claims.mixtures)
    return f"asked for no {' or '.join(others)}, " if others else ""


def _delivered_when_keeping(policy: Policy | None, held: frozenset[str]) -> Iterator[tuple[int, str]]:
    if policy == "pad" and {"PART-2", "PART-4"} <= held:
        yield 0, "delivers at least once (pads up to world size - 1 samples, or to full last steps)"
    elif policy == "drop" and {"PART-1", "PART-3"} <= held:
        yield 1, "delivers at most once (drops up to world size - 1 samples)"
    elif policy in ("uneven", "once") and {"PART-1", "PART-2"} <= held:
        yield 2, "delivers exactly once"
    elif policy in ("pad", "uneven", "once") and "PART-2" in held:
        yield 0, "delivers at least once"
    elif policy in ("drop", "uneven", "once") and "PART-1" in held:
        yield 1, "delivers at most once"


def _delivered_when_dropping(policy: Policy | None, held: frozenset[str]) -> Iterator[tuple[int, str]]:
    # Under "pad" a sample may come twice and another one not at all: neither once at least nor once at most.
    if policy in ("drop", "uneven", "once") and "PART-1" in held:
        bound = " (drops less than one step of all ranks)" if "PART-3" in held else ""
        yield 1, f"delivers at most once{bound}"
    elif policy is not None and "PART-3" in held:
        yield 0, "drops less than one step of all ranks"


def _delivered_of_iterables(claims: Claims, held: frozenset[str]) -> Iterator[str]:
    splits = claims.iterable_workers == "split"
    if "WORK-4" in held:
        yield "every element once from each worker"
    elif "WORK-3" in held:
        # WORK-3 lets drop_last lose what it likes, and WORK-5 bounds that.
        if "WORK-5" in held:
            yield f"with drop_last at most once ({'each worker ' if splits else ''}drops less than one step)"
        # A loader that does not claim "split" is asked for one rank without workers only.
        where = "over workers and ranks" if splits else "on one rank without workers"
        yield f"without drop_last every element exactly once {where}"


def _steps(claims: Claims, held: frozenset[str]) -> Iterator[str]:
    # COUNT-5 is judged only where ranks are to be equal.
    policies = {"with drop_last": claims.when_dropping, "without drop_last": claims.when_keeping}
    equal = {name: policy in ("drop", "pad") for name, policy in policies.items()}
    if "COUNT-5" in held and any(equal.values()):
        where = "" if all(equal.values()) else f" {next(name for name in equal if equal[name])}"
        yield f"equal steps on every rank{where}"
    if "PART-6" in held and claims.when_keeping == "uneven":
        yield "without drop_last ranks differ by at most one sample"


def _endings(held: frozenset[str]) -> Iterator[str]:
    if {"COUNT-6", "COUNT-7"} <= held:
        yield "every epoch ends"


def _order(claims: Claims, held: frozenset[str]) -> Iterator[str]:
    if {"PART-7", "ORDER-5", "ORDER-9"} <= held:
        yield "deterministic per (seed, epoch)"
    elif "PART-7" in held:
        yield "the same unshuffled shard every time"
    if "ORDER-8" in held:
        yield "whatever the number of workers"
    if {"ORDER-12", "ORDER-13"} <= held:
        yield "shuffled uniformly over all ranks"
