"""A training loop as torchdata's examples had it: a random split, torch's seed in each epoch, and a job that goes on.

Run it: python -m reference.run specs/examples/pipelines/train_loop.py
"""

import torch
from torchdata.dataloader2 import DataLoader2, MultiProcessingReadingService
from torchdata.datapipes.iter import IterableWrapper

ROWS, EPOCHS, STOP_AT = 20, 3, 2


def features(row: tuple[int, str]) -> tuple[int, int]:
    """A row as numbers."""
    number, word = row
    return number, len(word)


def loader(split: str) -> DataLoader2:
    """Batches of one part of the rows."""
    rows = IterableWrapper(["x" * (number % 7) for number in range(ROWS)]).enumerate()
    part = rows.random_split(weights={"train": 16, "valid": 4}, seed=0, target=split)
    pipe = part.shuffle().sharding_filter().map(features).batch(4)
    return DataLoader2(pipe.set_length(len(part) // 4), reading_service=MultiProcessingReadingService(num_workers=2))


def numbers(batches: list) -> list[list[int]]:
    """The rows of each batch."""
    return [[number for number, _ in batch] for batch in batches]


def main() -> None:
    """All epochs, and the last ones again, as another job would."""
    with loader("valid") as valid:
        print("valid:", sorted(number for batch in numbers(valid) for number in batch))
    for first in (0, STOP_AT):
        with loader("train") as train:
            for epoch in range(first, EPOCHS):
                # The order of an epoch follows from this number alone.
                torch.manual_seed(epoch)
                print(f"epoch {epoch}:", numbers(train))
    with loader("train") as train:
        torch.manual_seed(0)
        batches = iter(train)
        print("stopped after", numbers([next(batches)]))
        state = train.state_dict()
    with loader("train") as train:
        train.load_state_dict(state)
        print("goes on with ", numbers(train))


if __name__ == "__main__":
    main()
