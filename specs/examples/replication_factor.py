"""Replication: one update from the micro-batches of all replicas. Twice the replicas are as good as twice the batch.

python -m reference.run specs/examples/replication_factor.py
"""

import poptorch
import torch
from made_line import Line, points


def train(replicas: int, batch_size: int) -> None:
    """One epoch over 48 points."""
    options = poptorch.Options().replicationFactor(replicas)
    loader = poptorch.DataLoader(options, points(), batch_size=batch_size)
    line = Line()
    model = poptorch.trainingModel(line, options, torch.optim.SGD(line.parameters(), lr=0.1))
    for x, y in loader:
        losses = model(x, y)[1]
    print(
        f"{replicas} replicas, micro-batch {batch_size}: {len(loader)} calls of {loader.combinedBatchSize} samples, "
        f"{losses.numel()} losses from each; {line.told()}"
    )


if __name__ == "__main__":
    for replicas in (1, 2, 4):
        train(replicas, batch_size=8 // replicas)
    print("and with a larger step:")
    train(4, batch_size=4)
