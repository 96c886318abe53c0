"""Training and validation: options are copied, assigned and read, and one module is trained by one model at a time.

python -m reference.run specs/examples/validation.py
"""

import copy

import poptorch
import torch
from made_line import Line, points


def train(line: Line, options: poptorch.Options) -> poptorch.PoplarExecutor:
    """One epoch."""
    model = poptorch.trainingModel(line, options, torch.optim.SGD(line.parameters(), lr=0.1))
    for x, y in poptorch.DataLoader(options, points(), batch_size=2):
        model(x, y)
    mode = model.options.output_mode.name
    print(f"trained with {options.replication_factor} replicas, output mode {mode}: {line.told()}")
    return model


if __name__ == "__main__":
    training = poptorch.Options().from_json('{"deviceIterations": 2, "Training.gradientAccumulation": 2}')
    training.replication_factor = 2
    line = Line()
    model = train(line, training)

    # What a loader or a model was built with is frozen; a copy is not.
    validation = copy.deepcopy(training)
    validation.Training.gradientAccumulation(1)
    inference = poptorch.inferenceModel(line, validation)
    errors = [(inference(x) - y).abs().max().item() for x, y in poptorch.DataLoader(validation, points(), batch_size=2)]
    print(f"validated in {len(errors)} calls, output mode {inference.options.output_mode.name}: {max(errors):.3f}")
    try:
        training.deviceIterations(1)
    except AttributeError as error:
        print(error)

    # To train the module with other options, it is freed first; else the earlier model is of no use any more.
    line.destroy()
    again = train(line, copy.deepcopy(training).replicationFactor(1))
    try:
        model(*next(iter(poptorch.DataLoader(training, points(), batch_size=2))))
    except RuntimeError as error:
        print(error)
    again.destroy()
