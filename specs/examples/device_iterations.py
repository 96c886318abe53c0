"""Device iterations: one call makes so many updates, one after the other. More iterations, fewer calls, the same line.

python -m reference.run specs/examples/device_iterations.py
"""

import poptorch
import torch
from made_line import Line, points


def train(iterations: int) -> None:
    """One epoch over 48 points in micro-batches of 4."""
    options = poptorch.Options().deviceIterations(iterations)
    options.outputMode(poptorch.OutputMode.All)
    loader = poptorch.DataLoader(options, points(), batch_size=4)
    line = Line()
    model = poptorch.trainingModel(line, options, torch.optim.SGD(line.parameters(), lr=0.1))
    losses = [model(x, y)[1] for x, y in loader]
    print(
        f"{iterations} iterations: {len(loader)} calls of {loader.combinedBatchSize} samples, "
        f"{losses[0].numel()} losses from each; {line.told()}"
    )


if __name__ == "__main__":
    for iterations in (1, 3, 12):
        train(iterations)
