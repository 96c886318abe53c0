"""Decides where a pipeline runs: in this process, in workers, on one of several ranks, or both.

A service is asked four things, by the loader: `initialize` once, before the first epoch; `initialize_iteration` before
each, with the seeds of the epoch, which it may seed again; `finalize_iteration` when an epoch is over or was left;
`finalize` at the end. Which rank this is, is written on the graph, so a service that wraps another one need not know.
"""

from collections.abc import Callable
from typing import Any

import torch.distributed as dist

from .datapipes import FullSync, Prefetcher
from .pipelines.beginning import Change
from .pipelines.crew import Crew
from .pipelines.fullsync import BEGIN, Agreement, Message, check_group, check_timeout
from .pipelines.graph import Pipe, Place, place_of, replace, replicable_part, set_place, shard, walk
from .pipelines.merged import Merged
from .pipelines.messages import WorkerInfo
from .pipelines.seeds import SeedGenerator, number_pipes
from .pipelines.services import begin_iteration, check_service, finalize, graph_of, joined
from .pipelines.workers import initialised
from .rules.checks import check_integer, show


class ReadingServiceInterface:
    """A service that changes nothing; what others are made from."""

    def initialize(self, datapipe: Pipe) -> Pipe:
        """Return the graph that the main process shall iterate."""
        return datapipe

    def initialize_iteration(
        self, seed_generator: SeedGenerator, iter_reset_fn: Change | None = None
    ) -> Change | SeedGenerator | int | None:
        """Begin an epoch, whose seeds are those of the generator: all services and processes use it after this one.

        Return None, and the seeds stay as the generator has them; or a function that changes the graph for this epoch,
        in the place of `iter_reset_fn`, which an earlier service has returned; or another seed.
        """
        return None

    def finalize_iteration(self) -> None:
        """End an epoch."""

    def finalize(self, reason: str = "it was shut down") -> None:
        """Leave nothing running. May be called any number of times."""


class InProcessReadingService(ReadingServiceInterface):
    """Runs the pipeline in the process that iterates, as if it was the only worker.

    A thread reads `prefetch_cnt` elements ahead. `init_fn(datapipe, info)` returns the graph to iterate;
    `reset_fn(datapipe, info, seeds)` is called in each epoch, and may return another one for it.
    """

    def __init__(
        self,
        prefetch_cnt: int = 0,
        init_fn: Callable[..., Any] | None = None,
        reset_fn: Callable[..., Any] | None = None,
    ) -> None:
        self.prefetch_cnt = check_integer("prefetch_cnt", prefetch_cnt, least=0)
        self.init_fn, self.reset_fn = init_fn, reset_fn

    def initialize(self, datapipe: Pipe) -> Pipe:
        """Let the user's initialiser change the graph."""
        place = place_of(datapipe)
        number_pipes(datapipe)
        shard(datapipe, place, 1, 0)
        changed = initialised(datapipe, WorkerInfo(1, 0), self.init_fn)
        shard(changed, place, 1, 0)
        return Prefetcher(changed, self.prefetch_cnt) if self.prefetch_cnt else changed

    def initialize_iteration(
        self, seed_generator: SeedGenerator, iter_reset_fn: Change | None = None
    ) -> Change | SeedGenerator | int | None:
        """Let the user's function change the graph for an epoch, after the functions of earlier services."""
        reset = self.reset_fn
        if reset is None:
            return None
        return joined(iter_reset_fn, lambda datapipe: reset(datapipe, WorkerInfo(1, 0), seed_generator.at(0)))


class MultiProcessingReadingService(ReadingServiceInterface):
    """Runs copies of the pipeline in worker processes, and merges what they yield in turns.

    Workers are started with the first epoch and kept. Each may be `worker_prefetch_cnt + main_prefetch_cnt` elements
    ahead, or one where both are 0. `worker_init_fn(datapipe, info)` returns the graph that a worker shall run;
    `worker_reset_fn(datapipe, info, seeds)` is called in each epoch. With 0 workers both are called in this process.
    """

    def __init__(
        self,
        num_workers: int = 0,
        multiprocessing_context: Any = None,
        worker_prefetch_cnt: int = 10,
        main_prefetch_cnt: int = 10,
        worker_init_fn: Callable[..., Any] | None = None,
        worker_reset_fn: Callable[..., Any] | None = None,
    ) -> None:
        self.num_workers = check_integer("num_workers", num_workers, least=0)
        # A name can be copied with the service; a context can't always.
        name = getattr(multiprocessing_context, "get_start_method", lambda: multiprocessing_context)()
        if name not in (None, "fork", "spawn", "forkserver"):
            raise ValueError(f"multiprocessing_context is {show(name)}, but must be 'fork', 'spawn' or 'forkserver'.")
        self.multiprocessing_context: str | None = name
        self.worker_prefetch_cnt = check_integer("worker_prefetch_cnt", worker_prefetch_cnt, least=0)
        self.main_prefetch_cnt = check_integer("main_prefetch_cnt", main_prefetch_cnt, least=0)
        self.worker_init_fn, self.worker_reset_fn = worker_init_fn, worker_reset_fn
        self.in_process = InProcessReadingService(0, worker_init_fn, worker_reset_fn)
        self.crew: Crew | None = None

    def initialize(self, datapipe: Pipe) -> Pipe:
        """Start the workers, and put what comes from them in the place of what they run."""
        number_pipes(datapipe)
        part = replicable_part(datapipe) if self.num_workers else None
        if part is None:
            return self.in_process.initialize(datapipe)
        chunk = max(1, self.worker_prefetch_cnt)
        self.crew = Crew(
            part,
            place_of(datapipe),
            self.num_workers,
            method=self.multiprocessing_context,
            chunk=chunk,
            chunks=1 + self.main_prefetch_cnt // chunk,
            init=self.worker_init_fn,
            reset=self.worker_reset_fn,
        )
        return replace(datapipe, part, Merged(self.crew, part))

    def initialize_iteration(
        self, seed_generator: SeedGenerator, iter_reset_fn: Change | None = None
    ) -> Change | SeedGenerator | int | None:
        """Begin an epoch in all workers, which change their graphs; without workers, this process takes their part."""
        if self.crew is None:
            return self.in_process.initialize_iteration(seed_generator, iter_reset_fn)
        self.crew.begin(seed_generator, iter_reset_fn)
        seed_generator.sent = iter_reset_fn
        return None

    def finalize(self, reason: str = "it was shut down") -> None:
        """End the workers."""
        if self.crew is not None:
            self.crew.end()


class DistributedReadingService(ReadingServiceInterface):
    """Runs the pipeline's share of this rank: one seed for all ranks, and as many elements on each (`fullsync`)."""

    def __init__(self, timeout: float = 1800) -> None:
        self.timeout = check_timeout(timeout)
        self.agreements: list[Agreement] = []
        self.epoch = 0

    def initialize(self, datapipe: Pipe) -> Pipe:
        """Find out which rank this is, and let the ranks end together."""
        check_group()
        if not isinstance(datapipe, FullSync):
            datapipe = FullSync(datapipe, self.timeout)
        self.place = Place(dist.get_rank(), dist.get_world_size())
        set_place(datapipe, self.place)
        for pipe in walk(datapipe):
            if isinstance(pipe, FullSync):
                # The last one first: it shares its group with the seed, so a rank that begins an epoch while another
                # still asks for elements is found out.
                pipe.agreement = Agreement(pipe.timeout)
                self.agreements.append(pipe.agreement)
        return datapipe

    def initialize_iteration(
        self, seed_generator: SeedGenerator, iter_reset_fn: Change | None = None
    ) -> Change | SeedGenerator | int | None:
        """Let rank 0's seed hold."""
        self.open()
        # PIPE-3: whatever seeds the ranks hold.
        said = self.agreements[0].exchange(Message(BEGIN, self.epoch, seed_generator.epoch_seed))
        self.epoch += 1
        seed_generator.seed(said[0].value)
        seed_generator.place = self.place
        return None

    def open(self) -> None:
        """Make the groups of this rank and the others, once."""
        for agreement in self.agreements:
            agreement.open()

    def finalize(self, reason: str = "it was shut down") -> None:
        """Leave the groups that were made here; the user's own group stays."""
        for agreement in self.agreements:
            agreement.close(reason)


class SequentialReadingService(ReadingServiceInterface):
    """Joins services, in the order in which they get the pipeline: first over ranks, then over workers."""

    def __init__(self, *reading_services: Any) -> None:
        self.reading_services = reading_services
        for service in reading_services:
            check_service(service)
        kinds = [type(service) for service in reading_services]
        for kind in (DistributedReadingService, MultiProcessingReadingService):
            if kinds.count(kind) > 1:
                raise ValueError(f"{kind.__name__} is given {kinds.count(kind)} times, but can be joined once only.")
        ranked = [at for at, service in enumerate(reading_services) if isinstance(service, DistributedReadingService)]
        worked = [at for at, each in enumerate(reading_services) if isinstance(each, MultiProcessingReadingService)]
        if ranked and worked and worked[0] < ranked[0]:
            # PIPE-20
            raise ValueError(
                "MultiProcessingReadingService stands before DistributedReadingService, so workers would be started "
                "before they know their rank, and every rank would yield everything: the right order is "
                "SequentialReadingService(DistributedReadingService(...), MultiProcessingReadingService(...))."
            )

    def initialize(self, datapipe: Pipe) -> Pipe:
        """Hand the graph from each service to the next."""
        for at, service in enumerate(self.reading_services):
            try:
                datapipe = graph_of(service, datapipe)
            except Exception:
                # PIPE-12: the other ranks are about to make their groups, and must find out.
                for earlier in self.reading_services[:at]:
                    getattr(earlier, "open", lambda: None)()
                raise
        return datapipe

    def initialize_iteration(
        self, seed_generator: SeedGenerator, iter_reset_fn: Change | None = None
    ) -> Change | SeedGenerator | int | None:
        """Hand the seeds, and what changes the graph, from each service to the next."""
        change = iter_reset_fn
        for service in self.reading_services:
            change = begin_iteration(service, seed_generator, change)
        return change

    def finalize_iteration(self) -> None:
        """End an epoch in all services, the last first."""
        for service in reversed(self.reading_services):
            service.finalize_iteration()

    def finalize(self, reason: str = "it was shut down") -> None:
        """End all services, the last first."""
        for service in reversed(self.reading_services):
            finalize(service, reason)
