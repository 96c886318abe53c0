"""Decides what the pipes do that torch has no more: `parse_csv`, `header`, `prefetch`, `fullsync`, the dispatch.

All others (`IterableWrapper`, `open_files`, `shuffle`, `sharding_filter`, `map`, ...) are torch's own. Importing this
module registers the functional forms, so that a chain reads as it did: `pipe.open_files().parse_csv()`.
"""

import csv
from collections.abc import Iterable, Iterator
from typing import Any

from torch.utils.data import IterDataPipe, MapDataPipe, functional_datapipe
from torch.utils.data.datapipes.iter.sharding import SHARDING_PRIORITIES

from .loading.faults import Failure
from .pipelines.fullsync import END, FAILURE, MORE, STEP, Agreement, Message, check_group, check_timeout, told
from .pipelines.messages import read_some
from .pipelines.prefetching import Ahead
from .rules.checks import check_integer, show

_AT_ONCE = 64  # the most elements that a rank reads before it agrees with the others


@functional_datapipe("parse_csv")
class CSVParser(IterDataPipe[Any]):
    """Yields the rows of CSV files as lists of strings. Each file comes as (path, stream), as `open_files` gives it."""

    def __init__(
        self,
        source_datapipe: IterDataPipe[Any],
        *,
        skip_lines: int = 0,
        decode: bool = True,
        encoding: str = "utf-8",
        errors: str = "strict",
        return_path: bool = False,
        as_tuple: bool = False,
        **fmtparams: Any,
    ) -> None:
        super().__init__()
        self.source_datapipe = source_datapipe
        self.skip_lines = check_integer("skip_lines", skip_lines, least=0)
        self.decode, self.encoding, self.errors = decode, encoding, errors
        self.return_path, self.as_tuple, self.fmtparams = return_path, as_tuple, fmtparams

    def __iter__(self) -> Iterator[Any]:
        for path, stream in self.source_datapipe:
            try:
                for row in csv.reader(self._lines(stream), **self.fmtparams):
                    parsed: Any = tuple(row) if self.as_tuple else row
                    yield (path, parsed) if self.return_path else parsed
            finally:
                if callable(getattr(stream, "close", None)):
                    stream.close()

    def _lines(self, stream: Iterable[Any]) -> Iterator[str]:
        for number, line in enumerate(stream):
            if number >= self.skip_lines:
                yield line.decode(self.encoding, self.errors) if self.decode and isinstance(line, bytes) else line


@functional_datapipe("header")
class Header(IterDataPipe[Any]):
    """Yields the first `limit` elements."""

    def __init__(self, source_datapipe: IterDataPipe[Any], limit: int | None = 10) -> None:
        super().__init__()
        self.source_datapipe = source_datapipe
        self.limit = None if limit is None else check_integer("limit", limit, least=0)

    def __iter__(self) -> Iterator[Any]:
        if self.limit == 0:
            return
        for number, element in enumerate(self.source_datapipe, 1):
            yield element
            # The next one is not read: reading may be dear.
            if number == self.limit:
                return


@functional_datapipe("prefetch")
class Prefetcher(IterDataPipe[Any]):
    """Yields the same elements in the same order, of which a thread reads up to `buffer_size` ahead."""

    def __init__(self, source_datapipe: IterDataPipe[Any], buffer_size: int = 10) -> None:
        super().__init__()
        self.source_datapipe = source_datapipe
        self.buffer_size = check_integer("buffer_size", buffer_size)
        self.ahead: Ahead | None = None

    def __iter__(self) -> Iterator[Any]:
        # Begun here and not in the thread: the source has one valid iterator, and this is it.
        ahead = self.ahead = Ahead(iter(self.source_datapipe), self.buffer_size)
        try:
            yield from ahead
        finally:
            ahead.end()

    def reset(self) -> None:
        """End the thread of an iteration that a new one takes the place of."""
        if self.ahead is not None:
            self.ahead.end()
        self.ahead = None

    def __getstate__(self) -> Any:
        return _without(self, ahead=None)


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

    def __getstate__(self) -> Any:
        return _without(self, agreement=None)


def _read_some(source: Iterator[Any], ready: list[Any]) -> tuple[int, Failure | None]:
    """Read elements until there are many, or some time has passed; at least one. Return what stands behind them."""
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


class MapToIter(IterDataPipe[Any]):
    """The elements 0, 1, ... of a map-style pipe."""

    def __init__(self, source_datapipe: MapDataPipe[Any]) -> None:
        super().__init__()
        self.source_datapipe: Any = source_datapipe

    def __iter__(self) -> Iterator[Any]:
        yield from (self.source_datapipe[index] for index in range(len(self.source_datapipe)))


def _without(pipe: IterDataPipe[Any], **instead: Any) -> Any:
    """The state of a pipe to copy: what belongs to one process stays there."""
    state = {**vars(pipe), **instead}
    return IterDataPipe.getstate_hook(state) if IterDataPipe.getstate_hook is not None else state
