"""Options as a script for the device sets them: those for the hardware are taken, can be read, and have no effect.

python -m reference.run specs/examples/hardware.py
"""

import popdist
import popdist.poptorch
import poptorch
from made_line import Line, points


def options() -> poptorch.Options:
    """Setters chain; values can be assigned, too."""
    made = poptorch.Options().deviceIterations(2).logDir("logs").enableExecutableCaching("cache")
    made.setExecutionStrategy(poptorch.options.PipelinedExecution(poptorch.options.Stage("all")))
    made.Training.gradientAccumulation(2)
    made.Training.setMeanAccumulationAndReplicationReductionStrategy(poptorch.MeanReductionStrategy.PostAndLoss)
    made.Precision.halfFloatCasting(poptorch.HalfFloatCastingBehavior.Default)
    made.TensorLocations.setOptimizerLocation(poptorch.options.TensorLocationSettings().useOnChipStorage(False))
    made.anchorTensor("loss", "loss/output")
    made.log_dir = "elsewhere"
    return made


if __name__ == "__main__":
    made = options()
    strategy = made.Training.meanAccumulationAndReplicationReductionStrategy
    print(f"logs in {made.log_dir}, {strategy.name}, {list(made.anchored_tensors)}")
    print("on the device:", poptorch.isRunningOnIpu())
    line = Line()
    model = poptorch.trainingModel(line, made, poptorch.optim.SGD(line.parameters(), lr=0.1, use_combined_accum=True))
    for x, y in poptorch.DataLoader(made, points(), batch_size=2):
        model(x, y)
    print(line.told())
    try:
        made.checkIsFrozen()
    except AttributeError as error:
        print(error)

    # Under poprun these are the launcher's; alone there is one instance.
    launched = popdist.poptorch.Options()
    print(
        f"instance {popdist.getInstanceIndex()} of {popdist.getNumInstances()}, replicas: {launched.replication_factor}"
    )
    try:
        launched.Distributed.configureProcessId(0)
    except RuntimeError as error:
        print(error)
    try:
        from poptorch import custom_op  # noqa: F401
    except ImportError as error:
        print(error)
