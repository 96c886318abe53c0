"""A dataset of CIFAR-10's shape that needs neither a download nor memory: image i is made when it is asked for."""

import torch
from torch import Tensor
from torch.utils.data import Dataset

_SHAPE = (3, 32, 32)


class MadeImages(Dataset[tuple[Tensor, int]]):
    """50,000 pairs of an image, float32 [3, 32, 32] between 0 and 1, and a label from 0 to 9."""

    def __init__(self, samples: int = 50_000) -> None:
        self._samples = samples
        self._pixels = torch.arange(torch.Size(_SHAPE).numel()).view(_SHAPE)

    def __len__(self) -> int:
        return self._samples

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        if not 0 <= index < self._samples:
            raise IndexError(f"There is no image {index}: ask for 0 to {self._samples - 1}.")
        return ((self._pixels * (2 * index + 1) + index) % 256).to(torch.uint8) / 255, index % 10
