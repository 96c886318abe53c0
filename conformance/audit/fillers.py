"""One sample that fills the last steps: decides whether what came again is there to make all steps equally large.

A model that is compiled for one shape wants full steps. A sampler fills the last ones with one sample, again and again,
which is masked: no record tells that. The padding of torch's samplers repeats different ones.
"""

from collections.abc import Iterator

from conformance.audit.epochs import EpochView
from conformance.audit.finding import Finding
from conformance.trial.words import count


def judge(epoch: EpochView) -> Iterator[Finding]:
    """A note, if the one sample that came again fills the last step of every rank, and nothing is missing."""
    times = _times(epoch)
    if times:
        (name,) = epoch.names_again(1)
        text = f"sample {name} came {count(times, 'time')}, to fill the last step{'s' * (len(epoch.ranks) > 1)}"
        yield epoch.at_loop("note", "filler", f"{text}: right if what fills is masked, else it counts as often")


def _times(epoch: EpochView) -> int:
    """How often that sample came; 0 if this is something else."""
    rows = epoch.repeats.rows
    steps = {seen.steps for seen in epoch.ranks.values()}
    sizes = {size for seen in epoch.ranks.values() for size in seen.sizes}
    is_even = len(steps) == len(sizes) == 1 and epoch.whole and not epoch.view.by_content
    is_one = epoch.again == 1 == epoch.repeats.known and not epoch.histogram.get(0, 0)
    if not is_even or not is_one:
        return 0
    # It may be a sample of its own as well, which came in its place.
    before_the_last = int((rows[:, 5] < min(steps) - 1).sum())
    return len(rows) if before_the_last <= 1 and len(rows) > 2 else 0
