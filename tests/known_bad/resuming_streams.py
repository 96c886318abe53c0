"""Loaders of iterable datasets that can be resumed, with workers (chapter 9): by what each worker has given."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, ClassVar

from tests.known_bad.correct import KnownBad
from tests.known_bad.pool import Pool, Worker


class ResumingStreams(Pool):
    """A state says how many steps each worker has given, and each goes on behind them: correct."""

    claims: ClassVar[dict[str, Any]] = dict(
        datasets=("iterable",), workers=True, iterable_workers="split", resume=True, end_of_epoch="next"
    )
    families: ClassVar[tuple[str, ...]] = ("resume",)

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.begun = self.ended = False
        self.given = self.skipped = [0] * self.workers

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch comes next; the one of the state that was loaded goes on."""
        if self.begun or epoch != self.epoch:
            self.given = self.skipped = [0] * self.workers
        self.epoch, self.begun, self.ended = epoch, False, False

    def state_dict(self) -> Any:
        """Where it is, and of how many workers."""
        epoch, given = (self.epoch + 1, [0] * self.workers) if self.ended else (self.epoch, self.given)
        return {"epoch": epoch, "given": [*given], "of": self.facts()}

    def facts(self) -> tuple[Any, ...]:
        """What a state must have in common with the request."""
        request = self.request
        return self.workers, request.combined_batch, request.world_size, request.drop_last

    def load_state_dict(self, state: Any) -> None:
        """Go on from there."""
        if state["of"] != self.facts():
            raise ValueError(f"the state is of {state['of']}, and this loader has {self.facts()}")
        self.begun = self.ended = False
        self.epoch, self.given = state["epoch"], [*state["given"]]
        self.skipped = [*self.given]

    def share(self, worker: int) -> Iterable[Any]:
        """A worker's own elements, behind those that it has given."""
        return islice(super().share(worker), self.skipped[worker] * self.request.combined_batch, None)

    def receive(self, worker: Worker) -> tuple[str, Any]:
        """The next word of a worker; a batch is counted as given."""
        word = super().receive(worker)
        if word[0] == "batch":
            self.count(worker.number)
        return word

    def count(self, worker: int) -> None:
        """A step of a worker was given."""
        self.given[worker] += 1

    def __iter__(self) -> Iterator[Any]:
        self.given, self.begun, self.ended = [*self.skipped], True, False
        return self.deliver()

    def deliver(self) -> Iterator[Any]:
        """The rest of the epoch."""
        for batch in super().__iter__():
            if not self.request.num_workers:
                self.count(0)
            yield batch
        self.ended = True
        self.skipped = [0] * self.workers


class BeginsWithItsFirstWorker(ResumingStreams, KnownBad):
    """A state counts steps as if worker 0 had begun, and after a restart that begins again. (No public report.)"""

    clause, smallest = "RESUME-5", "n3,w1,b1,keep,k2,e2,iterable,save@1,with=again"

    def count(self, worker: int) -> None:
        steps = sum(self.given) + 1
        self.given = [steps // self.workers + (each < steps % self.workers) for each in range(self.workers)]
