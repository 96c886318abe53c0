"""Decides how a pipeline becomes a loader: one epoch for each iterator, one valid iterator, and an end.

An epoch begins with the first `next()` of its iterator. Its seed is hashed from what `seed(n)` said and the number of
epochs that were begun since. Without a seed it is drawn from torch's global generator, as torch's DataLoader does: so
`torch.manual_seed(n)` before an epoch fixes its order, and epochs differ although nobody draws in between.

    reads      iter()                   resume()
    running    valid, others are not    -
    paused     ends any `for`           goes on where it stopped
    over       StopIteration, always    -
    shut down  RuntimeError             RuntimeError
"""

import copy
import weakref
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any

from torch.utils.data import IterDataPipe, MapDataPipe

from .datapipes import MapToIterConverter
from .pipelines.adapters import Shuffle
from .pipelines.beginning import begun, checked
from .pipelines.fullsync import told
from .pipelines.graph import Pipe, Place, check_sharding, copied, place_of, ready_for_steps, shard, shards, walk
from .pipelines.merged import Merged
from .pipelines.messages import close
from .pipelines.seeds import MOST_SEED, SeedGenerator, found_here, hashed, number_pipes
from .pipelines.services import begin_iteration, check_service, finalize, graph_of
from .pipelines.states import Position, check_place, graph_in, position_in, shape_of, skip, written
from .reading_service import InProcessReadingService
from .rules.checks import check_integer, show

__all__ = ["DataLoader2", "DataLoader2Iterator", "Shuffle"]


class DataLoader2:
    """Iterates a pipeline as its reading service says. Each iterator is one epoch; the newest one is valid."""

    def __init__(
        self,
        datapipe: Any,
        datapipe_adapter_fn: Callable[[Any], Any] | Sequence[Callable[[Any], Any]] | None = None,
        reading_service: Any = None,
    ) -> None:
        if isinstance(datapipe, MapDataPipe):
            datapipe = MapToIterConverter(datapipe)
        if not isinstance(datapipe, IterDataPipe):
            wrap = "wrap what you have in torch.utils.data.datapipes.iter.IterableWrapper"
            fix = "DataLoader2.from_state(state) makes a loader of a state" if datapipe is None else wrap
            raise TypeError(f"datapipe is {show(datapipe)}, but the end of a graph of DataPipes is wanted: {fix}.")
        pipe: Any = copied(datapipe)
        adapters = [datapipe_adapter_fn] if callable(datapipe_adapter_fn) else datapipe_adapter_fn or []
        for adapt in adapters:
            pipe = checked(adapt(pipe), f"The adapter {show(adapt)}")
        # PIPE-18: here, and not in a worker where nobody would hear of it.
        check_sharding(pipe)
        number_pipes(pipe, afresh=True)
        ready_for_steps(pipe)
        self.datapipe = pipe
        # A service belongs to one loader; the one that was given may serve others too.
        self.reading_service = InProcessReadingService() if reading_service is None else copy.deepcopy(reading_service)
        check_service(self.reading_service)
        self._is_initialised = False
        self._place = Place()
        # As it was before the service took it apart.
        self._original: Pipe = None
        self._seed: int | None = None
        self._epoch = 0
        self._newest = 0
        self._epoch_seed: int | None = None
        self._read = 0
        self._begun_by = 0
        self._rest: Position | None = None
        self._elements: Iterator[Any] | None = None
        self._bind_end()

    def _bind_end(self) -> None:
        # PIPE-17: also where nobody refers to the loader any more, and when the program ends.
        self._end = weakref.finalize(self, finalize, self.reading_service, "its loader was given up")

    def __getstate__(self) -> dict[str, Any]:
        """What a copy is made from, here or in another process, before the first epoch."""
        self._check_alive()
        if self._is_initialised:
            raise TypeError(
                "A DataLoader2 that has begun can't be copied, as its workers can't: copy it before the first epoch, "
                "or give state_dict() to another one."
            )
        own = {"datapipe": copied(self.datapipe), "reading_service": copy.deepcopy(self.reading_service)}
        return {name: value for name, value in vars(self).items() if name != "_end"} | own

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        # What was noted on torch's pipes does not travel with them.
        number_pipes(self.datapipe, afresh=True)
        ready_for_steps(self.datapipe)
        self._bind_end()

    def seed(self, seed: int) -> None:
        """Let the epochs that follow be those of this seed, from its first one. 0 to 2**64 - 1."""
        self._check_alive()
        # PIPE-8
        number = check_integer("seed", seed, least=0, most=MOST_SEED)
        # RESUME-1: who sets the seed in every epoch says it again for the one that was stopped.
        if self._rest is not None and self._rest.is_first_of(number):
            return
        self._seed, self._epoch, self._rest = number, 0, None

    def __iter__(self) -> "DataLoader2Iterator":
        self._check_alive()
        self._newest += 1
        return DataLoader2Iterator(self, self._newest)

    def _begin(self) -> Iterator[Any]:
        """Begin an epoch; what is left of another one is dropped."""
        self._leave()
        if not self._is_initialised:
            self._original = shape_of(self.datapipe)
            self.datapipe = graph_of(self.reading_service, self.datapipe)
            self._place = place_of(self.datapipe)
            shard(self.datapipe, self._place, 1, 0)
            self._is_initialised = True
        rest, self._rest = self._rest, None
        if rest is not None:
            check_place(rest, self._place.world_size)
            seed = rest.epoch_seed
        else:
            # PIPE-5, PIPE-6: the epoch is hashed with the seed; without a seed, one is drawn.
            seed = None if self._seed is None else hashed(self._seed, self._epoch)
            self._epoch += 1
        seeds = SeedGenerator(seed, self._place)
        self._epoch_seed, self._begun_by = seeds.epoch_seed, self._newest
        seeds.workers_share = any(shards(pipe) and Merged.stand_in(pipe) for pipe in walk(self.datapipe))
        change = begin_iteration(self.reading_service, seeds, None)
        pipe = begun(self.datapipe, seeds, [change], found_here)
        shard(pipe, self._place, 1, 0)
        self._elements = iter(pipe)
        if rest is not None:
            # RESUME-1, RESUME-5: what was delivered counts, whichever process delivered it.
            skip(self._elements, rest.read)
            self._read = rest.read
        return self._elements

    def state_dict(self) -> dict[str, Any]:
        """Where the consumer stands, for `load_state_dict` of a loader of the same pipeline, services and ranks.

        After some elements it is a place within the epoch; at the end of one, and before the first, the next epoch.
        """
        self._check_alive()
        if self._rest is not None:
            position = self._rest
        elif self._elements is not None and self._begun_by == self._newest:
            position = Position(self._seed, self._epoch, self._epoch_seed, self._read, self._place.world_size)
        else:
            # RESUME-4
            position = Position(self._seed, self._epoch)
        return written(position, self._original if self._is_initialised else self.datapipe)

    def load_state_dict(self, state: Any) -> None:
        """Let the next iterator go on where the state was taken. An epoch that is going on here is left.

        `seed(n)` says the seed of that epoch again, or starts over with another one.
        """
        self._check_alive()
        position = position_in(state)
        self._leave()
        self._newest += 1
        self._seed, self._epoch = position.seed, position.epoch
        self._rest = position if position.epoch_seed is not None else None

    @classmethod
    def from_state(cls, state: Any, reading_service: Any = None) -> "DataLoader2":
        """A loader of the pipeline that is in the state, adapted already, that goes on where it was taken."""
        position_in(state)
        loader = cls(graph_in(state), reading_service=reading_service)
        loader.load_state_dict(state)
        return loader

    def _leave(self) -> None:
        self._epoch_seed, self._read = None, 0
        if self._elements is not None:
            elements, self._elements = self._elements, None
            close(elements)
            self.reading_service.finalize_iteration()

    def shutdown(self, reason: str = "it was shut down") -> None:
        """Leave nothing running. May be called any number of times; the loader can't be used after it."""
        if self._end.detach() is not None:
            # Of no iterator: each of them looks at it in every step, and at nothing else.
            self._newest = 0
            try:
                self._leave()
            finally:
                finalize(self.reading_service, reason)

    def _check_alive(self) -> None:
        if not self._end.alive:
            # PIPE-17
            raise RuntimeError(
                "The loader has been shut down, by shutdown() or by an error in an epoch: make a new DataLoader2."
            )

    def __enter__(self) -> "DataLoader2":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shutdown()


class DataLoader2Iterator:
    """One epoch. It refers to its loader, which therefore lives as long as somebody iterates."""

    def __init__(self, loader: DataLoader2, number: int) -> None:
        self.dataloader, self.number = loader, number
        self.elements: Iterator[Any] | None = None
        self.is_over = False
        self.is_paused = False
        self._limit: int | None = None
        self._rest = 0

    def __iter__(self) -> "DataLoader2Iterator":
        return self

    def __next__(self) -> Any:
        if self.number != self.dataloader._newest:
            self._check()
        if self.is_over or self.is_paused:
            raise StopIteration
        try:
            if self.elements is None:
                self.elements = self.dataloader._begin()
            element = next(self.elements)
        except StopIteration:
            self.is_over = True
            self.dataloader._leave()
            raise
        except BaseException as error:
            # What is left of the epoch is of no use, and other ranks must not wait for it.
            self.dataloader.shutdown(told(error))
            raise
        self.dataloader._read += 1
        if self._limit is not None:
            self._rest -= 1
            self.is_paused = self._rest == 0
        return element

    def __getattr__(self, name: str) -> Any:
        """What this iterator has not is looked for on the pipe that is iterated, as on an iterator of torch's pipes."""
        if name.startswith("_") or "dataloader" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}.")
        return getattr(self.dataloader.datapipe, name)

    def _check(self) -> None:
        self.dataloader._check_alive()
        if self.number != self.dataloader._newest:
            # PIPE-16
            raise RuntimeError(
                "This iterator is not valid any more, because a newer one was made from the same loader: use that one, "
                "or make another DataLoader2."
            )

    def limit(self, num_batches: int | None) -> None:
        """Pause whenever that many more elements were yielded, until `resume`; None for no limit."""
        self._limit = None if num_batches is None else check_integer("num_batches", num_batches)
        self._rest = self._limit or 0

    def pause(self) -> None:
        """Yield nothing until `resume`. Workers stop when they are as far ahead as they may be."""
        self._check()
        self.is_paused = True

    def resume(self) -> None:
        """Go on with the element after the last one."""
        # PIPE-19
        self._check()
        self.is_paused = False
        self._rest = self._limit or 0
