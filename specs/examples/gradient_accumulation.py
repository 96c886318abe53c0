"""Gradient accumulation: one update from so many micro-batches, one after the other. Inference has none to accumulate.

python -m reference.run specs/examples/gradient_accumulation.py
"""

import poptorch
import torch
from made_line import Line, points


def train(accumulation: int, reduction: poptorch.ReductionType, learning_rate: float) -> None:
    """One epoch over 48 points in micro-batches of 2."""
    options = poptorch.Options()
    options.Training.gradientAccumulation(accumulation).accumulationAndReplicationReductionType(reduction)
    loader = poptorch.DataLoader(options, points(), batch_size=2)
    line = Line()
    model = poptorch.trainingModel(line, options, torch.optim.SGD(line.parameters(), lr=learning_rate))
    for x, y in loader:
        model(x, y)
    print(
        f"accumulation {accumulation}, {reduction.name} with lr {learning_rate}: {len(loader)} updates from "
        f"{loader.combinedBatchSize} samples each; {line.told()}"
    )


if __name__ == "__main__":
    train(1, poptorch.ReductionType.Mean, 0.1)
    train(4, poptorch.ReductionType.Mean, 0.1)
    train(4, poptorch.ReductionType.Sum, 0.025)
    options = poptorch.Options()
    options.Training.gradientAccumulation(4)
    try:
        poptorch.inferenceModel(Line(), options)
    except ValueError as error:
        print(error)
