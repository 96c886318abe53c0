"""What is tried of restarts where ranks don't share the samples evenly, so that no rank's count is that of all."""

from collections.abc import Iterator

from conformance.contract import Claims
from conformance.loader.scenario import Scenario, Style, simpler


def each_of_uneven_ranks(style: Style, claims: Claims) -> Iterator[Scenario]:
    """A state of a later epoch, which counts those before it, and one of the end, which is not at one step for all."""
    # By the third epoch, what is padded or dropped in each adds up to a step of all ranks.
    later = Scenario(3, 2, epochs=4, dataset=style, conduct="save@1")
    yield later
    yield simpler(later, samples=5, drop_last=True)
    # Behind the state, set_epoch() would say which epoch comes. Where nothing is claimed, it must be called.
    details = {"automatic": "", "set_epoch": "unset"}.get(claims.epochs or "", "inside")
    yield Scenario(3, 2, epochs=2, dataset=style, conduct="save@3", details=details)
