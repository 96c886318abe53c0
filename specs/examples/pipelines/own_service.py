"""A reading service of one's own, joined before workers, and an adapter, as torchdata's documents showed them.

Run it: python -m reference.run specs/examples/pipelines/own_service.py
"""

from torchdata.dataloader2 import (
    DataLoader2,
    MultiProcessingReadingService,
    ReadingServiceInterface,
    SequentialReadingService,
)
from torchdata.dataloader2.adapter import Adapter, Shuffle
from torchdata.dataloader2.graph import find_dps, replace_dp, traverse_dps
from torchdata.datapipes.iter import IterableWrapper, ShardingFilter


class ShuffleBeforeSharding(ReadingServiceInterface):
    """Puts a shuffle in front of every `sharding_filter`, and says nothing about seeds."""

    def initialize(self, datapipe):
        graph = traverse_dps(datapipe)
        for pipe in find_dps(graph, ShardingFilter):
            graph = replace_dp(graph, pipe.source_datapipe, pipe.source_datapipe.shuffle())
        return next(iter(graph.values()))[0]

    def initialize_iteration(self, seed_generator, iter_reset_fn=None):
        self.drawn = seed_generator.generate_shared_seed()


class Batched(Adapter):
    """Ends a pipeline with batches."""

    def __init__(self, size):
        self.size = size

    def __call__(self, datapipe):
        return datapipe.batch(self.size)


def main():
    """The same epoch with any number of workers; each element comes once."""
    pipe = IterableWrapper(range(12)).sharding_filter()
    for workers in (1, 2, 3):
        service = SequentialReadingService(ShuffleBeforeSharding(), MultiProcessingReadingService(workers))
        with DataLoader2(pipe, reading_service=service) as loader:
            loader.seed(0)
            print(f"{workers} workers:", list(loader))
    with DataLoader2(pipe.shuffle(), [Shuffle(False), Batched(5)]) as loader:
        print("unshuffled, batched:", [list(batch) for batch in loader])


if __name__ == "__main__":
    main()
