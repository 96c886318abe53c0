"""What becomes of 12 elements on 2 ranks when the shuffle stands in the wrong place, or ranks do not agree.

Run it: python specs/examples/pipelines/why_shuffle_first.py
"""

from typing import Any

from torch.utils.data.datapipes.iter import IterableWrapper

from reference.dataloader2 import DataLoader2

RANKS, ELEMENTS = 2, 12


def epochs(pipe: Any, seed: int) -> list[list[int]]:
    """Two epochs of a pipeline."""
    with DataLoader2(pipe) as loader:
        loader.seed(seed)
        return [list(loader), list(loader)]


def of_rank(pipe: Any, rank: int) -> Any:
    """Tell the pipeline's sharding_filter which rank it is: what DistributedReadingService does, and no more."""
    pipe.apply_sharding(RANKS, rank)
    return pipe


def show(name: str, ranks: list[list[list[int]]]) -> None:
    """What each rank has in each epoch, how often elements come, and what the second epoch brings."""
    print(name)
    for epoch in range(2):
        together = [element for rank in ranks for element in rank[epoch]]
        twice = sorted(element for element in set(together) if together.count(element) > 1)
        never = sorted(set(range(ELEMENTS)) - set(together))
        shown = ", ".join(f"rank {at}: {' '.join(map(str, rank[epoch]))}" for at, rank in enumerate(ranks))
        print(f"  epoch {epoch}  {shown}; twice: {twice}, never: {never}")
    seen = len(set(ranks[0][0]) & set(ranks[0][1]))
    print(f"  of its {len(set(ranks[0][1]))} elements of epoch 1 rank 0 has seen {seen} in epoch 0")


def main() -> None:
    """The three ways."""
    source = IterableWrapper(range(ELEMENTS))
    alike = [epochs(of_rank(source.shuffle().sharding_filter(), rank), seed=0) for rank in range(RANKS)]
    show("shuffled, then sharded, with one seed", alike)
    unlike = [epochs(of_rank(source.shuffle().sharding_filter(), rank), seed=rank) for rank in range(RANKS)]
    show("shuffled, then sharded, each rank with a seed of its own", unlike)
    after = [epochs(of_rank(source.sharding_filter(), rank).shuffle(), seed=rank) for rank in range(RANKS)]
    show("sharded, then shuffled", after)


if __name__ == "__main__":
    main()
