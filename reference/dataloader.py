"""Decides what a step of the loader is: torch's DataLoader, asked for the samples of whole combined batches.

Starting workers and handing out work to them is torch's. Which samples come in which step and order is ours
(`rules/sampler.py`), and so is, in `loading/`, how the options become a request (`request.py`), collating
(`collate.py`), the state in which a worker begins (`worker.py`), errors (`faults.py`), ends (`passes.py`,
`processes.py`) and restarts (`restarts.py`). In the modes Async and AsyncRebatched the workers are not torch's: they
fill a ring of shared memory ahead of the consumer (`ahead/asynchronous.py`), with the same steps.

Epochs. Each `iter(loader)` begins the next epoch, from 0 on; `set_epoch(n)` makes the next one epoch n. With
`options.randomSeed` the order is a pure function of (seed, epoch), on one rank as on many. Without it a
shuffle, which then must be on one rank, follows a seed of its own that is drawn once, at construction, from
torch's global generator (or from `generator=`): other loaders have other orders, and `torch.manual_seed`
before makes it repeat.

Random state. Only that one draw touches a global generator. torch's DataLoader would draw a seed for its
workers from it in every epoch; ours gets a generator made of (seed, epoch, rank). Without a random seed
`torch.initial_seed()`, which is read and not drawn, takes its place.
"""

import copy
import warnings
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

import torch
import torch.utils.data

from .ahead.asynchronous import Work, check_mode, consumer_of, rebatched_length, rebatching, settings_of
from .ahead.consumer import Consumer
from .enums import DataLoaderMode
from .loading.collate import collate, convert
from .loading.faults import Collating, Source
from .loading.passes import Pass
from .loading.processes import EndingWithReader, Workers
from .loading.request import count_own_steps, make_request, torch_arguments, warning
from .loading.restarts import Counted, Position, counted_in, position_of, state_of
from .loading.worker import NextEpoch, Starting
from .options.options import Options
from .rules.choosing import ChosenBatches
from .rules.sampler import CombinedBatchSampler
from .rules.shuffle import check_epoch, worker_seed
from .rules.streams import begin_epoch


class DataLoader(torch.utils.data.DataLoader[Any]):
    """Yields the combined batches of this process; see the module docstring.

    Its own public names, beyond torch's: `combinedBatchSize` (N), `options`, `terminate()`, `set_epoch(n)`,
    `state_dict()`, `load_state_dict(state)`.
    A loader freezes its options. Bad arguments raise TypeError, ValueError, NotImplementedError or, for a
    shuffle over several processes without a random seed, AssertionError; each says what to do.
    """

    def __init__(
        self,
        options: Options,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        num_workers: int = 0,
        drop_last: bool = True,
        persistent_workers: bool | None = None,
        auto_distributed_partitioning: bool = True,
        mode: DataLoaderMode = DataLoaderMode.Sync,
        async_options: dict[str, Any] | None = None,
        rebatched_worker_size: int | None = None,
        batch_sampler: Iterable[list[int]] | None = None,
        **kwargs: Any,
    ) -> None:
        """Prepare the epochs; `kwargs` go to torch's DataLoader as they are."""
        check_mode(mode, async_options, rebatched_worker_size)
        generator = kwargs.pop("generator", None)
        asked = make_request(
            options,
            dataset,
            batch_size,
            shuffle,
            num_workers,
            drop_last,
            auto_distributed_partitioning,
            batch_sampler,
            kwargs,
        )
        self._options = options
        self._combined_batch_size = asked.combined_batch
        self._epoch = 0
        self._position = Position(0)
        self._base_seed = _base_seed(options, shuffle, generator)
        self._worker_seed = 0
        self._passes: weakref.WeakSet[Pass] = weakref.WeakSet()
        self._asked = asked
        arguments, self._steps = torch_arguments(asked, self._base_seed)
        if kwargs.get("collate_fn") is None:
            kwargs["collate_fn"] = convert if asked.is_unbatched else collate
        persistent = asked.workers > 0 if persistent_workers is None else persistent_workers
        super().__init__(dataset, num_workers=asked.workers, persistent_workers=persistent, **arguments, **kwargs)
        # torch leaves these two out when it is given whole steps, but readers of a loader expect them.
        self.__dict__.update(batch_size=asked.combined_batch, drop_last=asked.drop_last)
        options._freeze()
        surprise = warning(asked, self._steps)
        if surprise is not None:
            warnings.warn(surprise, UserWarning, stacklevel=2)
        self.mode = mode
        self._consumer: Consumer | None = None
        if mode is not DataLoaderMode.Sync:
            order = self.sampler if self.batch_sampler is None else self.batch_sampler
            work = Work(asked, self.collate_fn, self.worker_init_fn, self._base_seed, self._steps, order)
            settings = settings_of(async_options, asked.workers, self.timeout)
            if self._is_rebatched:
                self._consumer = rebatching(work, settings, rebatched_worker_size, DataLoader)
            else:
                self._consumer = consumer_of(work, settings)
            if not work.has_own_order:
                self._consumer.preload(self._epoch)

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        epoch = check_epoch(self._epoch)
        self._epoch = epoch + 1
        # RESUME-2: what was skipped is skipped once.
        skipped = self._position.steps if not self._position.is_begun else 0
        self._position = Position(epoch, skipped, is_begun=True)
        return Counted(self._begun(epoch, skipped), self._position)

    def _begun(self, epoch: int, skipped: int) -> Iterator[Any]:
        """Return an epoch that begins after this many of its steps."""
        if self._steps is not None and self._consumer is None:
            self._steps.epoch, self._steps.first = epoch, skipped
            return self._pass(epoch)
        self._tell_batches(epoch)
        made = self._pass(epoch) if self._consumer is None else self._consumer.begin(epoch)
        # The order is not ours, or the ring has begun it already: to get what follows, what comes before is read.
        for _ in range(skipped):
            next(made, None)
        return made

    def _tell_batches(self, epoch: int) -> None:
        """Tell batches that are cut anew in each epoch which one comes."""
        if isinstance(self._asked.batch_sampler, ChosenBatches):
            self._asked.batch_sampler.epoch = epoch

    def _pass(self, epoch: int) -> Pass:
        # ORDER-8, WORK-1: workers fetch what the sampler names, and torch hands it over in the sampler's order.
        # ORDER-10, ORDER-11: torch draws a seed from this generator, not from its global one.
        self._worker_seed = worker_seed(self._base_seed, epoch, self._options.Distributed.processId)
        self.generator = torch.Generator().manual_seed(self._worker_seed)
        # WORK-12, WORK-13, WORK-21: each pass is an epoch of its own, whatever became of the one before.
        begin_epoch(self.dataset, epoch)
        made = Pass(self._persistent_source(epoch) if self.persistent_workers else super().__iter__())
        self._passes.add(made)
        return made

    def _persistent_source(self, epoch: int) -> Any:
        """Return torch's iterator over the persistent workers, or over new ones while those are in use."""
        workers = self._iterator
        if not isinstance(workers, Workers):
            return super().__iter__()
        if any(each.source is workers for each in self._passes):
            # WORK-13: torch would restart the iterator that is still in use; this one gets workers of its own.
            return self._get_iterator()
        if not workers.is_usable():
            # WORK-14: after an error, or if a worker has died in between, new ones take over.
            workers.kill()
            self._iterator = None
            return super().__iter__()
        workers._shared_seed = NextEpoch(self._worker_seed, epoch)
        try:
            return super().__iter__()
        except Exception as error:
            # WORK-14: they did not answer.
            death = workers.death(error)
            workers.kill()
            self._iterator = None
            if death is None:
                raise
            raise death from error

    def _get_iterator(self) -> Any:
        # torch reads a loader's attributes when it makes an iterator. What it reads, and its workers run, are
        # wrappers; the loader itself shows what the user gave.
        twin = copy.copy(self)
        # A data pipe has ways of its own to be seeded and split, which torch looks for in its type; but torch can't
        # read the batches of a step that are kept apart.
        is_pipe = isinstance(self.dataset, torch.utils.data.IterDataPipe | torch.utils.data.MapDataPipe)
        if not is_pipe or isinstance(self.batch_sampler, CombinedBatchSampler):
            twin.__dict__.update(
                dataset=Source(self.dataset, self.collate_fn),
                collate_fn=Collating(self.collate_fn),
                worker_init_fn=EndingWithReader(Starting(self._worker_seed, self.worker_init_fn)),
            )
        if twin.num_workers == 0:
            return super(DataLoader, twin)._get_iterator()
        twin.check_worker_number_rationality()
        return Workers(twin)

    @property
    def _is_rebatched(self) -> bool:
        is_iterable = isinstance(self.dataset, torch.utils.data.IterableDataset)
        return self.mode is DataLoaderMode.AsyncRebatched and is_iterable

    def __getstate__(self) -> dict[str, Any]:
        # The workers and the epochs under way belong to the process, and to the loader, that began them.
        return {**self.__dict__, "_iterator": None, "_passes": ()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _passes=weakref.WeakSet())
        # A copy of options is open, but those of a loader are in use.
        self._options._freeze()

    def __len__(self) -> int:
        # COUNT-4, ASYNC-10
        if self._is_rebatched:
            return rebatched_length(self._asked)
        self._tell_batches(self._epoch)
        return super().__len__() if self._steps is not None else count_own_steps(self._asked, super().__len__)

    def set_epoch(self, epoch: int) -> None:
        """Make the next iteration epoch `epoch`; later ones go on counting from there."""
        # ORDER-5: an epoch that is reached directly is the same as one that is counted up to.
        self._epoch = check_epoch(epoch)
        # RESUME-1: a trainer's loop says the number of every epoch, that of a state that was loaded, too.
        if self._position.is_begun or self._position.epoch != epoch:
            self._position = Position(epoch)

    def state_dict(self) -> dict[str, Any]:
        """Return where the consumer is: plain numbers, for `load_state_dict` of a loader built alike (RESUME-8)."""
        return state_of(self._position, counted_in(self._asked, self._base_seed))

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Let the next iteration go on where the state was taken, and later ones count on from there.

        Raises TypeError or ValueError for what is no state of a loader like this one (RESUME-11). An order without
        `options.randomSeed` belongs to the loader that drew it, and is refused as well.
        """
        # RESUME-9: whatever was read before.
        self._position = position_of(state, counted_in(self._asked, self._base_seed))
        self._epoch = self._position.epoch

    def terminate(self) -> None:
        """End the epochs under way and stop all workers. May be called any number of times, and iterated after."""
        # WORK-15
        if self._consumer is not None:
            self._consumer.close()
        for each in list(self._passes):
            each.terminate()
        iterator, self._iterator = self._iterator, None
        if isinstance(iterator, Workers):
            iterator._shutdown_workers()

    @property
    def combinedBatchSize(self) -> int | None:
        """N, the samples of a full step; None with batch_size=None and with a batch_sampler."""
        return self._combined_batch_size

    @property
    def is_asynchronous(self) -> bool:
        """Whether steps are loaded ahead, into a ring."""
        return self._consumer is not None

    @property
    def options(self) -> Options:
        """The options that the loader was built with, frozen."""
        return self._options


def _base_seed(options: Options, shuffle: bool | None, generator: torch.Generator | None) -> int:
    """Return the number from which all randomness of the loader follows."""
    seed = options._seed()
    if seed is not None:
        return seed
    if shuffle or generator is not None:
        # WORK-20: once, from the generator that was handed over, if one was.
        return int(torch.empty((), dtype=torch.int64).random_(generator=generator).item())
    # ORDER-11: read, not drawn.
    return torch.initial_seed() % 2**64
