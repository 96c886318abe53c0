"""Several instances, each with several replicas, train one model: each sees its own shard, all hold the same weights.

poprun --num-replicas 8 --num-instances 4 python specs/examples/distributed.py
"""

import popdist
import popdist.poptorch
import poptorch
import torch
from made_line import Line, points

if __name__ == "__main__":
    popdist.init()
    options = popdist.poptorch.Options()
    options.randomSeed(7)
    loader = poptorch.DataLoader(options, points(), batch_size=2, shuffle=True)
    line = Line()
    model = poptorch.trainingModel(line, options, torch.optim.SGD(line.parameters(), lr=0.5))
    first, replicas = popdist.getReplicaIndexOffset(), popdist.getNumLocalReplicas()
    for _ in range(20):
        for x, y in loader:
            model(x, y)
    popdist.synchronize()
    print(
        f"instance {popdist.getInstanceIndex()} of {popdist.getNumInstances()}, replicas {first} to "
        f"{first + replicas - 1} of {popdist.getNumTotalReplicas()}: {len(loader)} steps of "
        f"{loader.combinedBatchSize} samples; {line.told()}"
    )
