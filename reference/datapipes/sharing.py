"""Decides how pipes share elements out: so that ranks end together (`fullsync`), and by one process (the dispatch)."""

from collections.abc import Iterator
from typing import Any

from torch.utils.data import IterDataPipe, functional_datapipe
from torch.utils.data.datapipes.iter.sharding import SHARDING_PRIORITIES

from ..loading.faults import Failure
from ..pipelines.fullsync import END, FAILURE, MORE, STEP, Agreement, Message, check_group, check_timeout, told
from ..pipelines.messages import read_some
from ..rules.checks import show
from .base import without

_AT_ONCE = 64  # the most elements that a rank reads before it agrees with the others


@functional_datapipe("fullsync")
class FullSync(IterDataPipe[Any]):
    """Yields on every rank as many elements as the rank has that has the fewest. A failing rank makes all fail."""

    def __init__(self, datapipe: IterDataPipe[Any], timeout: float = 1800) -> None:
        super().__init__()
        self.datapipe = datapipe
        self.timeout = check_timeout(timeout)
        self.agreement: Agreement | None = None
        self.epoch = -1

    def is_replicable(self) -> bool:
        """It speaks for its rank, so there is one of it in each."""
        return False

    def __iter__(self) -> Iterator[Any]:
        check_group()
        if self.agreement is None:
            self.agreement = Agreement(self.timeout)
        self.agreement.open()
        self.epoch += 1
        if self.agreement.world_size == 1:
            yield from self.datapipe
            return
        source, ready, state, failure = iter(self.datapipe), list[Any](), MORE, None
        while True:
            if not ready and state == MORE:
                state, failure = _read_some(source, ready)
            text = told(failure.error) if failure else ""
            said = self.agreement.exchange(Message(STEP, self.epoch, len(ready), state, text))
            least = min(message.value for message in said)
            # PIPE-11: what one rank has not, nobody yields.
            yield from ready[:least]
            del ready[:least]
            _raise_failure(said, least, self.agreement.rank, failure)
            if any(message.state == END and message.value == least for message in said):
                return

    def pause(self) -> None:
        """Nothing runs ahead here that could be stopped: elements are read when they are asked for."""

    def resume(self) -> None:
        """The other half of `pause`."""

    def __getstate__(self) -> Any:
        return without(self, agreement=None)


def _read_some(source: Iterator[Any], ready: list[Any]) -> tuple[int, Failure | None]:
    """Read elements until there are many, or some time has passed; at least one. Return what stands after them."""
    try:
        read_some(ready, source, _AT_ONCE)
    except StopIteration:
        return END, None
    except Exception as error:
        return FAILURE, Failure(error, "before fullsync")
    return MORE, None


def _raise_failure(said: list[Message], least: int, own: int, failure: Failure | None) -> None:
    """Raise if a rank has failed where the others would go on; at its own place the rank's own error."""
    # PIPE-12: after the same number of elements everywhere.
    failed = [rank for rank, each in enumerate(said) if each.state == FAILURE and each.value == least]
    if own in failed and failure is not None:
        raise failure.error
    if failed:
        raise RuntimeError(
            f"Rank {failed[0]} has failed, so every rank ends its epoch here. It said: {said[failed[0]].text}"
        )


@functional_datapipe("sharding_round_robin_dispatch")
class ShardingRoundRobinDispatcher(IterDataPipe[Any]):
    """Lets one process run what stands before it, and give element j to worker j mod W. Alone it changes nothing."""

    dispatches = True

    def __init__(
        self,
        source_datapipe: IterDataPipe[Any],
        sharding_group_filter: SHARDING_PRIORITIES = SHARDING_PRIORITIES.MULTIPROCESSING,
    ) -> None:
        super().__init__()
        if sharding_group_filter != SHARDING_PRIORITIES.MULTIPROCESSING:
            raise NotImplementedError(
                f"sharding_group_filter is {show(sharding_group_filter)}, but elements can be dispatched to workers "
                f"only: give SHARDING_PRIORITIES.MULTIPROCESSING, and let a sharding_filter before it share over ranks."
            )
        self.source_datapipe = source_datapipe
        self.sharding_group_filter = sharding_group_filter

    def __iter__(self) -> Iterator[Any]:
        yield from self.source_datapipe

    def __len__(self) -> int:
        return len(self.source_datapipe)
