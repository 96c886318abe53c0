"""The loss is found wherever a model returns it; where that leaves a doubt, the model is refused, and says why.

python -m reference.run specs/examples/losses.py
"""

from collections.abc import Callable
from typing import Any

import poptorch
import torch
from made_line import Line, points
from torch import Tensor, nn

mse, l1 = nn.MSELoss(), nn.L1Loss()
RESULTS: dict[str, Callable[[Tensor, Tensor], Any]] = {
    "the loss and an accuracy": lambda found, y: (mse(found, y), ((found - y).abs() < 0.5).float().mean()),
    "the loss and a norm": lambda found, y: (mse(found, y), found.norm()),
    "a dict": lambda found, y: {"loss": mse(found, y), "found": found},
    "a sum of two losses": lambda found, y: (found, mse(found, y) + l1(found, y)),
    "two losses and their sum": lambda found, y: (a := mse(found, y), b := l1(found, y), a + b),
    "the same, marked": lambda found, y: (a := mse(found, y), b := l1(found, y), poptorch.identity_loss(a + b, "none")),
}


class Returning(Line):
    """A line that returns what it is told to."""

    def __init__(self, results: Callable[[Tensor, Tensor], Any]) -> None:
        super().__init__()
        self.results = results

    def forward(self, x: Tensor, y: Tensor) -> Any:
        return self.results(self.layer(x), y)


if __name__ == "__main__":
    options = poptorch.Options().deviceIterations(2).outputMode(poptorch.OutputMode.Sum)
    loader = poptorch.DataLoader(options, points(), batch_size=4)
    for name, results in RESULTS.items():
        line = Returning(results)
        model = poptorch.trainingModel(line, options, torch.optim.SGD(line.parameters(), lr=0.1))
        try:
            for x, y in loader:
                model(x, y)
            print(f"{name}: {line.told()}")
        except poptorch.Error as error:
            print(f"{name}: {error}")
