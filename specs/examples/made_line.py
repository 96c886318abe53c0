"""What the examples train: a line through noiseless points, so that every number in their output can be checked."""

import torch
from torch import Tensor, nn
from torch.utils.data import TensorDataset


def points(samples: int = 48) -> TensorDataset:
    """Pairs of x between -1 and 1, and 3 x + 1, each [1]."""
    x = torch.linspace(-1, 1, samples).unsqueeze(1)
    return TensorDataset(x, 3 * x + 1)


class Line(nn.Module):
    """y = a x + b, from a = b = 0. Returns its outputs, and in training also the mean squared error."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(1, 1)
        nn.init.zeros_(self.layer.weight)
        nn.init.zeros_(self.layer.bias)

    def forward(self, x: Tensor, y: Tensor | None = None) -> Tensor | tuple[Tensor, Tensor]:
        """Return [samples, 1], and the loss if there are targets."""
        found: Tensor = self.layer(x)
        return found if y is None else (found, nn.functional.mse_loss(found, y))

    def told(self) -> str:
        """The line, with three digits."""
        return f"y = {self.layer.weight.item():.3f} x + {self.layer.bias.item():.3f}"
