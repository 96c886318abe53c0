"""What is tried of restarts where something of the user's own decides the steps, and is handed over again as it was."""

from collections.abc import Iterator

from conformance.contract import Claims
from conformance.loader import generators, samplers
from conformance.loader.scenario import Scenario


def each_with_hooks(claims: Claims) -> Iterator[Scenario]:
    """A batch sampler whose lists differ in length, and a generator."""
    if "map" not in claims.datasets or not claims.in_order:
        return
    if "collate_fn" in claims.hooks:
        # In another process it has another address.
        yield Scenario(7, batch_size=2, epochs=2, conduct="save@1", details="collated")
    if samplers.HOOKS["batches"] in claims.hooks:
        # Behind steps that are larger than micro-batches, and smaller.
        for batch_size, place in ((1, 1), (3, 2)):
            yield Scenario(9, 1, batch_size, epochs=2, conduct=f"save@{place}", details="batches")
    if generators.HOOK in claims.hooks and claims.shuffle and claims.resume is True:
        # In a later epoch: in a new process the generator stands where it stood before the first.
        samples, word = generators.SAMPLES, generators.WORD
        yield Scenario(samples, batch_size=4, shuffle=True, epochs=3, conduct="save@2", details=word)
